// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "steptape/profile/trace.h"

#include "events/messages/xplane_encoder.h"
#include "profile/trace/xplane/xplane_clock.h"

namespace steptape::detail::profile {

/// Data for XProf that is not in the span itself.
struct XPlaneSpanFacts {
  std::int64_t endPicos = 0;
  std::uint64_t flow = 0;  ///< Number of the arrow that starts or ends here; 0: none.
  /// The thread's number, if the span is on a separate line.
  std::optional<std::uint64_t> thread = {};
  /// With `thread`, if other spans of the thread have the same times: how many come first.
  std::optional<std::int64_t> twinsAround = {};
};

/// Encodes the spans of a plane, with the names and details that they share.
class XPlaneSpans {
 public:
  /// REQUIRES: all arguments outlive this object.
  XPlaneSpans(const Trace& trace, const XPlaneClock& clock, bool isDevice,
              events::XPlaneEncoder* plane);

  void add(const TraceSpan& span, const XPlaneSpanFacts& facts, events::XLineEncoder* line);

 private:
  /// Texts of stats; each is stored once, however many events have it.
  using Texts = std::vector<std::pair<std::int64_t, events::XStatReference>>;

  /// Data shared by all spans with one name.
  struct Name {
    std::int64_t id = 0;    // 0: not declared yet
    bool isInStep = false;  // whether it belongs to the step in which it starts
    Texts texts;
  };

  const Name& nameOf(std::uint32_t index);
  Name declareHostName(const TraceName& name);
  Name declareDeviceName(const TraceName& name);
  std::vector<events::XStat> statsOf(const TraceName& name);
  void addDetails(std::uint32_t index, events::XLineEncoder* line);
  const Texts& textsOf(std::uint32_t details);
  std::int64_t stepOf(std::int64_t time);
  void addText(const char* stat, std::string_view text, Texts* texts);

  const Trace& trace_;
  const XPlaneClock& clock_;
  events::XPlaneEncoder& plane_;
  const bool isDevice_;
  std::vector<Name> names_;
  std::vector<std::optional<Texts>> details_;
  std::int64_t lastCorrelation_ = 0;
  std::size_t begun_ = 0;  // steps that had started at the last span

  // Numbers of stats that many spans have.
  const std::int64_t group_;
  const std::int64_t flow_;
  const std::int64_t correlation_;
  const std::int64_t sequence_;
  const std::int64_t forwardThread_;
  const std::int64_t value_;
  const std::int64_t flops_;
  const std::int64_t bytes_;
};

}  // namespace steptape::detail::profile
