// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <optional>
#include <string>

#include "steptape/base/export.h"
#include "steptape/log/summary_writer.h"

namespace steptape::detail::log {

/// Scalars of one step in a form of the caller's own, such as an array that a collective has
/// filled. The caller hands over the array, and the writer's thread makes points of it. The file
/// has the same content as with a StepBatch.
class STEPTAPE_EXPORT DeferredScalars {
 public:
  /// Receives the points; only for the writer's thread.
  class Sink {
   public:
    /// @param wallTime Given by the caller, finite. Unset: the time at which the scalars were
    ///                 deferred.
    virtual void add(ScalarTag tag, double value, std::optional<double> wallTime) = 0;
    /// Reports the first message about `subject` through WriterOptions::onError.
    virtual void reportOnce(const std::string& subject, const std::string& what) = 0;

   protected:
    ~Sink() = default;
  };

  /// Defers scalars.
  ///
  /// @param count Number of scalars; as many count as dropped if they must be dropped.
  /// @param bytes Memory that `write` holds.
  /// @param write Called once or never.
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

}  // namespace steptape::detail::log
