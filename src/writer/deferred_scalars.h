// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <optional>
#include <string>

#include "steptape/base/export.h"
#include "steptape/writer/summary_writer.h"

namespace steptape::detail {

/// Scalars of one step that their caller has in a form of its own, such as an array that a
/// collective has filled: it hands the array over, and the writer's thread makes points of it. What
/// is in the file is what a StepBatch would have left there.
class STEPTAPE_EXPORT DeferredScalars {
 public:
  /// Takes the points; the writer's thread only.
  class Sink {
   public:
    /// @param wallTime The caller's own, finite; unset: when the scalars were deferred.
    virtual void add(ScalarTag tag, double value, std::optional<double> wallTime) = 0;
    /// Tells WriterOptions::onError the first time that something is said about `subject`.
    virtual void reportOnce(const std::string& subject, const std::string& what) = 0;

   protected:
    ~Sink() = default;
  };

  /// @param count How many they are: as many are counted if they must be dropped.
  /// @param bytes Memory that `write` holds.
  /// @param write Called once, or never.
  /// @threads As SummaryWriter::addScalar().
  /// @cost    An entry in the ring and a few small allocations, however many scalars there are.
  static void add(SummaryWriter& writer, std::int64_t step, std::size_t count, std::size_t bytes,
                  std::function<void(Sink&)> write);

  /// Counts scalars that could not be handed over as dropped, and reports it.
  static void noteLost(SummaryWriter& writer, const std::exception& error,
                       std::size_t count) noexcept;

 private:
  class PlaceSink;
};

}  // namespace steptape::detail
