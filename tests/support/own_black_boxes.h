// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdlib>
#include <string>

#include "steptape/ranks/testing.h"

namespace steptape::test {

/// A folder for the black boxes of this process and of those that it starts, until the end of the
/// scope: a test sees those of no other process, and leaves nothing in the system's folder. In the
/// scope of another one, that one's folder stays in use.
class OwnBlackBoxes {
 public:
  OwnBlackBoxes() {
    if (depth_++ == 0) {
      setenv("STEPTAPE_BLACK_BOX", folder().c_str(), 1);
    }
  }
  OwnBlackBoxes(const OwnBlackBoxes&) = delete;
  OwnBlackBoxes& operator=(const OwnBlackBoxes&) = delete;
  ~OwnBlackBoxes() {
    if (--depth_ == 0) {
      unsetenv("STEPTAPE_BLACK_BOX");
    }
  }

  std::string folder() const { return folder_.string(); }

 private:
  inline static int depth_ = 0;
  testing::TempDir folder_;
};

}  // namespace steptape::test
