// SPDX-License-Identifier: Apache-2.0
#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "steptape/base/version.h"

#include "base/json_text.h"
#include "base/replacement_file.h"
#include "profile/trace/chrome/chrome_format.h"
#include "profile/trace/chrome/chrome_process_writer.h"
#include "profile/trace/chrome/chrome_trace.h"
#include "profile/trace/chrome/json_check.h"
#include "profile/trace/trace_file.h"
#include "profile/trace/trace_text.h"

namespace steptape {
namespace {

using detail::base::jsonString;
using detail::profile::ChromeFileState;
using detail::profile::ChromeProcessWriter;
using detail::profile::fileBaseNanos;
using detail::profile::fileProcessIds;
using detail::profile::TraceText;

/// Returns the members of the file's object, which describe the first process, because tools that
/// read them support only one process.
///
/// HolisticTraceAnalysis searches for the rank line by line, and needs the blank before it.
std::string headText(const std::string& path, ArrayView<const Trace> processes,
                     std::int64_t baseNanos) {
  const Trace& first = processes[0];
  std::set<std::string> known{"schemaVersion",       "distributedInfo", "displayTimeUnit",
                              "baseTimeNanoseconds", "host_name",       "traceName",
                              "traceEvents"};
  std::string text =
      "{\n  \"schemaVersion\": 1,\n  \"distributedInfo\": {\n    \"backend\": \"mpi\",\n";
  if (processes.size() == 1) {
    text += "    \"rank\": " + std::to_string(first.rank) + ",\n";
  }
  text += "    \"world_size\": " + std::to_string(first.worldSize) + "\n  },\n";
  for (const auto& [key, value] : first.metadata) {
    if (known.insert(key).second) {
      text += "  " + jsonString(key) + ": " + detail::profile::validJson(value) + ",\n";
    }
  }
  if (known.insert("deviceProperties").second) {
    text += "  \"deviceProperties\": [],\n";
  }
  return text +
         "  \"displayTimeUnit\": \"ms\",\n  \"baseTimeNanoseconds\": " + std::to_string(baseNanos) +
         ",\n  \"host_name\": " + jsonString(first.hostName) +
         ",\n  \"traceName\": " + jsonString(path) + ",\n  \"traceEvents\": [\n";
}

void writeEvents(const std::string& path, ArrayView<const Trace> processes, TraceText* text) {
  ChromeFileState file;
  file.baseNanos = fileBaseNanos(processes);
  text->append(headText(path, processes, file.baseNanos));
  const std::vector<std::int64_t> pids = fileProcessIds(processes, &file.processIds);
  // ChromeProcessWriter closes the event before its own, so there must be one.
  text->append("{\"name\":\"steptape_version\",\"ph\":\"M\",\"pid\":" + std::to_string(pids[0]) +
               ",\"tid\":0,\"args\":{\"version\":\"" STEPTAPE_VERSION "\"}");
  const std::vector<std::string> names = detail::profile::fileProcessNames(processes);
  file.isOfOne = processes.size() == 1;
  for (std::size_t i = 0; i < processes.size(); ++i) {
    ChromeProcessWriter(processes[i], names[i], pids[i], &file, text).write();
  }
  text->append("}\n]\n}\n");
}

}  // namespace

Status detail::profile::writeChromeTrace(const std::string& path, ArrayView<const Trace> processes,
                                         const detail::profile::ChromeTraceOptions& options) {
  if (processes.size() == 0) {
    return Status(ErrorCode::kInvalidArgument,
                  "cannot write " + path + ": got no process; expected at least one");
  }
  detail::base::ReplacementFile file(path);
  if (Status status = file.open(); !status.ok()) {
    return status;
  }
  TraceText text(&file, options.compress);
  writeEvents(path, processes, &text);
  text.finish();
  if (Status status = file.finish(); !status.ok()) {
    return status;
  }
  return file.appear(/*overwrite=*/true);
}

std::string detail::profile::chromeTraceFileName(const Trace& trace) {
  return detail::profile::traceFileStem(trace) + ".pt.trace.json.gz";
}

}  // namespace steptape
