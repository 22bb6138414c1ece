// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace steptape::detail::base {

/// Returns what an exception of LibTorch says, without the list of its stack frames. Takes the
/// text, because gloo's and the store's exceptions contain that of another one.
inline std::string torchErrorText(const std::string& what) {
  std::string text = what.substr(0, what.find("\nException raised from"));
  text = text.substr(0, text.find("\nexception raised from"));
  while (!text.empty() && (text.back() == '\n' || text.back() == ' ')) {
    text.pop_back();
  }
  return text;
}

}  // namespace steptape::detail::base
