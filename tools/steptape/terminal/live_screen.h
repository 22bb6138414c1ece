// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace steptape::tools {

/// The output of a command that prints again and again: on a terminal, each text replaces the one
/// before, on the other screen of the terminal, whose first one comes back at the end.
class LiveScreen {
 public:
  /// @param isUsed Whether texts replace each other. False: they follow each other.
  explicit LiveScreen(bool isUsed);
  LiveScreen(const LiveScreen&) = delete;
  LiveScreen& operator=(const LiveScreen&) = delete;
  ~LiveScreen();

  /// @return false when the reader of the output has closed it.
  bool show(const std::string& text) const;

 private:
  const bool isUsed_;
};

}  // namespace steptape::tools
