// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "steptape/metrics/distributed_writer.h"
#include "steptape/ranks/testing.h"

#include "metrics/read_back.h"

#include <gtest/gtest.h>

namespace steptape::test {

/// A DistributedWriter on each of several ranks, with access to the written files.
class WriterOnRanks : public ::testing::Test {
 protected:
  using Body = std::function<void(DistributedWriter&, Communicator&)>;

  /// Runs `body` with a writer on each of `count` ranks.
  void onRanks(int count, const Body& body) {
    testing::runRanksShared(count, [&](const std::shared_ptr<Communicator>& world) {
      DistributedWriter writer(logDir(), world, optionsWithReports());
      body(writer, *world);
      EXPECT_TRUE(writer.close().ok());
    });
  }

  std::string logDir() const { return directory_.string() + "/run"; }

  DistributedWriterOptions optionsWithReports() {
    DistributedWriterOptions options;
    options.rankPolicy = policy_;
    options.reduceMode = mode_;
    options.writer.onError = [this](const Status& status) {
      const std::lock_guard<std::mutex> lock(reportsMutex_);
      reports_.push_back(status.message());
    };
    return options;
  }

  /// Returns the names of the written runs, relative to the log directory.
  std::vector<std::string> runs() const {
    std::vector<std::string> names;
    for (const RunFiles& run : listRuns(logDir())) {
      names.push_back(run.name);
    }
    return names;
  }

  PointsByTag pointsOf(const std::string& name = ".") const { return readPoints(logDir(), name); }

  /// Returns the values that are not scalars, in the job's run, by tag and in the order of writing.
  std::map<std::string, std::vector<event::Value>> values() const { return readValues(logDir()); }

  RankPolicy policy_ = RankPolicy::kRootOnly;
  ReduceMode mode_ = ReduceMode::kBlocking;
  std::mutex reportsMutex_;
  std::vector<std::string> reports_;
  testing::TempDir directory_;
};

}  // namespace steptape::test
