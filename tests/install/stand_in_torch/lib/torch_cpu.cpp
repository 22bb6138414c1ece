// SPDX-License-Identifier: Apache-2.0
namespace torch {
namespace {

const char* newest = "cpu";

}  // namespace

void registerDevice(const char* name) {
  newest = name;
}

const char* newestDevice() {
  return newest;
}

}  // namespace torch
