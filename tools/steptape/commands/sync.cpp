// SPDX-License-Identifier: Apache-2.0
#include <CLI/CLI.hpp>
#include <chrono>
#include <cstdint>
#include <fmt/format.h>
#include <memory>
#include <optional>
#include <string>
#include <sys/stat.h>
#include <vector>

#include "steptape/base/status.h"

#include "storage/mirror/bucket_copy.h"
#include "storage/mirror/directory_mark.h"
#include "storage/mirror/send_directory.h"
#include "storage/s3/bucket_url.h"
#include "tools/steptape/commands/commands.h"
#include "tools/steptape/exit_code.h"
#include "tools/steptape/tables/human_text.h"
#include "tools/steptape/tables/json_pieces.h"
#include "tools/steptape/terminal/progress.h"
#include "tools/steptape/terminal/standard_streams.h"

namespace steptape::tools {
namespace {

namespace storage = steptape::detail::storage;

struct SyncOptions {
  std::string from;
  std::string to;
  bool json = false;
};

/// What was done.
struct SyncResult {
  std::uint64_t files = 0;    // all
  std::uint64_t changed = 0;  // of these
  std::uint64_t bytes = 0;
  std::vector<std::string> problems;
};

std::vector<std::string> textsOf(const std::vector<Status>& problems) {
  std::vector<std::string> texts;
  for (const Status& problem : problems) {
    texts.push_back(problem.message());
  }
  return texts;
}

/// An invalid one is a wrong argument.
storage::BucketUrl bucketUrlOf(const std::string& text, const std::string& name) {
  try {
    return storage::parseBucketUrl(text, name);
  } catch (const Error& error) {
    throw CLI::ValidationError(error.what());
  }
}

SyncResult send(const SyncOptions& options) {
  std::optional<Progress> progress;
  const storage::SentDirectory sent = storage::sendDirectory(
      options.from, bucketUrlOf(options.to, "TO"), std::chrono::milliseconds::max(),
      [&](std::uint64_t done, std::uint64_t all) {
        if (!progress) {
          progress.emplace("sending", all);
        }
        progress->set(done);
      });
  return {sent.files, sent.sent, sent.bytes, textsOf(sent.problems)};
}

/// Reads what the directory lacks.
SyncResult fetch(const SyncOptions& options) {
  storage::BucketCopy::Options copied;
  copied.directory = options.to;
  storage::BucketCopy copy(bucketUrlOf(options.from, "FROM"), std::move(copied));
  storage::BucketCopy::Update update = copy.update();
  if (update.objects == 0 && update.problems.empty()) {
    update.problems.emplace_back(ErrorCode::kIoError, "there is no object below " + options.from);
  }
  return {update.objects, update.read, update.bytes, textsOf(update.problems)};
}

/// Returns the bucket to which a directory was mirrored.
std::string mirrorOf(const std::string& directory) {
  const std::string url = storage::readMark(directory).url;
  if (url.empty()) {
    throw CLI::ValidationError(
        "TO",
        fmt::format("got none; expected s3://BUCKET/PREFIX, because no writer has mirrored {}",
                    directory));
  }
  return url;
}

int sync(SyncOptions options) {
  const bool isFromBucket = storage::isBucketUrl(options.from);
  if (options.to.empty()) {
    options.to = isFromBucket ? "." : mirrorOf(options.from);
  }
  if (isFromBucket == storage::isBucketUrl(options.to)) {
    throw CLI::ValidationError(
        "TO", fmt::format("got {} and {}; expected a directory and s3://BUCKET/PREFIX, in either "
                          "order",
                          options.from, options.to));
  }
  struct stat status {};
  if (!isFromBucket && (::stat(options.from.c_str(), &status) != 0 || !S_ISDIR(status.st_mode))) {
    throw CLI::ValidationError("FROM", fmt::format("got {}; expected a directory", options.from));
  }
  const SyncResult result = isFromBucket ? fetch(options) : send(options);
  if (options.json) {
    fmt::print("{}\n", JsonObject()
                           .add("files", fmt::to_string(result.files))
                           .add("changed", fmt::to_string(result.changed))
                           .add("bytes", fmt::to_string(result.bytes))
                           .add("problems", jsonStrings(result.problems))
                           .toString());
  } else {
    fmt::print("{} of {} {}, {}\n", result.changed, counted(result.files, "file"),
               isFromBucket ? "read" : "sent", humanBytes(result.bytes));
  }
  flushOutput();
  for (const std::string& problem : result.problems) {
    printMessage("problem: " + problem);
  }
  return result.problems.empty() ? kExitFine : kExitProblem;
}

}  // namespace

void addSyncCommand(CLI::App* app, int* exitCode) {
  CLI::App* command =
      app->add_subcommand("sync", "Bring runs to a bucket, or from a bucket to this machine");
  const auto options = std::make_shared<SyncOptions>();
  command->add_option("FROM", options->from, "A directory, or s3://BUCKET/PREFIX")->required();
  command->add_option(
      "TO", options->to,
      "s3://BUCKET/PREFIX, or a directory. Default: the mirror of the directory, or "
      "the current directory");
  command->add_flag("--json", options->json, "Print JSON for programs instead of a line");
  command->footer(
      "Sends files that are new or have changed, except models and checkpoints (.pt, .pth, .ckpt, "
      ".safetensors, .onnx) and hidden files. Deletes nothing, and replaces neither an object of "
      "another directory nor a file with other bytes. A writer with a mirror does this by itself "
      "while it writes; here it is for runs that are finished, or whose process was killed.\n"
      "\n"
      "Keys, region and endpoint are those of AWS's tools: AWS_ACCESS_KEY_ID, AWS_PROFILE, "
      "AWS_REGION, AWS_ENDPOINT_URL, ~/.aws, and the roles of containers and instances.\n"
      "\n"
      "Exit codes: 0 all is there, 1 something is not, 2 wrong arguments.\n"
      "\n"
      "Examples:\n"
      "  steptape sync runs s3://bucket/runs\n"
      "  steptape sync runs/exp\n"
      "  steptape sync s3://bucket/runs/exp runs/exp\n"
      "  AWS_ENDPOINT_URL=https://storage.googleapis.com steptape sync runs s3://bucket/runs");
  command->callback([options, exitCode] { *exitCode = sync(*options); });
}

}  // namespace steptape::tools
