// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>

#include "tools/steptape/terminal/terminal.h"

namespace steptape::tools {

/// The style of curves on a terminal: they differ by color, and by marks if there are no colors or
/// too few.
class CurveStyle {
 public:
  CurveStyle(std::size_t curves, const Terminal& terminal);

  /// Returns whether curves are lines of braille dots; otherwise they consist of their marks.
  bool hasLines() const { return terminal_.hasUtf8; }
  bool hasMarks() const;
  bool hasColor() const { return terminal_.hasColor; }
  char markOf(std::size_t curve) const;

  /// Returns `text` in the color of `curve`, if there is color.
  std::string painted(const std::string& text, std::size_t curve) const;
  /// Returns `text` in the color of the background values.
  std::string faint(const std::string& text) const;
  /// Returns `text` as a heading.
  std::string bold(const std::string& text) const;
  /// Returns the sample before the name of `curve` in a legend.
  std::string sampleOf(std::size_t curve) const;

 private:
  std::string withCodes(const std::string& codes, const std::string& text) const;

  std::size_t curves_;
  Terminal terminal_;
};

}  // namespace steptape::tools
