// SPDX-License-Identifier: Apache-2.0
//
//   fault_program disagree|outlive|train [argument ...]
#include "faults/fault_program.h"

#include <cstdio>
#include <string>

int main(int argc, char** argv) {
  const std::string command = argc > 1 ? argv[1] : "";
  if (command == "disagree") {
    steptape::test::disagree(argc - 1, argv + 1);
  } else if (command == "outlive") {
    steptape::test::outlive(argc - 1, argv + 1);
  } else if (command == "train") {
    steptape::test::train(argc - 1, argv + 1);
  } else {
    std::fputs("usage: fault_program disagree|outlive|train [argument ...]\n", stderr);
    return 2;
  }
  return 0;
}
