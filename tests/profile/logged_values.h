// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstring>
#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <variant>

#include "steptape/event/event_codec.h"
#include "steptape/record/record_reader.h"

namespace steptape {

/// The scalars and texts of a run, by tag and step.
struct LoggedValues {
  using Key = std::pair<std::string, std::int64_t>;
  std::map<Key, float> scalars;
  std::map<Key, std::string> texts;
};

/// Reads the event files that lie in `directory` itself.
inline LoggedValues readLogged(const std::string& directory) {
  LoggedValues logged;
  for (const auto& entry : std::filesystem::directory_iterator(directory)) {
    if (!entry.is_regular_file()) {
      continue;
    }
    RecordReader reader(std::make_unique<FileByteSource>(entry.path().string()));
    std::string_view payload;
    while (reader.next(&payload) == ReadOutcome::kRecord) {
      Event event;
      decodeEvent(payload, &event).throwIfError();
      const auto* const summary = std::get_if<Summary>(&event.what);
      for (const Value& value : summary != nullptr ? summary->values : std::vector<Value>{}) {
        const auto& tensor = std::get<Tensor>(value.data);
        if (tensor.type == TensorType::kFloat) {
          std::memcpy(&logged.scalars[{value.tag, event.step}], tensor.content.data(),
                      sizeof(float));
        } else {
          logged.texts[{value.tag, event.step}] = tensor.strings.at(0);
        }
      }
    }
  }
  return logged;
}

}  // namespace steptape
