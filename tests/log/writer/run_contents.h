// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "steptape/events/record_reader.h"

#include "events/framing/event_file_name.h"
#include "events/messages/event_codec.h"

#include <gtest/gtest.h>

namespace steptape {

/// Returns the event files directly in `directory`, in the order in which TensorBoard reads them.
inline std::vector<std::string> eventFilesIn(const std::string& directory) {
  std::vector<std::string> paths;
  for (const auto& entry : std::filesystem::directory_iterator(directory)) {
    if (detail::events::isEventFileName(entry.path().filename().string())) {
      paths.push_back(entry.path().string());
    }
  }
  std::sort(paths.begin(), paths.end());
  return paths;
}

/// Returns every event of a file; fails the test unless the file ends with a complete record.
inline std::vector<event::Event> eventsOf(const std::string& path) {
  std::vector<event::Event> events;
  RecordReader records(std::make_unique<FileByteSource>(path));
  std::string_view payload;
  ReadOutcome outcome;
  while ((outcome = records.next(&payload)) == ReadOutcome::kRecord) {
    event::Event event;
    const Status status = detail::events::decodeEvent(payload, &event);
    EXPECT_TRUE(status.ok()) << status.message();
    events.push_back(std::move(event));
  }
  EXPECT_EQ(outcome, ReadOutcome::kTruncated);
  EXPECT_TRUE(records.lastError().ok()) << records.lastError().message();
  return events;
}

inline std::vector<event::Event> eventsIn(const std::string& directory) {
  std::vector<event::Event> events;
  for (const std::string& path : eventFilesIn(directory)) {
    for (event::Event& event : eventsOf(path)) {
      events.push_back(std::move(event));
    }
  }
  return events;
}

/// Returns the values of every Summary, in file order.
inline std::vector<event::Value> valuesIn(const std::string& directory) {
  std::vector<event::Value> values;
  for (const event::Event& event : eventsIn(directory)) {
    if (const auto* summary = std::get_if<event::Summary>(&event.what)) {
      values.insert(values.end(), summary->values.begin(), summary->values.end());
    }
  }
  return values;
}

/// Returns a scalar of the default form.
inline float scalarOf(const event::Value& value) {
  return std::get<float>(value.data);
}

/// (step, value) of every scalar, by tag, in file order.
using Curves = std::map<std::string, std::vector<std::pair<std::int64_t, float>>>;
inline Curves scalarsIn(const std::string& directory) {
  Curves curves;
  for (const event::Event& event : eventsIn(directory)) {
    if (const auto* summary = std::get_if<event::Summary>(&event.what)) {
      for (const event::Value& value : summary->values) {
        if (std::holds_alternative<float>(value.data)) {
          curves[value.tag].emplace_back(event.step, scalarOf(value));
        }
      }
    }
  }
  return curves;
}

}  // namespace steptape
