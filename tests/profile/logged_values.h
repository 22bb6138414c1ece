// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "steptape/events/event.h"

#include "log/writer/run_contents.h"

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
  for (const event::Event& event : eventsIn(directory)) {
    const auto* const summary = std::get_if<event::Summary>(&event.what);
    for (const event::Value& value :
         summary != nullptr ? summary->values : std::vector<event::Value>{}) {
      if (std::holds_alternative<float>(value.data)) {
        logged.scalars[{value.tag, event.step}] = scalarOf(value);
      } else {
        logged.texts[{value.tag, event.step}] = std::get<event::Tensor>(value.data).strings.at(0);
      }
    }
  }
  return logged;
}

}  // namespace steptape
