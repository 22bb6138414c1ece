// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <string>
#include <string_view>
#include <utility>

#include "steptape/profile/profile_figures.h"

#include "base/text.h"
#include "profile/figures/call_tree.h"
#include "profile/figures/picture_size.h"
#include "profile/trace/autograd_node_prefix.h"
#include "values/kinds/table_cells.h"

namespace steptape {
namespace {

using detail::profile::Call;

constexpr int kMostRows = 24;
/// Blocks with a smaller share than 1 / kLeastShare of the total are merged into "other".
constexpr std::int64_t kLeastShare = 400;

/// Removes the prefixes that many names share, because a block has room for few letters.
std::string shortName(const std::string& name) {
  for (const std::string_view prefix :
       {detail::profile::kAutogradNodePrefix, std::string_view("aten::")}) {
    if (name.size() > prefix.size() && detail::base::startsWith(name, prefix)) {
      return name.substr(prefix.size());
    }
  }
  return name;
}

/// Converts calls to blocks, and merges blocks that are too small or too deep.
class Blocks {
 public:
  explicit Blocks(const std::vector<Call>& calls)
      : calls_(calls), least_(calls.front().total / kLeastShare) {}

  std::vector<FlameBlock> all() { return blockOf(calls_.front(), 0).children; }
  int rows() const { return std::min(depth_, kMostRows); }
  bool isCut() const { return depth_ > kMostRows; }

 private:
  /// @param row Counted from 1; 0 for the root.
  FlameBlock blockOf(const Call& call, int row) {
    depth_ = std::max(depth_, row);
    FlameBlock block;
    block.name = shortName(call.name);
    std::int64_t rest = call.total;
    std::int64_t other = 0;
    for (const std::size_t child : call.children) {
      const std::int64_t total = calls_[child].total;
      if (total <= least_) {
        other += total;
      } else if (row >= kMostRows) {
        depth_ = kMostRows + 1;
      } else {
        block.children.push_back(blockOf(calls_[child], row + 1));
        rest -= total;
      }
    }
    if (other > least_ && row < kMostRows) {
      depth_ = std::max(depth_, row + 1);
      block.children.push_back(otherBlock(other));
      rest -= other;
    }
    block.self = detail::values::milliseconds(std::max<std::int64_t>(0, rest));
    return block;
  }

  static FlameBlock otherBlock(std::int64_t total) {
    FlameBlock block;
    block.name = "other";
    block.self = detail::values::milliseconds(total);
    block.color = "#d5d5d5";
    return block;
  }

  const std::vector<Call>& calls_;
  const std::int64_t least_;
  int depth_ = 0;
};

CanvasOptions canvasFor(int rows) {
  constexpr int kRowHeight = 35;
  constexpr int kAround = 140;  // the title, and the axis at the bottom
  constexpr int kFewestRows = 5;
  return detail::profile::canvasOfHeight(kAround + kRowHeight * std::max(rows, kFewestRows),
                                         "Time by call path");
}

}  // namespace

Figure flameGraph(const Trace& trace) {
  const std::vector<Call> calls = detail::profile::mergeCalls(trace);
  Blocks blocks(calls);
  const std::vector<FlameBlock> all = blocks.all();
  Figure figure(canvasFor(blocks.rows()));
  figure.flameGraph(all);
  figure.setXLabel(std::string("total time of all threads (ms)") +
                   (blocks.isCut() ? "; deeper calls are not shown" : ""));
  return figure;
}

}  // namespace steptape
