// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "steptape/base/array_view.h"
#include "steptape/base/export.h"
#include "steptape/process/zone.h"

namespace steptape::detail::process {

/// The spans of one thread, or of one device stream, since the last drain.
struct SpanBatch {
  std::uint64_t threadId;               ///< Operating system's thread number, or stream number.
  std::string threadName;               ///< See setThreadName().
  ArrayView<const SpanRecord> records;  ///< In the order in which the spans ended.
  std::uint64_t dropped;                ///< Spans lost since this thread's last batch.
  int device = -1;                      ///< Device of the stream; -1 for a thread of the host.
};

/// Collects the spans that all threads of the process record: zones, and spans of other sources
/// such as OpProfiler's hooks. There is one collector per process.
///
///     recording thread -- 32-byte record --> ring per thread --> drain() on the owner's thread
///
/// A thread's first record allocates its ring, which exists until it is drained after the thread's
/// end. A full ring drops new records and counts them; it never waits and never grows.
///
/// A span is recorded if it begins and ends while recording is on.
///
/// @threads Not thread-safe: one thread at a time. Recording threads need no synchronization.
class STEPTAPE_EXPORT SpanCollector {
 public:
  static constexpr std::size_t kDefaultRecordsPerThread = std::size_t{1} << 16;

  /// Becomes the collector of the process. Recording is off at first.
  ///
  /// @param recordsPerThread Size of the rings, rounded up to a power of two.
  /// @param zones Whether to record STEPTAPE_ZONE.
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

  /// Returns the number of records made since construction, without dropped ones.
  ///
  /// @threads Thread-safe.
  std::uint64_t recordCount() const;

  /// Passes the records of every thread to `sink`, one batch per thread, and frees their space.
  ///
  /// @param sink Called on this thread. The records of a batch are valid only during the call.
  /// @cost One copy of the records; never stops a recording thread.
  void drain(const std::function<void(const SpanBatch&)>& sink);

 private:
  std::uint32_t session_;
  bool zones_;
  std::vector<SpanRecord> copy_;
};

}  // namespace steptape::detail::process
