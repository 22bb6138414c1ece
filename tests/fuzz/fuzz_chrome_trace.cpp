// SPDX-License-Identifier: Apache-2.0
// Fuzzes bytes as a Chrome trace: what is read is written according to the rules, and read again
// unchanged.
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "steptape/base/status.h"
#include "steptape/ranks/testing.h"

#include "fuzz/fuzz_input.h"
#include "profile/trace/chrome/chrome_trace.h"
#include "profile/trace/perfetto_rules.h"
#include "profile/trace/sample_trace.h"

namespace steptape {
namespace {

std::vector<std::string> wordsOfAll(const std::vector<Trace>& traces) {
  std::vector<std::string> words;
  for (const Trace& trace : traces) {
    for (std::string& line : wordsOf(trace)) {
      words.push_back(std::move(line));
    }
  }
  return words;
}

std::vector<Trace> writtenAndRead(const std::string& path, const std::vector<Trace>& traces,
                                  bool compress) {
  detail::profile::ChromeTraceOptions options;
  options.compress = compress;
  require(detail::profile::writeChromeTrace(path, traces, options).ok(),
          "what was read can be written");
  return detail::profile::readChromeTrace(path);
}

void readAnything(const std::string& bytes) {
  static const testing::TempDir kDir;
  const std::string path = kDir.string() + "/trace";
  std::ofstream(path, std::ios::binary) << bytes;
  std::vector<Trace> traces;
  try {
    std::vector<std::string> notes;
    traces = detail::profile::readChromeTrace(path, &notes);
  } catch (const Error&) {
    return;
  }
  if (traces.empty()) {
    return;
  }
  // The first write moves spans that cross a step out of their row.
  const std::vector<Trace> once = writtenAndRead(path, traces, /*compress=*/true);
  const std::vector<Trace> twice = writtenAndRead(path, once, /*compress=*/false);
  require(wordsOfAll(twice) == wordsOfAll(once), "what is written is read again");
  std::ifstream in(path, std::ios::binary);
  require(brokenPerfettoRules({std::istreambuf_iterator<char>(in), {}}).empty(),
          "what is written keeps the rules");
}

}  // namespace
}  // namespace steptape

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  steptape::readAnything({reinterpret_cast<const char*>(data), size});
  return 0;
}
