// SPDX-License-Identifier: Apache-2.0
// Fuzzes bytes as a profile: what was read can be written, and is then read unchanged, and a
// copy in another format is well-formed.
#include <filesystem>
#include <string>
#include <string_view>

#include "steptape/base/status.h"
#include "steptape/ranks/testing.h"

#include "base/whole_file.h"
#include "fuzz/fuzz_input.h"
#include "profile/trace/chrome/chrome_trace.h"
#include "profile/trace/xplane/xplane_trace.h"

namespace steptape {
namespace {

std::size_t spansOf(const Trace& trace) {
  std::size_t spans = 0;
  for (const TraceThread& thread : trace.threads) {
    for (const TraceSpan& span : thread.spans) {
      require(span.duration >= 0, "no span takes less than no time");
      require(span.name < trace.names.size(), "each span has a name");
      require(span.details < trace.details.size(), "details are where the span says");
      ++spans;
    }
  }
  return spans;
}

void checkIsWhole(const Trace& trace) {
  for (const TraceStep& step : trace.steps) {
    require(step.thread < trace.threads.size(), "each step has a thread");
  }
  for (const TraceMemoryEvent& event : trace.memory) {
    require(event.thread < trace.threads.size(), "each memory event has a thread");
  }
}

void readProfile(std::string_view bytes) {
  static const testing::TempDir kDir;
  const std::string path = kDir.string() + "/host.xplane.pb";
  const std::string again = kDir.string() + "/again.xplane.pb";
  require(detail::base::replaceFile(path, bytes).ok(), "the case can be written");
  Trace trace;
  try {
    trace = detail::profile::readXPlane(path);
  } catch (const Error&) {
    return;
  }
  checkIsWhole(trace);
  std::filesystem::remove(again);
  require(detail::profile::writeXPlane(again, trace).ok(), "what was read can be written");
  const Trace read = detail::profile::readXPlane(again);
  checkIsWhole(read);
  require(spansOf(read) == spansOf(trace), "all spans come back");
  require(read.steps.size() == trace.steps.size(), "all steps come back");
  require(read.memory.size() == trace.memory.size(), "all memory events come back");
  const std::string json = kDir.string() + "/trace.json";
  require(detail::profile::writeChromeTrace(json, trace).ok(), "what was read can be converted");
  try {
    detail::profile::readChromeTrace(json);
  } catch (const Error&) {
    require(false, "the copy is JSON");
  }
}

}  // namespace
}  // namespace steptape

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  steptape::readProfile({reinterpret_cast<const char*>(data), size});
  return 0;
}
