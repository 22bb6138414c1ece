// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <chrono>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "server/store/log_store.h"
#include "server/store/served_run_fixture.h"

namespace steptape::detail::server {

/// A log directory that a LogStore follows.
class LogStoreFixture : public ServedRunFixture {
 protected:
  using Names = std::vector<std::string>;

  /// What a store has reported.
  class Reports {
   public:
    void add(const std::string& line) {
      const std::lock_guard<std::mutex> lock(mutex_);
      lines_.push_back(line);
    }
    Names lines() const {
      const std::lock_guard<std::mutex> lock(mutex_);
      return lines_;
    }
    std::size_t count(const std::string& part) const {
      const Names lines = this->lines();
      return static_cast<std::size_t>(std::count_if(
          lines.begin(), lines.end(),
          [&](const std::string& line) { return line.find(part) != std::string::npos; }));
    }

   private:
    mutable std::mutex mutex_;
    Names lines_;
  };

  LogStoreOptions optionsOf(std::vector<NamedDirectory> directories) {
    LogStoreOptions options;
    options.directories = std::move(directories);
    options.report = [this](const std::string& line) { reports_.add(line); };
    return options;
  }
  LogStoreOptions options() { return optionsOf({{"", root_}}); }

  /// Waits until `isTrue` returns true, much longer than that ever takes.
  static void expectSoon(const std::string& what, const std::function<bool()>& isTrue) {
    const auto end = std::chrono::steady_clock::now() + std::chrono::minutes(2);
    while (!isTrue()) {
      if (std::chrono::steady_clock::now() > end) {
        ADD_FAILURE() << what << ": has not happened";
        return;
      }
      std::this_thread::sleep_for(std::chrono::milliseconds(2));
    }
  }

  static Names runsOf(const LogStore& store) {
    Names names;
    const std::shared_ptr<const LogStore::Runs> all = store.runs();
    for (const auto& [name, run] : *all) {
      names.push_back(name);
    }
    return names;
  }
  static void expectRuns(const LogStore& store, const Names& names) {
    expectSoon("runs " + ::testing::PrintToString(names), [&] { return runsOf(store) == names; });
    EXPECT_EQ(runsOf(store), names);
  }

  static std::vector<StepValue> pointsOf(const LogStore& store, const std::string& run,
                                         const std::string& tag) {
    const std::shared_ptr<const LogStore::Runs> runs = store.runs();
    const auto known = runs->find(run);
    return known == runs->end() ? std::vector<StepValue>() : scalarsOf(*known->second, tag);
  }
  static void expectPoints(const LogStore& store, const std::string& run,
                           const std::vector<StepValue>& points, const std::string& tag = "x") {
    expectSoon(run + ": " + ::testing::PrintToString(points),
               [&] { return pointsOf(store, run, tag) == points; });
    EXPECT_EQ(pointsOf(store, run, tag), points);
  }

  void expectReport(const std::string& part) {
    expectSoon("report: " + part, [&] { return reports_.count(part) > 0; });
  }

  /// Writes a file of one scalar `x`.
  void writePoint(const std::string& file, std::int64_t step, float value) const {
    writeEvents(file, {version(), simpleScalar("x", value, step)});
  }
  void appendPoint(const std::string& file, std::int64_t step, float value) const {
    append(file, framed({simpleScalar("x", value, step)}));
  }

  Reports reports_;
};

}  // namespace steptape::detail::server
