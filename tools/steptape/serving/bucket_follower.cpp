// SPDX-License-Identifier: Apache-2.0
#include "tools/steptape/serving/bucket_follower.h"

#include <chrono>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/loop_thread.h"
#include "storage/s3/bucket_url.h"
#include "tools/steptape/runs/bucket_copies.h"
#include "tools/steptape/terminal/standard_streams.h"

namespace steptape::tools {

struct BucketFollower::State {
  std::set<std::string> reported;
  std::optional<steptape::detail::base::LoopThread> thread;

  void update() {
    std::vector<Damage> problems;
    updateBucketCopies(&problems, std::chrono::milliseconds(0));
    for (const Damage& problem : problems) {
      if (reported.insert(problem.status.message()).second) {
        printMessage("problem: " + problem.status.message());
      }
    }
  }
};

BucketFollower::BucketFollower(steptape::detail::server::LogStoreOptions* options)
    : state_(std::make_unique<State>()) {
  bool hasBuckets = false;
  for (steptape::detail::server::NamedDirectory& directory : options->directories) {
    if (steptape::detail::storage::isBucketUrl(directory.path)) {
      directory.path = makeBucketCopy(directory.path);
      hasBuckets = true;
    }
  }
  if (hasBuckets && options->once) {
    state_->update();
  } else if (hasBuckets) {
    steptape::detail::base::LoopThread::Options ofThread;
    ofThread.name = "buckets";
    ofThread.patience = steptape::detail::base::LoopThread::kUnlimited;
    state_->thread.emplace(ofThread, [state = state_.get(), period = options->reload] {
      state->update();
      return std::chrono::steady_clock::now() + period;
    });
  }
}

BucketFollower::~BucketFollower() = default;

}  // namespace steptape::tools
