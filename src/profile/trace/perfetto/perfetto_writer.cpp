// SPDX-License-Identifier: Apache-2.0
#include <cstdint>
#include <string>
#include <vector>

#include "base/replacement_file.h"
#include "events/messages/wire_format.h"
#include "profile/trace/perfetto/perfetto_format.h"
#include "profile/trace/perfetto/perfetto_process_writer.h"
#include "profile/trace/perfetto/perfetto_sequence.h"
#include "profile/trace/perfetto/perfetto_trace.h"
#include "profile/trace/trace_file.h"
#include "profile/trace/trace_text.h"

namespace steptape {
namespace {

using detail::profile::PerfettoFileState;
using detail::profile::PerfettoProcessWriter;
using detail::profile::TraceText;

/// The track of the whole file, which says that processes and threads have an order.
std::string rootPacket() {
  namespace track = detail::profile::perfetto::track;
  std::string root;
  detail::events::appendVarintField(&root, track::kUuid, 0);
  detail::events::appendVarintField(&root, track::kProcessOrdering, track::kOrderByRank);
  detail::events::appendVarintField(&root, track::kThreadOrdering, track::kOrderByRank);
  std::string fields;
  detail::events::appendBytesField(&fields, detail::profile::perfetto::packet::kTrackDescriptor,
                                   root);
  return fields;
}

void writePackets(ArrayView<const Trace> processes, TraceText* text) {
  PerfettoFileState file;
  file.baseNanos = detail::profile::fileBaseNanos(processes);
  const std::vector<std::int64_t> pids =
      detail::profile::fileProcessIds(processes, &file.processIds);
  const std::vector<std::string> names = detail::profile::fileProcessNames(processes);
  detail::profile::appendPerfettoPacket(rootPacket(), text);
  for (std::size_t i = 0; i < processes.size(); ++i) {
    PerfettoProcessWriter(processes[i], names[i], pids[i], &file, text).write();
  }
}

}  // namespace

Status detail::profile::writePerfettoTrace(const std::string& path,
                                           ArrayView<const Trace> processes,
                                           const detail::profile::PerfettoTraceOptions& options) {
  if (processes.size() == 0) {
    return Status(ErrorCode::kInvalidArgument, "cannot write " + path + ": no process to write");
  }
  detail::base::ReplacementFile file(path);
  if (Status status = file.open(); !status.ok()) {
    return status;
  }
  TraceText text(&file, options.compress);
  writePackets(processes, &text);
  text.finish();
  if (Status status = file.finish(); !status.ok()) {
    return status;
  }
  return file.appear(/*overwrite=*/true);
}

std::string detail::profile::perfettoTraceFileName(const Trace& trace) {
  return detail::profile::traceFileStem(trace) + ".pftrace.gz";
}

}  // namespace steptape
