// SPDX-License-Identifier: Apache-2.0
// Preloaded into a program, with staged_disk.cpp: kills it in one operation of its checkpoint
// thread. STEPTAPE_KILLS names a file with the number of that operation, and the number from which
// on the program lives. Each process that dies adds one, so that the next start of a job dies in
// the next operation.

#include <cstdint>
#include <cstdlib>
#include <fstream>

#include "train/checkpoint/staged_disk.h"

namespace {

[[gnu::constructor]] void stage() {
  const char* const path = std::getenv("STEPTAPE_KILLS");
  if (path == nullptr) {
    return;
  }
  std::uint64_t operation = 0;
  std::uint64_t end = 0;
  std::ifstream(path) >> operation >> end;
  if (operation < end) {
    steptape::test::diskKillsAt(operation);
    std::ofstream(path) << operation + 1 << ' ' << end;
  }
}

}  // namespace
