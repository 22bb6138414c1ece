// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "profile/trace/chrome/chrome_contents.h"

namespace steptape::detail::profile {

/// Joins the begins and the ends of spans that are two events each.
class ChromeSpanJoiner {
 public:
  enum class When {
    kAtOnce,  ///< Needs no memory, and is right if those of a thread are in the order of time.
    kByTime,  ///< In finish(), in the order of time.
  };
  /// Where a span is in the contents.
  struct SpanPlace {
    std::size_t row;
    std::size_t index;
  };
  /// The begin or the end of a span that is two events.
  struct Half {
    std::int64_t time;
    bool isBegin;
    SpanPlace place;  // of an end, only the row
    std::string key;  // of an asynchronous span: what both halves have in common; else empty
  };

  /// @param contents Outlives this object; has the spans.
  ChromeSpanJoiner(When when, ChromeContents* contents) : when_(when), contents_(*contents) {}

  /// @param name Of the event; that of an end may be empty.
  /// @return false for an end without a begin.
  bool take(Half half, const std::string& name);
  /// Joins what was to be joined by time. Counts ends without a begin as strangers.
  void finish();

  /// Returns whether begins and ends were in the order of time. Else the contents are incomplete.
  bool isInOrder() const { return isInOrder_; }

 private:
  /// Spans that have not ended, from the outermost to the innermost.
  struct OpenSpans {
    std::vector<SpanPlace> places;
    std::int64_t last = std::numeric_limits<std::int64_t>::min();  // time of a begin or an end
  };

  bool join(Half&& half, const std::string& name);
  bool joinSlice(const Half& half);
  bool joinAsync(Half&& half, const std::string& name);
  bool endSpan(const SpanPlace& place, std::int64_t time);
  void checkOrder(std::int64_t time, OpenSpans* open);
  TraceSpan& spanAt(const SpanPlace& place) {
    return contents_.rows[place.row].thread.spans[place.index];
  }

  const When when_;
  ChromeContents& contents_;
  std::unordered_map<std::string, OpenSpans> openAsync_;            // by key
  std::unordered_map<std::string, std::int64_t> endsWithoutBegin_;  // their last time, by key
  std::unordered_map<std::size_t, OpenSpans> openSlices_;           // by row
  std::vector<std::pair<Half, std::string>> halves_;  // with their names, if joined by time
  bool isInOrder_ = true;
};

}  // namespace steptape::detail::profile
