// SPDX-License-Identifier: Apache-2.0
#include <cerrno>
#include <cstdlib>
#include <system_error>

#include "steptape/base/status.h"
#include "steptape/ranks/testing.h"

namespace steptape::testing {

TempDir::TempDir() {
  std::string name = (std::filesystem::temp_directory_path() / "steptape-XXXXXX").string();
  if (mkdtemp(name.data()) == nullptr) {
    throw Error(ErrorCode::kIoError, "cannot make a temporary directory as " + name + ": " +
                                         std::generic_category().message(errno));
  }
  path_ = name;
}

TempDir::~TempDir() {
  std::error_code ignored;  // the operating system cleans up what cannot be removed
  std::filesystem::remove_all(path_, ignored);
}

}  // namespace steptape::testing
