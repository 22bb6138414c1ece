// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <string>
#include <utility>

#include "steptape/profile_figure/profile_figures.h"

#include "profile_figure/call_tree.h"
#include "profile_figure/milliseconds.h"

namespace steptape {
namespace {

using detail::Call;

constexpr int kMostRows = 24;
/// Blocks of a smaller share of the whole become parts of "other".
constexpr std::int64_t kLeastShare = 400;

/// The calls as blocks, with what is too small or too deep put together.
class Blocks {
 public:
  explicit Blocks(const std::vector<Call>& calls)
      : calls_(calls), least_(calls.front().total / kLeastShare) {}

  std::vector<FlameBlock> all() { return childrenOf(calls_.front(), 1); }
  int rows() const { return std::min(depth_, kMostRows); }
  bool isCut() const { return depth_ > kMostRows; }

 private:
  std::vector<FlameBlock> childrenOf(const Call& parent, int row) {
    std::vector<FlameBlock> blocks;
    std::int64_t other = 0;
    for (const std::size_t child : parent.children) {
      const Call& call = calls_[child];
      if (call.total <= least_) {
        other += call.total;
      } else {
        depth_ = std::max(depth_, row);
        if (row > kMostRows) {
          return {};
        }
        blocks.push_back(blockOf(call, row));
      }
    }
    if (other > 0 && !blocks.empty()) {
      FlameBlock block;
      block.name = "other";
      block.self = detail::milliseconds(other);
      block.color = "#d5d5d5";
      blocks.push_back(std::move(block));
    }
    return blocks;
  }

  FlameBlock blockOf(const Call& call, int row) {
    FlameBlock block;
    block.name = call.name;
    block.children = childrenOf(call, row + 1);
    std::int64_t inChildren = 0;
    if (!block.children.empty()) {
      for (const std::size_t child : call.children) {
        inChildren += calls_[child].total;
      }
    }
    block.self = detail::milliseconds(std::max<std::int64_t>(0, call.total - inChildren));
    return block;
  }

  const std::vector<Call>& calls_;
  const std::int64_t least_;
  int depth_ = 0;
};

CanvasOptions canvasFor(int rows) {
  constexpr int kRowHeight = 22;
  constexpr int kAround = 88;  // The title, and the axis below.
  constexpr int kFewestRows = 5;
  CanvasOptions canvas;
  canvas.title = "Time by call path";
  canvas.width = 960;
  canvas.height = kAround + kRowHeight * std::max(rows, kFewestRows);
  return canvas;
}

}  // namespace

Figure flameGraph(const Trace& trace) {
  const std::vector<Call> calls = detail::mergeCalls(trace);
  Blocks blocks(calls);
  const std::vector<FlameBlock> all = blocks.all();
  Figure figure(canvasFor(blocks.rows()));
  figure.flameGraph(all);
  figure.setXLabel(std::string("total time of all threads (ms)") +
                   (blocks.isCut() ? "; deeper calls are not shown" : ""));
  return figure;
}

}  // namespace steptape
