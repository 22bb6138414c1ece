// SPDX-License-Identifier: Apache-2.0
#include <string>

namespace c10 {

struct SourceLocation {};

class Error {
 public:
  Error(SourceLocation, std::string);
};

Error::Error(SourceLocation, std::string) {}

}  // namespace c10
