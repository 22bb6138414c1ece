// SPDX-License-Identifier: Apache-2.0
#include "train/checkpoint/checkpoint_directory.h"

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <optional>
#include <system_error>

#include "steptape/train/checkpoint.h"

#include "base/replacement_file.h"
#include "base/text.h"

namespace steptape::detail::train {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kPrefix = "checkpoint_";
constexpr std::string_view kSuffix = ".pt";

std::string nameOf(std::int64_t step) {
  return std::string(kPrefix) + std::to_string(step) + std::string(kSuffix);
}

/// Returns the step of `checkpoint_<step>.pt`; nothing for another name.
std::optional<std::int64_t> stepOf(const std::string& name) {
  if (name.size() <= kPrefix.size() + kSuffix.size() || !base::startsWith(name, kPrefix)) {
    return std::nullopt;
  }
  std::int64_t step = 0;
  std::from_chars(name.data() + kPrefix.size(), name.data() + name.size(), step);
  return name == nameOf(step) ? std::optional(step) : std::nullopt;
}

std::vector<std::string> namesIn(const std::string& directory, std::error_code& error) {
  std::vector<std::string> names;
  fs::directory_iterator entry(directory, error);
  while (!error && entry != fs::directory_iterator()) {
    names.push_back(entry->path().filename().string());
    entry.increment(error);
  }
  return names;
}

/// Descending.
std::vector<std::int64_t> stepsIn(const std::string& directory, std::error_code& error) {
  std::vector<std::int64_t> steps;
  for (const std::string& name : namesIn(directory, error)) {
    if (const auto step = stepOf(name)) {
      steps.push_back(*step);
    }
  }
  std::sort(steps.rbegin(), steps.rend());
  return steps;
}

/// Replaces `name` by the link to `file` that `link` makes, or by a copy if `link` fails.
template <typename Link>
Status replaceName(const std::string& name, const std::string& file, const Link& link) {
  const fs::path temporary = fs::path(name).parent_path() / ".checkpoint.pt";
  std::error_code error;
  fs::remove(temporary, error);  // of a job that died here
  link(temporary, error);
  if (error) {
    fs::copy_file(file, temporary, error);
  }
  if (!error) {
    fs::rename(temporary, name, error);
  }
  std::error_code ignored;
  fs::remove(temporary, ignored);  // rename() leaves a second link to the same file
  return error ? Status(ErrorCode::kIoError, "cannot write " + name + ": " + error.message())
               : Status();
}

}  // namespace

std::string checkpointPathOf(const std::string& directory, std::int64_t step) {
  return directory + "/" + nameOf(step);
}

std::string bestPathOf(const std::string& directory) {
  return directory + "/checkpoint_best.pt";
}

Status listCheckpoints(const std::string& directory, std::vector<std::string>& paths) {
  std::error_code error;
  const std::vector<std::int64_t> steps = stepsIn(directory, error);
  if (error == std::errc::no_such_file_or_directory) {
    return {};
  }
  if (error) {
    return {ErrorCode::kIoError,
            "cannot list the checkpoints in " + directory + ": " + error.message()};
  }
  const std::string single = checkpointPath(directory);
  if (fs::symlink_status(single, error).type() == fs::file_type::regular) {
    paths.push_back(single);
  }
  for (const std::int64_t step : steps) {
    paths.push_back(checkpointPathOf(directory, step));
  }
  return {};
}

Status nameNewest(const std::string& directory, std::int64_t step) {
  const auto link = [&](const fs::path& name, std::error_code& error) {
    fs::create_symlink(nameOf(step), name, error);
  };
  return replaceName(checkpointPath(directory), checkpointPathOf(directory, step), link);
}

Status nameBestByStep(const std::string& directory, std::int64_t step) {
  const std::string best = bestPathOf(directory);
  const auto link = [&](const fs::path& name, std::error_code& error) {
    fs::create_hard_link(best, name, error);
  };
  return replaceName(checkpointPathOf(directory, step), best, link);
}

void removeLeftovers(const std::string& directory) {
  std::error_code ignored;
  for (const std::string& name : namesIn(directory, ignored)) {
    if (base::startsWith(name, base::kTemporaryPrefix)) {
      fs::remove(fs::path(directory) / name, ignored);
    }
  }
}

void removeOthers(const std::string& directory, std::int64_t newestStep, std::int64_t keep) {
  std::error_code ignored;
  std::int64_t kept = 0;
  for (const std::int64_t step : stepsIn(directory, ignored)) {
    if (step > newestStep || ++kept > keep) {
      fs::remove(checkpointPathOf(directory, step), ignored);
    }
  }
}

}  // namespace steptape::detail::train
