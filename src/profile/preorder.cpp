// SPDX-License-Identifier: Apache-2.0
#include "profile/preorder.h"

namespace steptape::detail {
namespace {

bool nests(const SpanRecord& record) {
  return record.kind != SpanKind::kMemory && (record.flags & kDetached) == 0;
}

/// Depths alone would give the children of a parent that is missing to its next sibling.
bool isInside(const SpanRecord& inner, const SpanRecord& outer) {
  return inner.depth > outer.depth && inner.startTicks >= outer.startTicks;
}

/// A span that has ended, and how many there are in it and itself.
struct Subtree {
  const SpanRecord* root;
  std::uint32_t spans;
};

}  // namespace

std::vector<std::uint32_t> preorder(ArrayView<const SpanRecord> records) {
  // The spans inside of one lie right before it, so that they end at the same place in both
  // orders: the first of them, or the span itself, stands where as many stand before it as ended
  // before all of them, and as many as are around it.
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
  // From the back, each span finds those around it that are there.
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

}  // namespace steptape::detail
