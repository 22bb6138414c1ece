// SPDX-License-Identifier: Apache-2.0
//
// Reads a Chrome trace and writes it again: chrome_trace_copy FROM TO
#include <cstdio>
#include <string>
#include <vector>

#include "steptape/base/status.h"

#include "profile/trace/chrome/chrome_trace.h"

int main(int argc, char** argv) {
  if (argc != 3) {
    std::fprintf(stderr, "usage: %s FROM TO\n", argv[0]);
    return 2;
  }
  try {
    const std::vector<steptape::Trace> traces = steptape::detail::profile::readChromeTrace(argv[1]);
    steptape::detail::profile::writeChromeTrace(argv[2], traces).throwIfError();
  } catch (const steptape::Error& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
  return 0;
}
