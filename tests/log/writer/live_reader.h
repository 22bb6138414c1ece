// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <variant>
#include <vector>

#include "steptape/events/record_reader.h"

#include "events/framing/event_file_name.h"
#include "events/messages/event_codec.h"
#include "log/writer/run_contents.h"
#include "log/writer/unwritten_values.h"

#include <gtest/gtest.h>

namespace steptape {

/// Follows the runs in a directory as UnwrittenValues asks its readers to do, and expects what it
/// promises them.
class LiveReader {
 public:
  explicit LiveReader(std::string directory)
      : directory_(std::filesystem::weakly_canonical(directory).string()), unwritten_(directory) {}

  /// Looks at files and at what they lack.
  void update() {
    std::map<std::string, std::uint64_t> known;
    bool isOver = false;
    do {
      known.clear();
      for (const std::string& path : files()) {
        known[path] = readTo(path, ~std::uint64_t{0});
      }
      unwritten_.update();
      const bool hasUnknown = namesOtherThan(known);
      isOver = !namesLessThanBefore() && !hasUnknown;  // both look, and one remembers
    } while (!isOver);
    for (const detail::log::Unwritten& unwritten : unwritten_.all()) {
      if (!unwritten.file.empty()) {
        const std::string path = unwritten.directory + "/" + unwritten.file;
        EXPECT_GE(unwritten.offset, known[path]) << path << " was read up to there before";
        EXPECT_EQ(readTo(path, unwritten.offset), unwritten.offset) << path;
      }
    }
  }

  /// Returns the scalars of a run as of the last update(), in the order in which they are shown.
  Curves scalars(const std::string& run) const {
    std::map<std::string, Curves> byFile;
    for (const auto& [path, file] : files_) {
      byFile[path] = file.curves;
    }
    for (const detail::log::Unwritten& unwritten : unwritten_.all()) {
      addPoints(recordsOf(unwritten.bytes),
                &byFile[unwritten.directory + "/" +
                        (unwritten.file.empty() ? unwritten.newFile : unwritten.file)]);
    }
    Curves curves;
    for (const auto& [path, points] : byFile) {
      if (std::filesystem::path(path).parent_path() == std::filesystem::weakly_canonical(run)) {
        for (const auto& [tag, added] : points) {
          curves[tag].insert(curves[tag].end(), added.begin(), added.end());
        }
      }
    }
    return curves;
  }
  Curves updatedScalars(const std::string& run) {
    update();
    return scalars(run);
  }

  const std::vector<detail::log::Unwritten>& unwritten() const { return unwritten_.all(); }

 private:
  struct File {
    std::unique_ptr<FileByteSource> source;
    std::unique_ptr<RecordReader> records;
    std::uint64_t size = 0;  // of the records that were read
    Curves curves;
  };

  std::vector<std::string> files() const {
    std::vector<std::string> paths;
    std::error_code gone;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(directory_, gone)) {
      if (detail::events::isEventFileName(entry.path().filename().string())) {
        paths.push_back(entry.path().string());
      }
    }
    return paths;
  }

  bool namesOtherThan(const std::map<std::string, std::uint64_t>& known) const {
    const auto& all = unwritten_.all();
    return std::any_of(all.begin(), all.end(), [&](const detail::log::Unwritten& unwritten) {
      return !unwritten.file.empty() &&
             known.count(unwritten.directory + "/" + unwritten.file) == 0;
    });
  }

  bool namesLessThanBefore() {
    std::set<std::pair<std::string, std::string>> names;
    for (const detail::log::Unwritten& unwritten : unwritten_.all()) {
      names.emplace(unwritten.directory, unwritten.file);
    }
    const bool isLess = !std::includes(names.begin(), names.end(), named_.begin(), named_.end());
    named_ = std::move(names);
    return isLess;
  }

  /// Reads whole records that end at `end` at most.
  /// @return where the last one ends.
  std::uint64_t readTo(const std::string& path, std::uint64_t end) {
    File& file = files_[path];
    if (file.source == nullptr) {
      file.source = std::make_unique<FileByteSource>(path);
      file.records = std::make_unique<RecordReader>(file.source.get());
    }
    while (file.size < end) {
      std::string_view payload;
      if (file.records->next(&payload) != ReadOutcome::kRecord) {
        break;
      }
      addPoint(payload, &file.curves);
      file.size = file.records->offset();
    }
    return file.size;
  }

  static std::vector<std::string> recordsOf(const std::string& bytes) {
    RecordReader reader(std::make_unique<MemoryByteSource>(bytes));
    std::vector<std::string> records;
    std::string_view payload;
    while (reader.next(&payload) == ReadOutcome::kRecord) {
      records.emplace_back(payload);
    }
    EXPECT_EQ(reader.offset(), bytes.size()) << "a part of a record";
    return records;
  }

  static void addPoint(std::string_view payload, Curves* curves) {
    event::Event event;
    const Status status = detail::events::decodeEvent(payload, &event);
    EXPECT_TRUE(status.ok()) << status.message();
    if (const auto* summary = std::get_if<event::Summary>(&event.what)) {
      for (const event::Value& value : summary->values) {
        if (std::holds_alternative<float>(value.data)) {
          (*curves)[value.tag].emplace_back(event.step, scalarOf(value));
        }
      }
    }
  }
  static void addPoints(const std::vector<std::string>& records, Curves* curves) {
    for (const std::string& record : records) {
      addPoint(record, curves);
    }
  }

  const std::string directory_;
  detail::log::UnwrittenValues unwritten_;
  std::map<std::string, File> files_;
  std::set<std::pair<std::string, std::string>> named_;
};

}  // namespace steptape
