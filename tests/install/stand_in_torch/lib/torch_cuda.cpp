// SPDX-License-Identifier: Apache-2.0
namespace torch {

void registerDevice(const char* name);

namespace {

const bool registered = [] {
  registerDevice("cuda");
  return true;
}();

}  // namespace
}  // namespace torch
