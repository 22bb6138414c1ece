// SPDX-License-Identifier: Apache-2.0
#include "tools/steptape/traces/trace_files.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <filesystem>
#include <fmt/format.h>
#include <map>
#include <set>
#include <system_error>
#include <utility>

#include "steptape/base/status.h"

#include "profile/trace/chrome/chrome_trace.h"
#include "profile/trace/perfetto/perfetto_trace.h"
#include "profile/trace/trace_file.h"
#include "profile/trace/xplane/xplane_trace.h"
#include "tools/steptape/runs/path_check.h"
#include "tools/steptape/tables/human_text.h"
#include "tools/steptape/terminal/progress.h"
#include "tools/steptape/terminal/standard_streams.h"
#include "tools/steptape/traces/trace_search.h"

namespace steptape::tools {
namespace {

/// A file to read. If a file is from a directory, another file may have a newer trace of its rank.
struct TraceFile {
  std::string path;
  bool isNamed;
};

bool isPerfetto(TraceForm form) {
  return form == TraceForm::kPerfetto || form == TraceForm::kCompressedPerfetto;
}

void checkTraceInput(const std::string& path) {
  const TraceForm form = traceFormOf(path);
  if (form == TraceForm::kUnknown || isPerfetto(form)) {
    throw CLI::ValidationError(
        "TRACE", fmt::format("got {}; expected a name that ends in {}{}", path, kReadableEndings,
                             isPerfetto(form) ? "; steptape writes Perfetto traces only" : ""));
  }
}

std::vector<TraceFile> filesOf(const std::vector<std::string>& paths) {
  std::vector<TraceFile> files;
  std::set<std::string> known;
  const auto add = [&](const std::string& path, bool isNamed) {
    if (known.insert(path).second) {
      files.push_back({path, isNamed});
    }
  };
  for (const std::string& path : paths) {
    if (std::filesystem::is_directory(path)) {
      for (const std::string& file : newestTraceFiles(path)) {
        add(file, false);
      }
    } else {
      checkTraceInput(path);
      add(path, true);
    }
  }
  return files;
}

std::uint64_t sizeOf(const std::string& path) {
  std::error_code error;
  const std::uintmax_t bytes = std::filesystem::file_size(path, error);
  return error ? 0 : bytes;
}

std::vector<Trace> readFile(const std::string& path, Progress* progress) {
  const TraceForm form = traceFormOf(path);
  if (form == TraceForm::kXPlane || form == TraceForm::kCompressedXPlane) {
    std::vector<Trace> traces;
    traces.push_back(detail::profile::readXPlane(path));
    return traces;
  }
  std::vector<std::string> notes;
  std::vector<Trace> traces = detail::profile::readChromeTrace(path, &notes);
  for (const std::string& note : notes) {
    progress->clear();
    printMessage("note: " + note);
  }
  if (traces.empty()) {
    throw Error(ErrorCode::kInvalidArgument, path + ": got no spans; expected a trace");
  }
  return traces;
}

/// A trace with its origin.
struct ReadTrace {
  Trace trace;
  std::string file;
  bool isNamed;
};

std::vector<ReadTrace> readAll(const std::vector<TraceFile>& files) {
  std::uint64_t bytes = 0;
  for (const TraceFile& file : files) {
    bytes += sizeOf(file.path);
  }
  Progress progress("reading", bytes);
  std::vector<ReadTrace> read;
  std::size_t failures = 0;
  for (const TraceFile& file : files) {
    const auto report = progress.part();
    try {
      for (Trace& trace : readFile(file.path, &progress)) {
        read.push_back({std::move(trace), file.path, file.isNamed});
      }
    } catch (const Error& error) {
      if (files.size() == 1) {
        throw;
      }
      progress.clear();
      printMessage(fmt::format("problem: {}", error.what()));
      ++failures;
    }
    report(sizeOf(file.path));
  }
  if (failures > 0) {
    throw Error(ErrorCode::kDataLoss,
                fmt::format("{} of {} cannot be read, and the others alone would mislead", failures,
                            counted(files.size(), "trace")));
  }
  return read;
}

/// Removes traces that were found in a directory and have the same rank as a newer one. Of traces
/// without a rank, the search has found one for each process.
void dropOutdated(std::vector<ReadTrace>* read) {
  const std::vector<ReadTrace>& all = *read;
  std::vector<bool> isOutdated;
  for (const ReadTrace& one : all) {
    const auto newer = std::find_if(all.begin(), all.end(), [&](const ReadTrace& other) {
      return other.file != one.file && detail::profile::hasRank(other.trace) &&
             detail::profile::hasRank(one.trace) && other.trace.rank == one.trace.rank &&
             other.trace.originNanos > one.trace.originNanos;
    });
    isOutdated.push_back(!one.isNamed && newer != all.end());
    if (isOutdated.back()) {
      printMessage(fmt::format("note: {} left out: {} is a newer trace of rank {}", one.file,
                               newer->file, one.trace.rank));
    }
  }
  std::vector<ReadTrace> kept;
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (!isOutdated[i]) {
      kept.push_back(std::move((*read)[i]));
    }
  }
  *read = std::move(kept);
}

void noteMissingRanks(const std::vector<Trace>& traces) {
  int worldSize = 1;
  std::set<int> ranks;
  for (const Trace& trace : traces) {
    worldSize = std::max(worldSize, trace.worldSize);
    ranks.insert(trace.rank);
  }
  // A single trace is what the user asked for.
  if (traces.size() > 1 && ranks.size() < static_cast<std::size_t>(worldSize)) {
    printMessage(
        fmt::format("note: got traces of {} of the {} ranks of the job", ranks.size(), worldSize));
  }
}

std::string processText(const Trace& trace) {
  return fmt::format("process {}{}", trace.processId,
                     trace.processName.empty() ? "" : fmt::format(" ({})", trace.processName));
}

/// Returns the number of traces of a rank.
std::map<int, int> countByRank(const std::vector<Trace>& traces) {
  std::map<int, int> counts;
  for (const Trace& trace : traces) {
    ++counts[trace.rank];
  }
  return counts;
}

/// Adds the name of the file to each label that is not unique, and its path if even that is not.
void makeUnique(const std::vector<std::string>& files, std::vector<std::string>* labels) {
  const auto addWhereEqual = [&](const auto& nameOf) {
    std::map<std::string, int> counts;
    for (const std::string& label : *labels) {
      ++counts[label];
    }
    for (std::size_t i = 0; i < labels->size(); ++i) {
      if (counts[(*labels)[i]] > 1) {
        (*labels)[i] += ", " + nameOf(files[i]);
      }
    }
  };
  addWhereEqual(
      [](const std::string& path) { return std::filesystem::path(path).filename().string(); });
  addWhereEqual([](const std::string& path) { return path; });
}

}  // namespace

std::vector<std::string> TraceSet::labels() const {
  std::map<int, int> twins = countByRank(traces);
  std::vector<std::string> labels;
  for (const Trace& trace : traces) {
    if (trace.worldSize <= 1 && (twins[trace.rank] > 1 || traces.size() == 1)) {
      labels.push_back(fmt::format("process {}", trace.processId));
    } else if (twins[trace.rank] > 1) {
      labels.push_back(fmt::format("rank {}, process {}", trace.rank, trace.processId));
    } else {
      labels.push_back(fmt::format("rank {}", trace.rank));
    }
  }
  makeUnique(files, &labels);
  return labels;
}

std::vector<std::string> TraceSet::longLabels() const {
  std::map<int, int> twins = countByRank(traces);
  std::vector<std::string> labels;
  for (const Trace& trace : traces) {
    const std::string host = trace.hostName.empty() ? "" : " on " + trace.hostName;
    const bool isNoRank = !detail::profile::hasRank(trace) && twins[trace.rank] > 1;
    labels.push_back(isNoRank ? processText(trace) + host
                              : fmt::format("rank {}{}, {}", trace.rank, host, processText(trace)));
  }
  makeUnique(files, &labels);
  return labels;
}

void addTracesArgument(CLI::App* command, std::vector<std::string>* paths) {
  CLI::Option* const option =
      command->add_option("TRACE", *paths,
                          "Traces of Steptape or PyTorch (.json, .json.gz), XProf profiles "
                          "(.xplane.pb), or directories, whose newest profile counts");
  option->required();
  expectPath(option, "trace file");
}

TraceSet readTraces(const std::vector<std::string>& paths) {
  std::vector<ReadTrace> read = readAll(filesOf(paths));
  dropOutdated(&read);
  std::stable_sort(read.begin(), read.end(), [](const ReadTrace& a, const ReadTrace& b) {
    return a.trace.rank < b.trace.rank;
  });
  TraceSet set;
  for (ReadTrace& one : read) {
    set.traces.push_back(std::move(one.trace));
    set.files.push_back(std::move(one.file));
  }
  noteMissingRanks(set.traces);
  return set;
}

void checkTraceOutput(const std::string& path, std::size_t processes, const char* endings) {
  const TraceForm form = traceFormOf(path);
  if (form == TraceForm::kUnknown || form == TraceForm::kCompressedXPlane) {
    throw CLI::ValidationError(
        "--output", fmt::format("got {}; expected a name that ends in {}", path, endings));
  }
  if (form == TraceForm::kXPlane && processes > 1) {
    throw CLI::ValidationError(
        "--output",
        fmt::format("got {} processes for {}, which holds one; expected one trace, or a "
                    "name that ends in .json, .json.gz, .pftrace or .pftrace.gz",
                    processes, path));
  }
}

void checkJobTraceOutput(const std::string& path, const char* option) {
  const TraceForm form = traceFormOf(path);
  if (form == TraceForm::kUnknown || form == TraceForm::kXPlane ||
      form == TraceForm::kCompressedXPlane) {
    throw CLI::ValidationError(
        option, fmt::format("got {}{}; expected a name that ends in .json, .json.gz, .pftrace or "
                            ".pftrace.gz",
                            path, form == TraceForm::kXPlane ? ", which holds one process" : ""));
  }
}

void writeTraces(const std::string& path, const std::vector<Trace>& traces) {
  const TraceForm form = traceFormOf(path);
  if (form == TraceForm::kXPlane) {
    detail::profile::writeXPlane(path, traces.front()).throwIfError();
    return;
  }
  const ArrayView<const Trace> processes(traces.data(), traces.size());
  if (isPerfetto(form)) {
    detail::profile::PerfettoTraceOptions options;
    options.compress = form == TraceForm::kCompressedPerfetto;
    detail::profile::writePerfettoTrace(path, processes, options).throwIfError();
    return;
  }
  detail::profile::ChromeTraceOptions options;
  options.compress = form == TraceForm::kCompressedJson;
  detail::profile::writeChromeTrace(path, processes, options).throwIfError();
}

}  // namespace steptape::tools
