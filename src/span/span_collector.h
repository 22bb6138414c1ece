// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "steptape/base/array_view.h"
#include "steptape/base/export.h"
#include "steptape/span/span_record.h"

namespace steptape {

/// What one thread recorded since the last drain, or a stream of a device did.
struct SpanBatch {
  std::uint64_t threadId;               ///< The system's number of the thread; of the stream.
  std::string threadName;               ///< See setThreadName().
  ArrayView<const SpanRecord> records;  ///< In the order in which the spans ended.
  std::uint64_t dropped;                ///< Spans lost since the last batch of this thread.
  int device = -1;  ///< The device whose stream this is; -1: a thread of the host.
};

/// The one consumer of the spans that all threads of the process record: zones, and whatever else
/// begins and ends spans, such as OpProfiler's hooks.
///
///     recording thread -- 32-byte record --> ring per thread --> drain() on the owner's thread
///
/// A ring is allocated when its thread records for the first time and outlives the thread until it
/// is drained. A full ring drops new records and counts them; it never waits and never grows.
///
/// A span is recorded if it begins and ends while recording is on.
///
/// @threads Not thread-safe: one thread at a time. The recording threads need no care.
class STEPTAPE_EXPORT SpanCollector {
 public:
  static constexpr std::size_t kDefaultRecordsPerThread = std::size_t{1} << 16;

  /// Claims the process's spans; recording is off at first.
  ///
  /// @param recordsPerThread Size of the rings, rounded up to a power of two.
  /// @param zones Whether STEPTAPE_ZONE records as well.
  /// @throws Error(kInvalidArgument) if `recordsPerThread` is 0 or more than 2^26;
  ///         Error(kFailedPrecondition) while another collector exists.
  explicit SpanCollector(std::size_t recordsPerThread = kDefaultRecordsPerThread,
                         bool zones = true);
  ~SpanCollector();
  SpanCollector(const SpanCollector&) = delete;
  SpanCollector& operator=(const SpanCollector&) = delete;

  void startRecording() noexcept;
  void stopRecording() noexcept;
  bool isRecording() const noexcept;

  /// How many records all threads have made since the construction; dropped ones do not count.
  ///
  /// @threads Thread-safe.
  std::uint64_t recordCount() const;

  /// Hands over what every thread has recorded by now, a batch per thread, and frees its space.
  ///
  /// @param sink Called on this thread; the batch's records are valid during the call only.
  /// @cost One copy of the records; never stops a recording thread.
  void drain(const std::function<void(const SpanBatch&)>& sink);

 private:
  std::uint32_t session_;
  bool zones_;
  std::vector<SpanRecord> copy_;
};

}  // namespace steptape
