// SPDX-License-Identifier: Apache-2.0
// Fuzzes runs of any events and damage as JSON: the output is valid JSON, whatever the files hold.
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "steptape/log/export.h"
#include "steptape/ranks/testing.h"

#include "fuzz/fuzz_file.h"

namespace steptape {
namespace {

std::uint64_t requireJsonLines(std::string_view text) {
  std::uint64_t lines = 0;
  while (!text.empty()) {
    const std::size_t end = text.find('\n');
    require(end != std::string_view::npos, "every line has an end");
    require(nlohmann::json::accept(text.substr(0, end)), "every line is JSON");
    text.remove_prefix(end + 1);
    ++lines;
  }
  return lines;
}

void exportRun(FuzzInput* input) {
  static const testing::TempDir kDir;
  const std::string path = kDir.string() + "/events.out.tfevents.1";
  ExportOptions options;
  options.purge = static_cast<PurgePolicy>(input->below(3));
  const FuzzFile file = takeFile(input, [](FuzzInput* in) { return in->text(); });
  std::ofstream(path, std::ios::binary) << file.bytes;
  const std::vector<RunFiles> runs{{".", kDir.string(), {path}, false}};

  std::string text;
  const ExportSink sink = [&](std::string_view piece) { text += piece; };
  exportJson(runs, options, sink);
  require(nlohmann::json::accept(text), "scalars are exported as JSON");

  text.clear();
  const ExportResult result = exportJsonl(runs, options, sink);
  require(requireJsonLines(text) == result.values, "a value is a line");
}

}  // namespace
}  // namespace steptape

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  steptape::FuzzInput input(data, size);
  steptape::exportRun(&input);
  return 0;
}
