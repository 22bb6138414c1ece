// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "steptape/log/run_reader.h"

#include "log/reader/log_dir_fixture.h"

#include <gmock/gmock.h>

namespace steptape {

/// A run in a separate directory, with helpers to read it.
class RunFixture : public LogDirFixture {
 protected:
  static constexpr char kFirst[] = "events.out.tfevents.1";
  static constexpr char kSecond[] = "events.out.tfevents.2";
  static constexpr char kThird[] = "events.out.tfevents.3";

  using Points = std::vector<std::pair<std::int64_t, double>>;

  RunReader readerOf(RunReaderOptions options = {}) const {
    return RunReader({".", root_, {}, true}, std::move(options));
  }
  RunReader read(RunReaderOptions options = {}) const {
    RunReader run = readerOf(std::move(options));
    run.update();
    return run;
  }

  static Points points(const RunReader& run, const std::string& tag) {
    const auto series = run.tags().find(tag);
    if (series == run.tags().end()) {
      return {};
    }
    const ScalarColumns& scalars = series->second.scalars;
    Points points;
    for (std::size_t i = 0; i < scalars.size(); ++i) {
      points.emplace_back(scalars.steps[i], scalars.values[i]);
    }
    return points;
  }
  Points points(const std::string& tag, RunReaderOptions options = {}) const {
    return points(read(std::move(options)), tag);
  }

  /// Returns the steps of a tag that is not a scalar series.
  static std::vector<std::int64_t> steps(const RunReader& run, const std::string& tag) {
    std::vector<std::int64_t> steps;
    for (const ValueLocation& location : run.tags().at(tag).values) {
      steps.push_back(location.step);
    }
    return steps;
  }

  static RunReaderOptions purging(PurgePolicy policy) {
    RunReaderOptions options;
    options.purge = policy;
    return options;
  }
  static RunReaderOptions complete() {
    RunReaderOptions options;
    options.expectGrowth = false;
    return options;
  }

  /// Like simpleScalar(), in SummaryWriter's form; metadata with the tag's first value.
  static event::Event tensorScalar(const std::string& tag, float number, std::int64_t step,
                                   bool withMetadata = true) {
    event::Value value = tensorValue<float>(tag, event::TensorType::kFloat, {number});
    if (withMetadata) {
      value = ofScalarsPlugin(std::move(value));
    }
    return eventAt(step, event::Summary{{std::move(value)}});
  }
  static event::Event textAt(std::int64_t step, const std::string& tag, const std::string& text,
                             bool withMetadata = true) {
    event::Tensor tensor;
    tensor.type = event::TensorType::kString;
    tensor.strings = {text};
    event::Value value{tag, std::move(tensor), std::nullopt};
    if (withMetadata) {
      value.metadata.emplace();
      value.metadata->pluginName = event::kTextPlugin;
    }
    return eventAt(step, event::Summary{{std::move(value)}});
  }

  void append(const std::string& name, std::string_view bytes) const {
    std::ofstream out(path(name), std::ios::binary | std::ios::app);
    out << bytes;
    EXPECT_TRUE(out.good()) << name;
  }
};

/// Damage at `offset`, of `bytes`, with `message`.
MATCHER_P3(IsDamage, offset, bytes, message, "") {
  *result_listener << arg.offset << " + " << arg.bytes << ": " << arg.status.message();
  return arg.offset == static_cast<std::uint64_t>(offset) &&
         arg.bytes == static_cast<std::uint64_t>(bytes) &&
         ::testing::ExplainMatchResult(::testing::HasSubstr(message), arg.status.message(),
                                       result_listener);
}

}  // namespace steptape
