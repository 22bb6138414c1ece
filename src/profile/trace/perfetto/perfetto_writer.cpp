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
#include "profile/trace/text/phrase_text.h"
#include "profile/trace/trace_file.h"

namespace steptape {
namespace {

using detail::PerfettoFileState;
using detail::PerfettoProcessWriter;
using detail::PhraseText;

/// The track of the whole file, which says that processes and threads have an order.
std::string rootPacket() {
  namespace track = detail::perfetto::track;
  std::string root;
  detail::appendVarintField(&root, track::kUuid, 0);
  detail::appendVarintField(&root, track::kProcessOrdering, track::kOrderByRank);
  detail::appendVarintField(&root, track::kThreadOrdering, track::kOrderByRank);
  std::string fields;
  detail::appendBytesField(&fields, detail::perfetto::packet::kTrackDescriptor, root);
  return fields;
}

void writePackets(ArrayView<const Trace> processes, PhraseText* text) {
  PerfettoFileState file;
  file.baseNanos = detail::fileBaseNanos(processes);
  const std::vector<std::int64_t> pids = detail::fileProcessIds(processes, &file.processIds);
  const std::vector<std::string> names = detail::fileProcessNames(processes);
  detail::appendPerfettoPacket(rootPacket(), text);
  for (std::size_t i = 0; i < processes.size(); ++i) {
    PerfettoProcessWriter(processes[i], names[i], pids[i], &file, text).write();
  }
}

}  // namespace

Status writePerfettoTrace(const std::string& path, ArrayView<const Trace> processes,
                          const PerfettoTraceOptions& options) {
  if (processes.size() == 0) {
    return Status(ErrorCode::kInvalidArgument, "cannot write " + path + ": no process to write");
  }
  detail::ReplacementFile file(path);
  if (Status status = file.open(); !status.ok()) {
    return status;
  }
  PhraseText text(&file, options.compress, detail::kPerfettoTraceCode);
  writePackets(processes, &text);
  text.finish();
  if (Status status = file.finish(); !status.ok()) {
    return status;
  }
  return file.appear(/*overwrite=*/true);
}

std::string perfettoTraceFileName(const Trace& trace) {
  return detail::traceFileStem(trace) + ".pftrace.gz";
}

}  // namespace steptape
