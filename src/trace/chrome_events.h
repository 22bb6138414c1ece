// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "trace/json_value.h"

namespace steptape::detail {

/// An event of a Chrome trace. Members that it lacks are empty.
struct ChromeEvent {
  JsonValue phase, name, category, processId, threadId, id, time, duration;
  std::vector<JsonMember> arguments;

  const JsonValue* argument(std::string_view key) const;
};

/// Takes what readChromeEvents() finds.
class ChromeEventSink {
 public:
  virtual ~ChromeEventSink() = default;
  /// A member of the file's object, other than the events.
  virtual void takeMember(const JsonMember& member) = 0;
  virtual void takeEvent(const ChromeEvent& event) = 0;
  /// Something among the events that is none.
  virtual void takeStranger() = 0;
};

/// @throws as readChromeTrace().
/// @cost   Memory for one event, whatever the size of the file.
void readChromeEvents(const std::string& path, ChromeEventSink* sink);

/// The members of a JSON object; none if `json` is something else.
std::vector<JsonMember> jsonMembers(const std::string& json);

}  // namespace steptape::detail
