// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "steptape/base/export.h"
#include "steptape/log/run_reader.h"

#include "log/reader/series_sink.h"

namespace steptape::detail::log {

/// Reads the files of one run into a SeriesSink, and follows them: what RunReader documents, apart
/// from what becomes of the points.
///
/// @threads Not thread-safe: one thread at a time.
class STEPTAPE_EXPORT RunFollower {
 public:
  using MakeSink = std::function<std::shared_ptr<SeriesSink>()>;

  /// @param options  As for RunReader; `sampling` is the sink's matter.
  /// @param makeSink Makes the sink, and another one when files were replaced.
  /// @throws Error(kInvalidArgument) if the options are invalid.
  RunFollower(RunFiles run, RunReaderOptions options, MakeSink makeSink);
  RunFollower(RunFollower&&) noexcept;
  RunFollower& operator=(RunFollower&&) noexcept;
  ~RunFollower();

  /// As RunReader::update().
  std::uint64_t update();

  /// Returns the sink, which is another one after an update() that has found replaced files.
  const std::shared_ptr<SeriesSink>& sink() const;

  const RunFiles& run() const;
  /// Returns the number of bytes that were read or skipped, for each file of the run.
  std::vector<std::uint64_t> offsets() const;
  /// Returns when the events of each file were logged.
  const std::vector<EventTimes>& times() const;
  const std::vector<Damage>& damage() const;
  const std::vector<std::string>& replacedFiles() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace steptape::detail::log
