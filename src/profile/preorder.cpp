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
  //   time ───────────────────────▶      arrival (by end)               b    d    c    a    e
  //                                      spans that ended before the
  //   a ├─────────────────┤  e ├──┤        first one inside this span   0    1    1    0    4
  //   b   ├──┤                           + spans around it              1    2    1    0    0
  //   c         ├───────┤                = place (by start)             1    3    2    0    4
  //   d           ├──┤                     parents come first           a    b    c    d    e
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
  // Backward, each span finds the spans around it that were recorded.
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
