// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "steptape/profile/trace.h"

#include "profile/trace/perfetto/perfetto_names.h"

namespace steptape::detail::profile {

/// Appends arguments to the fields of a TrackEvent. They have the names and values that they have
/// in a Chrome trace, where lists and objects are texts in JSON.
///
/// @threads Not thread-safe: one thread at a time.
class PerfettoArguments {
 public:
  /// @param names Of the event's sequence.
  PerfettoArguments(std::string* event, PerfettoNames* names) : event_(event), names_(names) {}

  void addInteger(std::string_view name, std::int64_t value);
  void addNumber(std::string_view name, double value);
  void addText(std::string_view name, std::string_view text);

  /// What a name says of all its spans, beyond text and category.
  void addName(const TraceName& name);
  void addDetails(const SpanDetails& details);

 private:
  void add(std::string_view name, std::string_view value);
  void addMembers(const std::string& json);

  std::string* const event_;
  PerfettoNames* const names_;
};

}  // namespace steptape::detail::profile
