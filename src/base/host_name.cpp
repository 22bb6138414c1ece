// SPDX-License-Identifier: Apache-2.0
#include "base/host_name.h"

#include <cctype>
#include <unistd.h>

namespace steptape::detail::base {

const std::string& hostName() {
  static const std::string kName = [] {
    char buffer[256] = {};
    std::string name = ::gethostname(buffer, sizeof(buffer) - 1) == 0 ? buffer : "";
    for (char& c : name) {
      if (std::isalnum(static_cast<unsigned char>(c)) == 0 && c != '-' && c != '_' && c != '.') {
        c = '_';
      }
    }
    return name.empty() ? std::string("localhost") : name;
  }();
  return kName;
}

}  // namespace steptape::detail::base
