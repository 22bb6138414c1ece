// SPDX-License-Identifier: Apache-2.0
#include "storage/mirror/send_directory.h"

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <memory>
#include <thread>
#include <utility>

#include "base/mutex.h"
#include "base/text.h"
#include "storage/mirror/directory_mark.h"
#include "storage/mirror/local_files.h"
#include "storage/mirror/object_writer.h"
#include "storage/mirror/parallel.h"
#include "storage/s3/aws_settings.h"
#include "storage/s3/bucket.h"

namespace steptape::detail::storage {
namespace {

using Outcome = ObjectWriter::Result::Outcome;
using SteadyClock = std::chrono::steady_clock;

constexpr std::size_t kSenders = 8;
constexpr int kTries = 4;

/// What one thread has.
struct Sender {
  Sender(const std::string& directory, const std::string& mark, const BucketUrl& url,
         const AwsSettings& settings)
      : bucket(url, settings, Bucket::Options()), writer(directory, mark, &bucket) {}

  Bucket bucket;
  ObjectWriter writer;
};

ObjectWriter::Result bringAtLast(ObjectWriter* writer, const LocalFile& file,
                                 SteadyClock::time_point end) {
  ObjectWriter::Result result = writer->bring(file);
  std::chrono::seconds pause(1);
  for (int attempt = 1;
       result.outcome == Outcome::kFailed && attempt < kTries && SteadyClock::now() + pause < end;
       ++attempt) {
    std::this_thread::sleep_for(pause);
    pause *= 2;
    result = writer->bring(file);
  }
  return result;
}

}  // namespace

SentDirectory sendDirectory(
    const std::string& directory, const BucketUrl& url, std::chrono::milliseconds patience,
    const std::function<void(std::uint64_t done, std::uint64_t all)>& onProgress) {
  constexpr std::chrono::hours kYear{8766};  // more would overflow
  const SteadyClock::time_point end =
      SteadyClock::now() + std::min<std::chrono::milliseconds>(patience, kYear);
  const AwsSettings settings = AwsSettings::fromEnvironment();
  const std::string mark = takeMark(directory).mark;
  const std::vector<LocalFile> files = localFilesIn(directory);
  std::uint64_t all = 0;
  for (const LocalFile& file : files) {
    all += file.bytes;
  }
  SentDirectory result;
  result.files = files.size();
  std::uint64_t done = 0;
  std::size_t left = 0;
  base::Mutex mutex;
  std::atomic<bool> isHopeless{false};
  std::vector<std::unique_ptr<Sender>> senders(kSenders);
  inParallel(kSenders, files.size(), [&](std::size_t thread, std::size_t item) {
    if (isHopeless || SteadyClock::now() >= end) {
      const base::MutexLock lock(mutex);
      ++left;
      return;
    }
    if (senders[thread] == nullptr) {
      senders[thread] = std::make_unique<Sender>(directory, mark, url, settings);
    }
    ObjectWriter::Result brought = bringAtLast(&senders[thread]->writer, files[item], end);
    const base::MutexLock lock(mutex);
    done += files[item].bytes;
    if (onProgress) {
      onProgress(done, all);
    }
    result.bytes += brought.bytesSent;
    result.sent += brought.outcome == Outcome::kSent ? 1 : 0;
    if (!brought.status.ok() && brought.outcome != Outcome::kGone && !isHopeless) {
      result.problems.push_back(std::move(brought.status));
    }
    // What is refused, or fails so often, is not for this file.
    isHopeless =
        isHopeless || brought.outcome == Outcome::kFailed || brought.outcome == Outcome::kRefused;
  });
  if (left > 0 && !isHopeless) {
    result.problems.emplace_back(
        ErrorCode::kDeadlineExceeded,
        base::counted(left, "file") + " of " + directory + " left: the time is over");
  }
  return result;
}

}  // namespace steptape::detail::storage
