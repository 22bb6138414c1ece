// SPDX-License-Identifier: Apache-2.0
#include "tools/steptape/terminal/live_screen.h"

#include <cstdio>

namespace steptape::tools {

LiveScreen::LiveScreen(bool isUsed) : isUsed_(isUsed) {
  if (isUsed_) {
    std::fputs("\033[?1049h\033[?25l", stdout);
  }
}

LiveScreen::~LiveScreen() {
  if (isUsed_) {
    std::fputs("\033[?25h\033[?1049l", stdout);
    std::fflush(stdout);
  }
}

bool LiveScreen::show(const std::string& text) const {
  if (isUsed_) {
    std::fputs("\033[H\033[J", stdout);
  }
  std::fputs(text.c_str(), stdout);
  return std::fflush(stdout) == 0;
}

}  // namespace steptape::tools
