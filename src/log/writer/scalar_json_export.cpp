// SPDX-License-Identifier: Apache-2.0
#include "log/writer/scalar_json_export.h"

#include <map>
#include <string_view>
#include <utility>
#include <vector>

#include "steptape/base/status.h"
#include "steptape/log/export.h"

#include "base/replacement_file.h"
#include "log/writer/run_context.h"

namespace steptape::detail::log {
namespace {

/// Returns the files that the writer has written, as runs of their directories.
std::vector<RunFiles> runsOf(const RunContext& context) {
  std::map<std::string, RunFiles> runs;
  for (const RunContext::File& file : context.files()) {
    RunFiles& run = runs[file.directory];
    run.directory = file.directory;
    run.files.push_back(file.path);
  }
  std::vector<RunFiles> list;
  for (auto& [directory, run] : runs) {
    list.push_back(std::move(run));
  }
  return list;
}

/// @throws Error as exportJson()
Status writeScalars(const std::vector<RunFiles>& runs, const std::string& path) {
  base::ReplacementFile file(path);
  if (Status opened = file.open(); !opened.ok()) {
    return opened;
  }
  ExportOptions options;
  options.temporaryPrefix = path + ".spool";
  const ExportResult result =
      exportJson(runs, options, [&](std::string_view text) { file.write(text); });
  for (const Damage& damage : result.damage) {
    // A record that is not complete yet holds nothing that counts as written.
    if (damage.outcome != ReadOutcome::kTruncated) {
      return damage.status;
    }
  }
  Status finished = file.finish();  // also reports failures of the writes
  return finished.ok() ? file.appear(true) : finished;
}

}  // namespace

Status exportScalars(const RunContext& run, const std::string& path) {
  try {
    return writeScalars(runsOf(run), path);
  } catch (const Error& error) {
    return {error.code(), error.what()};
  }
}

}  // namespace steptape::detail::log
