// SPDX-License-Identifier: Apache-2.0
#include <filesystem>
#include <string_view>
#include <system_error>
#include <utility>

#include "steptape/base/status.h"
#include "steptape/events/record_reader.h"
#include "steptape/log/file_check.h"
#include "steptape/log/run_reader.h"

#include "base/got_expected.h"
#include "base/replacement_file.h"
#include "log/check/intact_copy.h"

namespace steptape {
namespace {

namespace fs = std::filesystem;

using detail::base::ReplacementFile;

Status ioError(const std::string& path, const std::error_code& error) {
  return Status(ErrorCode::kIoError, "cannot read " + path + ": " + error.message());
}

fs::path directoryOf(const fs::path& path) {
  return path.has_parent_path() ? path.parent_path() : fs::path(".");
}

/// Returns the files that may contain data lost from `input`: itself, and its neighbors and those
/// of `output`.
std::vector<std::string> relativesOf(const std::string& input, const std::string& output) {
  std::vector<std::string> files{input};
  std::error_code error;
  const auto addFilesIn = [&](const fs::path& directory) {
    for (std::string& file : listEventFiles(directory.string())) {
      if (!fs::equivalent(file, input, error)) {
        files.push_back(std::move(file));
      }
    }
  };
  addFilesIn(directoryOf(input));
  if (!fs::equivalent(directoryOf(input), directoryOf(output), error)) {
    addFilesIn(directoryOf(output));
  }
  return files;
}

/// Writes the intact records of `input` to `file`, which does not appear yet.
/// @param output The path at which it will appear.
Status copyIntact(const std::string& input, const std::string& output, const RepairOptions& options,
                  ReplacementFile* file, RepairReport* report) {
  try {
    const FileByteSource source(input);
    Status status = file->open();
    if (status.ok()) {
      status =
          detail::log::IntactCopy(source, relativesOf(input, output), file, options, report).run();
    }
    if (status.ok() && report->recordsKept == 0 && report->bytesLeftOut > 0) {
      status = Status(ErrorCode::kDataLoss,
                      "cannot repair " + input + ": " +
                          detail::base::gotExpected("no intact record", "an event file"));
    }
    return status.ok() ? file->finish() : status;
  } catch (const Error& error) {
    return Status(error.code(), error.what());
  }
}

Status permissionsOf(const std::string& path, unsigned* permissions) {
  std::error_code error;
  *permissions = static_cast<unsigned>(fs::status(path, error).permissions()) & 0777U;
  return error ? ioError(path, error) : Status();
}

/// Returns the path for the damaged original.
std::string damagedPath(const fs::path& path, int attempt) {
  constexpr std::string_view kInfix = "tfevents";
  std::string name = path.filename().string();
  for (std::size_t at; (at = name.find(kInfix)) != std::string::npos;) {
    name.replace(at, kInfix.size(), "tf-events");
  }
  name += attempt == 0 ? ".damaged" : ".damaged-" + std::to_string(attempt);
  return (path.parent_path() / name).string();
}

Status keepOriginal(const fs::path& path, std::string* original) {
  for (int attempt = 0;; ++attempt) {
    *original = damagedPath(path, attempt);
    Status status = detail::base::addName(path.string(), *original);
    if (status.ok() || status.code() != ErrorCode::kFailedPrecondition) {
      return status;
    }
  }
}

}  // namespace

Status repairEventFile(const std::string& input, const std::string& output,
                       const RepairOptions& options, RepairReport* report) {
  *report = RepairReport();
  std::error_code error;
  const bool isThere = fs::exists(output, error);
  if (isThere && fs::equivalent(input, output, error)) {
    detail::base::reject("the input " + output + " as the output", "another file",
                         "repairEventFile");
  }
  if (isThere && !options.overwrite) {
    return Status(ErrorCode::kFailedPrecondition, "cannot write " + output + ": the file exists");
  }
  unsigned permissions = 0;
  if (Status status = permissionsOf(input, &permissions); !status.ok()) {
    return status;
  }
  ReplacementFile file(output, permissions);
  if (Status status = copyIntact(input, output, options, &file, report); !status.ok()) {
    return status;
  }
  return file.appear(options.overwrite);
}

Status repairEventFileInPlace(const std::string& path, const RepairOptions& options,
                              RepairReport* report) {
  *report = RepairReport();
  std::error_code error;
  const fs::path target = fs::canonical(path, error);
  if (error) {
    return ioError(path, error);
  }
  unsigned permissions = 0;
  if (Status status = permissionsOf(target.string(), &permissions); !status.ok()) {
    return status;
  }
  const std::uintmax_t size = fs::file_size(target, error);
  ReplacementFile file(target.string(), permissions);
  if (Status status = copyIntact(target.string(), path, options, &file, report); !status.ok()) {
    return status;
  }
  // Later data of its writer would go to the original, which is kept under another name.
  if (error || fs::file_size(target, error) != size || error) {
    return Status(ErrorCode::kFailedPrecondition,
                  "cannot repair " + path +
                      " in place: the file grew during the repair; end its writer first");
  }
  if (report->isUnchanged()) {
    return Status();
  }
  if (Status status = keepOriginal(target, &report->original); !status.ok()) {
    report->original.clear();
    return status;
  }
  return file.appear(true);
}

}  // namespace steptape
