// SPDX-License-Identifier: Apache-2.0
#include "profile/trace/chrome/chrome_span_joiner.h"

#include <algorithm>

namespace steptape::detail::profile {

bool ChromeSpanJoiner::take(Half half, const std::string& name) {
  if (when_ == When::kAtOnce) {
    return join(std::move(half), name);
  }
  std::string nameOfEnd = half.isBegin ? std::string() : name;
  halves_.emplace_back(std::move(half), std::move(nameOfEnd));
  return true;
}

void ChromeSpanJoiner::finish() {
  std::stable_sort(halves_.begin(), halves_.end(),
                   [](const auto& a, const auto& b) { return a.first.time < b.first.time; });
  for (auto& [half, name] : halves_) {
    contents_.strangers += join(std::move(half), name) ? 0 : 1;
  }
}

bool ChromeSpanJoiner::join(Half&& half, const std::string& name) {
  return half.key.empty() ? joinSlice(half) : joinAsync(std::move(half), name);
}

/// Ends the last slice of the row that has not ended; these events may have no name.
bool ChromeSpanJoiner::joinSlice(const Half& half) {
  OpenSpans& open = openSlices_[half.place.row];
  checkOrder(half.time, &open);
  if (half.isBegin) {
    open.places.push_back(half.place);
    return true;
  }
  if (open.places.empty()) {
    return false;
  }
  const SpanPlace ended = open.places.back();
  open.places.pop_back();
  return endSpan(ended, half.time);
}

/// Ends the innermost span of the id that has the event's name. The end may have no name.
bool ChromeSpanJoiner::joinAsync(Half&& half, const std::string& name) {
  if (half.isBegin) {
    if (!endsWithoutBegin_.empty()) {
      const auto early = endsWithoutBegin_.find(half.key);
      isInOrder_ = isInOrder_ && (early == endsWithoutBegin_.end() || early->second <= half.time);
    }
    OpenSpans& open = openAsync_[std::move(half.key)];
    checkOrder(half.time, &open);
    open.places.push_back(half.place);
    return true;
  }
  const auto found = openAsync_.find(half.key);
  if (found == openAsync_.end()) {
    std::int64_t& last = endsWithoutBegin_[half.key];
    last = std::max(last, half.time);
    return false;
  }
  checkOrder(half.time, &found->second);
  std::vector<SpanPlace>& open = found->second.places;
  // Ends without a begin must not make the search long.
  constexpr std::size_t kMaxNested = 64;
  const auto outermost =
      open.rbegin() + static_cast<std::ptrdiff_t>(std::min(open.size(), kMaxNested));
  const auto named = std::find_if(open.rbegin(), outermost, [&](const SpanPlace& place) {
    return contents_.tables.names()[spanAt(place).name].text == name;
  });
  const auto last = named == outermost ? open.end() - 1 : named.base() - 1;
  const SpanPlace ended = *last;
  open.erase(last);
  if (open.empty()) {
    openAsync_.erase(found);
  }
  return endSpan(ended, half.time);
}

bool ChromeSpanJoiner::endSpan(const SpanPlace& place, std::int64_t time) {
  TraceSpan& span = spanAt(place);
  if (time < span.start) {
    return false;
  }
  span.duration = time - span.start;
  return true;
}

void ChromeSpanJoiner::checkOrder(std::int64_t time, OpenSpans* open) {
  isInOrder_ = isInOrder_ && time >= open->last;
  open->last = time;
}

}  // namespace steptape::detail::profile
