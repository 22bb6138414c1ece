// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>

#include "tools/steptape/terminal/terminal.h"

namespace steptape::tools {

/// How curves differ on a terminal: by color, and by marks if there is no color or there are not
/// enough of them.
class CurveStyle {
 public:
  CurveStyle(std::size_t curves, const Terminal& terminal);

  /// Whether curves are lines of braille dots; otherwise they consist of their marks.
  bool hasLines() const { return terminal_.hasUtf8; }
  bool hasMarks() const;
  bool hasColor() const { return terminal_.hasColor; }
  char markOf(std::size_t curve) const;

  /// `text` in the color of `curve`, if there is color.
  std::string painted(const std::string& text, std::size_t curve) const;
  /// `text` in the color of the background values.
  std::string faint(const std::string& text) const;
  /// `text` as a heading.
  std::string bold(const std::string& text) const;
  /// The sample before the name of `curve` in a legend.
  std::string sampleOf(std::size_t curve) const;

 private:
  std::string withCodes(const std::string& codes, const std::string& text) const;

  std::size_t curves_;
  Terminal terminal_;
};

}  // namespace steptape::tools
