// SPDX-License-Identifier: Apache-2.0
#include "profile/recorder/preorder.h"

namespace steptape::detail::profile {
namespace {

bool nests(const SpanRecord& record) {
  return record.kind != SpanKind::kMemory && (record.flags & kDetached) == 0;
}

/// Depth alone would assign the children of a missing parent to its next sibling.
bool isInside(const SpanRecord& inner, const SpanRecord& outer) {
  return inner.depth > outer.depth && inner.startTicks >= outer.startTicks;
}

/// A finished span, with the number of spans in its subtree including itself.
struct Subtree {
  const SpanRecord* root;
  std::uint32_t spans;
};

}  // namespace

std::vector<std::uint32_t> preorder(ArrayView<const SpanRecord> records) {
  //   records   . . . [ spans inside s ] s      `count` nested spans up to s
  //   preorder  . . . s [ spans inside s ]      place of s = count - size of its subtree,
  //                                             plus the number of spans around s
  std::vector<std::uint32_t> places(records.size(), kNowhere);
  std::vector<Subtree> ended;
  std::uint32_t count = 0;
  for (std::size_t i = 0; i < records.size(); ++i) {
    if (!nests(records[i])) {
      continue;
    }
    Subtree subtree{&records[i], 1};
    while (!ended.empty() && isInside(*ended.back().root, records[i])) {
      subtree.spans += ended.back().spans;
      ended.pop_back();
    }
    ended.push_back(subtree);
    ++count;
    places[i] = count - subtree.spans;
  }
  // Backward, each span comes after its enclosing spans. Missing parents do not count.
  std::vector<const SpanRecord*> around;
  for (std::size_t i = records.size(); i-- > 0;) {
    if (places[i] == kNowhere) {
      continue;
    }
    while (!around.empty() && !isInside(records[i], *around.back())) {
      around.pop_back();
    }
    places[i] += static_cast<std::uint32_t>(around.size());
    around.push_back(&records[i]);
  }
  return places;
}

}  // namespace steptape::detail::profile
