// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "steptape/base/export.h"

#include "profile/trace/chrome/json_value.h"

namespace steptape::detail::profile {

/// An event of a Chrome trace. Missing members are empty. `id2`, which also says where an id is
/// unique, counts as `id`.
struct ChromeEvent {
  JsonValue phase, name, category, processId, threadId, id, time, duration;
  std::vector<JsonMember> arguments;

  const JsonValue* argument(std::string_view key) const;
};

/// Receives the results of readChromeEvents().
class ChromeEventSink {
 public:
  virtual ~ChromeEventSink() = default;
  /// Called for a member of the file's object other than the events.
  virtual void takeMember(const JsonMember& member) = 0;
  virtual void takeEvent(const ChromeEvent& event) = 0;
  /// Called for an element of the events that is not an event.
  virtual void takeStranger() = 0;
};

/// @param notes As for readChromeTrace().
/// @throws as readChromeTrace().
/// @cost   Memory for one event, whatever the size of the file.
void readChromeEvents(const std::string& path, ChromeEventSink* sink,
                      std::vector<std::string>* notes);

/// Returns the members of a JSON object; none if `json` is anything else.
STEPTAPE_EXPORT std::vector<JsonMember> jsonMembers(const std::string& json);

}  // namespace steptape::detail::profile
