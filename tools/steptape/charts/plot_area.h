// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "tools/steptape/charts/braille_canvas.h"
#include "tools/steptape/charts/chart.h"
#include "tools/steptape/charts/curve_style.h"

namespace steptape::tools {

/// The curves of a chart between its axes, as the cells of a terminal.
class PlotArea {
 public:
  /// REQUIRES: `columns` and `rows` at least 1.
  PlotArea(const Chart& chart, const Axes& axes, int columns, int rows, const CurveStyle& style);

  /// Returns one row of cells, colored, without trailing spaces.
  std::string row(int row) const;

  /// Return the cell of a position along an axis: a column from the left, a row from the top.
  int columnAt(double positionX) const;
  int rowAt(double positionY) const;

 private:
  /// A line on its own canvas, so that each cell belongs to one curve.
  struct Layer {
    BrailleCanvas canvas;
    std::size_t curve;
    bool isFaint;
    std::vector<int> markRows;  // by column; -1: no mark there
  };
  /// The text of a cell and its curve.
  struct Cell {
    std::string text = " ";
    const Layer* layer = nullptr;  // null: empty
  };

  void addLayer(const Chart& chart, const Axes& axes, std::size_t curve,
                const std::vector<double>& y, bool isFaint);
  std::vector<int> markRowsOf(const Layer& layer, std::size_t curves) const;
  Cell cellAt(int column, int row) const;
  std::string painted(const std::string& text, const Layer* layer) const;

  int columns_;
  int rows_;
  CurveStyle style_;
  std::vector<Layer> layers_;  // in drawing order
};

}  // namespace steptape::tools
