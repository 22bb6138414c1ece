// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <utility>

#include "base/got_expected.h"
#include "values/charts/plots.h"

namespace steptape::figure {
namespace {

/// A block with its position.
struct PlacedBlock {
  std::string name;
  Color color;
  int row = 0;  ///< Counted from the top.
  double begin = 0;
  double end = 0;
};

void checkSelf(const FlameBlock& block) {
  if (!std::isfinite(block.self) || block.self < 0) {
    detail::base::reject(
        "self of block " + detail::base::quoted(block.name) + " = " + std::to_string(block.self),
        "a finite number, 0 or more", "Figure::flameGraph");
  }
}

Color colorOf(const FlameBlock& block) {
  return block.color.empty() ? colorOfName(block.name)
                             : parseColor(block.color, "Figure::flameGraph");
}

/// Returns the blocks from top to bottom and from left to right, each before its children. The
/// `self` time of a block is to the right of its children.
std::vector<PlacedBlock> place(const std::vector<FlameBlock>& roots) {
  struct OpenBlock {
    const std::vector<FlameBlock>* children;
    double self;
    std::size_t index;  ///< index in the result
    std::size_t next = 0;
  };
  std::vector<PlacedBlock> placed;
  // An explicit stack: a deep tree would overflow the thread's stack.
  std::vector<OpenBlock> open{{&roots, 0, 0}};
  double at = 0;
  while (true) {
    OpenBlock& parent = open.back();
    if (parent.next < parent.children->size()) {
      const FlameBlock& block = (*parent.children)[parent.next++];
      checkSelf(block);
      placed.push_back({block.name, colorOf(block), static_cast<int>(open.size()) - 1, at});
      open.push_back({&block.children, block.self, placed.size() - 1});
      continue;
    }
    if (open.size() == 1) {
      return placed;
    }
    at += parent.self;
    placed[parent.index].end = at;
    open.pop_back();
  }
}

class FlameDrawing : public Drawing {
 public:
  explicit FlameDrawing(const std::vector<PlacedBlock>& blocks) : blocks_(blocks) {}

  void extend(AxisData* x, AxisData* y) const override {
    for (const PlacedBlock& block : blocks_) {
      x->include(block.end);
      y->include(block.row + 1);
    }
    if (!blocks_.empty()) {
      x->includeEdge(0);
      x->includeEdge(x->extremes().second);
      y->includeEdge(0);
      y->includeEdge(y->extremes().second);
    }
    y->setInverted();
    y->setUnmarked();
  }

  void draw(const Frame& frame, Canvas* canvas) const override {
    const double height =
        std::min(frame.pixelY(1) - frame.pixelY(0), kHighest * frame.pixelsPerPoint);
    for (const PlacedBlock& block : blocks_) {
      const double left = std::round(frame.pixelX(block.begin));
      const double right = std::round(frame.pixelX(block.end));
      const double row = block.row - frame.y.min;
      const double top = std::round(frame.area.top + row * height);
      const double bottom = std::round(frame.area.top + (row + 1) * height);
      if (right > left && bottom > top) {
        drawBlock(block, {left, top, right - left, bottom - top}, canvas);
      }
    }
  }

 private:
  /// Maximum height of a row in points. If there are few rows, the rest of the axes stays empty.
  static constexpr double kHighest = 16;

  static void drawBlock(const PlacedBlock& block, Rect rect, Canvas* canvas) {
    // Leaves a gap to the neighbors if the block is wide enough.
    constexpr double kLeastForGap = 4;
    rect.width -= rect.width >= kLeastForGap ? 1 : 0;
    rect.height -= rect.height >= kLeastForGap ? 1 : 0;
    canvas->fill(rect, block.color);
    drawName(block, rect, canvas);
  }

  static void drawName(const PlacedBlock& block, const Rect& rect, Canvas* canvas) {
    constexpr double kLargest = 9;
    constexpr double kSmallest = 6;
    constexpr double kPadding = 2;          // points
    constexpr std::size_t kLeastBytes = 6;  // three letters and the ellipsis
    TextStyle style;
    style.size = std::min(kLargest, kLargest * rect.height / canvas->lineHeight(kLargest));
    style.color = textColorOn(block.color);
    const double padding = kPadding * canvas->pixelsPerPoint();
    const double room = rect.width - 2 * padding;
    if (style.size < kSmallest || room < style.size * canvas->pixelsPerPoint() / 2) {
      return;
    }
    const std::string name = canvas->shortened(block.name, room, style);
    if (name == block.name || name.size() >= kLeastBytes) {
      canvas->text({name, ""}, {rect.left + padding, rect.centerY()}, style);
    }
  }

  const std::vector<PlacedBlock>& blocks_;
};

/// Is its own Drawing, because there are no numbers to wait for.
class FlamePlot : public Plot {
 public:
  explicit FlamePlot(std::vector<PlacedBlock> blocks) : blocks_(std::move(blocks)) {}

  std::size_t bytes() const override {
    std::size_t bytes = blocks_.size() * sizeof(PlacedBlock);
    for (const PlacedBlock& block : blocks_) {
      bytes += block.name.size();
    }
    return bytes;
  }

  std::unique_ptr<Drawing> prepare(const PlotGroup& /*group*/) const override {
    return std::make_unique<FlameDrawing>(blocks_);
  }

 private:
  std::vector<PlacedBlock> blocks_;
};

}  // namespace

PlotPtr flamePlot(const std::vector<FlameBlock>& blocks) {
  return std::make_shared<FlamePlot>(place(blocks));
}

}  // namespace steptape::figure
