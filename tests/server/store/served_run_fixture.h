// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "log/reader/run_fixture.h"
#include "log/reader/run_follower.h"
#include "server/store/served_run.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace steptape::detail::server {

/// A run in a separate directory, read as the data server does.
class ServedRunFixture : public RunFixture {
 protected:
  using StepValue = std::pair<std::int64_t, float>;

  log::RunFollower follower() const {
    RunReaderOptions options;
    options.purge = PurgePolicy::kNone;
    return log::RunFollower({".", root_, {}, true}, options,
                            [] { return std::make_shared<ServedRun>(); });
  }
  static std::shared_ptr<ServedRun> runOf(const log::RunFollower& follower) {
    return std::static_pointer_cast<ServedRun>(follower.sink());
  }
  std::shared_ptr<ServedRun> readRun() const {
    log::RunFollower follower = this->follower();
    follower.update();
    return runOf(follower);
  }

  static std::vector<std::string> namesOf(const ServedRun& run) {
    std::vector<std::string> names;
    run.forEachTag([&](const TagView& tag) { names.emplace_back(tag.name()); });
    return names;
  }
  static std::vector<std::int64_t> stepsOf(const ServedRun& run, const std::string& name) {
    std::vector<std::int64_t> steps;
    run.withTag(name, [&](const TagView& tag) {
      for (std::size_t i = 0; i < tag.size(); ++i) {
        steps.push_back(tag.step(i));
      }
    });
    return steps;
  }
  static std::vector<StepValue> scalarsOf(const ServedRun& run, const std::string& name) {
    std::vector<StepValue> points;
    run.withTag(name, [&](const TagView& tag) {
      EXPECT_TRUE(tag.hasScalars()) << name;
      for (std::size_t i = 0; tag.hasScalars() && i < tag.size(); ++i) {
        points.emplace_back(tag.step(i), tag.scalar(i));
      }
    });
    return points;
  }

  /// Returns the plugin and the data class of a tag; "none" if there is no such tag.
  static std::pair<std::string, event::DataClass> kindOf(const ServedRun& run,
                                                         const std::string& name) {
    std::pair<std::string, event::DataClass> kind{"none", event::DataClass::kUnknown};
    run.withTag(name, [&](const TagView& tag) {
      kind = {std::string(tag.plugin()), tag.dataClass()};
    });
    return kind;
  }

  /// Returns a tail of these events, each in a source of its own.
  static std::shared_ptr<const RunTail> tailOf(const std::vector<event::Event>& events) {
    auto tail = std::make_shared<RunTail>();
    log::SeriesBatch batch(false);
    for (const event::Event& event : events) {
      std::string payload;
      events::encodeEvent(event, &payload);
      ValueLocation where{};
      where.bytes = payload.size();
      where.file = RunTail::kFirst + static_cast<std::uint32_t>(tail->records.size());
      batch.add(payload, where);
      tail->records.push_back(std::make_unique<MemoryByteSource>(framed({event})));
    }
    tail->points.append(&batch);
    tail->points.endUpdate(false);
    return tail;
  }

  static event::Event eventWith(std::int64_t step, event::Value value) {
    return eventAt(step, event::Summary{{std::move(value)}});
  }
  static event::Value withPlugin(event::Value value, const std::string& plugin,
                                 event::DataClass dataClass = event::DataClass::kUnknown) {
    value.metadata.emplace();
    value.metadata->pluginName = plugin;
    value.metadata->dataClass = dataClass;
    return value;
  }
};

}  // namespace steptape::detail::server
