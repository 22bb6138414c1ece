// SPDX-License-Identifier: Apache-2.0
#include "tools/steptape/runs/log_paths.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <filesystem>
#include <fmt/core.h>
#include <fmt/ranges.h>
#include <map>
#include <set>
#include <system_error>
#include <thread>
#include <utility>

#include "steptape/base/status.h"

#include "tools/steptape/exit_code.h"
#include "tools/steptape/runs/bucket_copies.h"
#include "tools/steptape/runs/path_check.h"
#include "tools/steptape/runs/path_pattern.h"
#include "tools/steptape/tables/human_text.h"
#include "tools/steptape/terminal/standard_streams.h"

namespace steptape::tools {
namespace {

namespace fs = std::filesystem;

std::string gap(const Damage& problem) {
  return problem.bytes == 0 ? "" : fmt::format(" ({} skipped)", counted(problem.bytes, "byte"));
}

fs::path placeOf(const std::string& path) {
  std::error_code error;
  fs::path place = fs::canonical(path, error);
  return error ? fs::path(path) : place;
}

/// Returns whether no link is on the way to `directory`.
bool isReachedDirectly(const std::string& directory) {
  std::error_code error;
  const fs::path absolute = fs::absolute(directory, error).lexically_normal();
  const fs::path place = absolute.has_filename() ? absolute : absolute.parent_path();
  return !error && place == placeOf(directory);
}

/// Adds those files of `other` whose names `run` lacks.
void addFiles(const RunFiles& other, RunFiles* run) {
  std::set<std::string> names;
  for (const std::string& file : run->files) {
    names.insert(fs::path(file).filename());
  }
  for (const std::string& file : other.files) {
    if (names.insert(fs::path(file).filename()).second) {
      run->files.push_back(file);
    }
  }
}

/// Merges `found` into a run of the same directory.
void merge(RunFiles found, RunFiles* run) {
  if (found.directory != run->directory) {
    const bool isBetter = isReachedDirectly(found.directory) && !isReachedDirectly(run->directory);
    if (isBetter) {
      std::swap(found, *run);
    }
    printMessage(
        fmt::format("note: {} left out: it is the directory {}", found.directory, run->directory));
  }
  addFiles(found, run);
}

/// Returns what a file is, if its name tells that another library than TensorBoard reads it.
const char* otherFormatOf(const std::string& name) {
  if (name.rfind("vdlrecords.", 0) == 0) {
    return "a file of VisualDL";
  }
  return name.find(".tfrecord") != std::string::npos ? "a file of TensorFlow's datasets" : nullptr;
}

/// Returns ": got NAME, a file of ..." for the first such file in or below `path`; else nothing.
std::string otherFilesIn(const std::string& path) {
  constexpr int kMostEntries = 10'000;  // a message must not take minutes
  std::error_code error;
  fs::recursive_directory_iterator entry(path, fs::directory_options::skip_permission_denied,
                                         error);
  for (int i = 0; i < kMostEntries && !error && entry != fs::recursive_directory_iterator();
       ++i, entry.increment(error)) {
    if (const char* const format = otherFormatOf(entry->path().filename().string())) {
      return fmt::format(": got {}, {}; expected files named *tfevents*", entry->path().string(),
                         format);
    }
  }
  return "";
}

}  // namespace

std::string noEventFileIn(const std::vector<std::string>& paths) {
  std::string message = fmt::format("no event file in or below {}", fmt::join(paths, ", "));
  for (const std::string& path : paths) {
    if (const std::string others = otherFilesIn(path); !others.empty()) {
      return message + others;
    }
  }
  return message;
}

void addPathsArgument(CLI::App* command, std::vector<std::string>* paths) {
  CLI::Option* const option = command->add_option_function<std::vector<std::string>>(
      "PATH", [paths](const std::vector<std::string>& given) { *paths = replacePatterns(given); },
      "Log directories, runs, event files, patterns such as 'runs/seed_*', or s3://BUCKET/PREFIX");
  option->required();
  expectPathOrPattern(option, "event file");
}

std::vector<RunFiles> runsOf(const std::vector<std::string>& paths,
                             std::vector<Damage>* unreadable) {
  std::map<fs::path, RunFiles> runByPlace;
  for (const std::string& path : paths) {
    std::vector<Damage> missing;
    const std::string local = localPathOf(path, unreadable);
    std::vector<RunFiles> found = listRuns(local, &missing);
    if (found.empty()) {
      throw Error(
          ErrorCode::kIoError,
          noEventFileIn({path}) + (missing.empty() ? "" : "; " + missing.front().status.message()));
    }
    unreadable->insert(unreadable->end(), missing.begin(), missing.end());
    for (RunFiles& run : found) {
      const auto [known, isNew] = runByPlace.try_emplace(placeOf(run.directory));
      if (local != path) {
        run.directory = shownPathOf(run.directory);
        run.isWholeDirectory = false;  // the directory of that name is in the bucket
      }
      if (isNew) {
        known->second = std::move(run);
      } else {
        merge(std::move(run), &known->second);
      }
    }
  }
  std::vector<RunFiles> runs;
  for (auto& [place, run] : runByPlace) {
    std::sort(run.files.begin(), run.files.end());
    runs.push_back(std::move(run));
  }
  std::sort(runs.begin(), runs.end(),
            [](const RunFiles& a, const RunFiles& b) { return a.directory < b.directory; });
  return runs;
}

std::vector<RunFiles> selectRuns(std::vector<RunFiles> runs, const NamePattern& pattern) {
  const std::size_t count = runs.size();
  runs.erase(std::remove_if(runs.begin(), runs.end(),
                            [&](const RunFiles& run) { return !pattern.isFoundIn(run.directory); }),
             runs.end());
  if (runs.empty()) {
    throw Error(ErrorCode::kIoError, fmt::format("--run: got \"{}\"; expected a match among {}",
                                                 pattern.text(), counted(count, "run")));
  }
  return runs;
}

std::uint64_t totalBytes(const std::vector<RunFiles>& runs) {
  std::uint64_t bytes = 0;
  for (const RunFiles& run : runs) {
    bytes += steptape::totalBytes(run);
  }
  return bytes;
}

RunReader readRun(const RunFiles& run, Progress* progress) {
  RunReaderOptions options;
  options.expectGrowth = false;
  options.threads = static_cast<int>(std::max(1U, std::thread::hardware_concurrency()));
  const auto report = progress->part();
  options.onProgress = report;
  RunReader reader(run, std::move(options));
  report(reader.update());
  return reader;
}

int reportProblems(const std::vector<Damage>& problems) {
  int exitCode = kExitFine;
  for (const Damage& problem : problems) {
    if (problem.outcome == ReadOutcome::kTruncated) {
      printMessage(fmt::format("note: {}{}; the file is being written, or its writer was killed",
                               shownPathOf(problem.status.message()), gap(problem)));
    } else {
      printMessage(
          fmt::format("problem: {}{}", shownPathOf(problem.status.message()), gap(problem)));
      exitCode = kExitProblem;
    }
  }
  return exitCode;
}

}  // namespace steptape::tools
