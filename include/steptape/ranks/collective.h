// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <string>
#include <type_traits>
#include <utility>

#include "steptape/base/array_view.h"
#include "steptape/base/dtype.h"
#include "steptape/base/export.h"

namespace steptape {

/// How a reduction combines the elements of all ranks.
enum class ReduceOp : std::uint8_t {
  kSum,
  kAverage,  ///< The sum divided by size(); floating-point types only.
  kMin,      ///< NaN if one of the numbers is, on all ranks.
  kMax,      ///< Likewise.
  kProduct,
  // For bool, sum and maximum are "or", product and minimum are "and".
};

/// Views contiguous numbers whose type is known at run time. Does not own the memory.
///
/// Converts from an ArrayView, a std::vector or an array of numbers. float16 and bfloat16 have no
/// C++ type here: pass pointer, count and DType.
///
/// @threads Thread-compatible: const methods may run concurrently.
class Elements {
 public:
  Elements(void* data, std::size_t count, DType dtype)
      : data_(data), count_(count), dtype_(dtype) {}
  template <typename T, typename = std::enable_if_t<std::is_arithmetic_v<T>>>
  Elements(ArrayView<T> view)  // NOLINT(google-explicit-constructor)
      : Elements(view.data(), view.size(), dtypeOf<T>()) {}
  template <typename T, std::size_t N, typename = std::enable_if_t<std::is_arithmetic_v<T>>>
  Elements(T (&array)[N])  // NOLINT(google-explicit-constructor)
      : Elements(array, N, dtypeOf<T>()) {}
  template <typename Container,
            typename T = std::remove_pointer_t<decltype(std::declval<Container&>().data())>,
            typename = std::enable_if_t<std::is_arithmetic_v<T> && !std::is_const_v<T>>>
  Elements(Container& container)  // NOLINT(google-explicit-constructor)
      : Elements(ArrayView<T>(container)) {}

  void* data() const { return data_; }
  std::size_t count() const { return count_; }
  DType dtype() const { return dtype_; }
  std::size_t bytes() const { return count_ * dtypeSize(dtype_); }

 private:
  void* data_;
  std::size_t count_;
  DType dtype_;
};

/// Options that every collective takes.
struct CollectiveOptions {
  /// Name of the operation in errors, warnings and traces, such as "gradients of fc1". All ranks
  /// must pass the same name; ranks with different names are in different operations.
  std::string name;

  /// Whether the ranks compare operation, name, element type, size and order before they move data.
  /// The comparison is one small collective; small data travels with it. Set false only if the data
  /// itself proves that the ranks agree. Must be equal on all ranks.
  bool compareRanks = true;
};

namespace detail::ranks {

/// The number of a collective in the state of the process; see GroupState.
struct CollectiveToken {
  std::uint64_t number = 0;  ///< 0: the collective is not kept.
  std::uint32_t group = 0;
  bool comparesRanks = false;  ///< Whether PendingCollective::waitForRanks() can tell.
};

/// A collective that this rank has started.
class STEPTAPE_EXPORT PendingCollective {
 public:
  virtual ~PendingCollective();
  /// Advances the collective without blocking.
  ///
  /// @return whether it has ended.
  /// @throws Error as for wait().
  virtual bool poll() = 0;
  /// Returns once the collective has ended. Called once, and never after poll() returned true or
  /// threw.
  virtual void wait() = 0;
  /// Returns once all ranks are known to have arrived or the collective has ended; immediately if
  /// the implementation cannot tell. A profiler calls it before wait().
  ///
  /// @throws Error as for wait(), which must not be called then.
  virtual void waitForRanks();

  /// Waits as wait() does, for a destructor: stores an error in the string given to
  /// reportDroppedErrorsTo().
  void waitQuietly() noexcept;
  void reportDroppedErrorsTo(std::shared_ptr<std::string> report);

  /// Makes the object keep the state of the process up to date until it is destroyed.
  void keep(const CollectiveToken& token) { token_ = token; }
  /// Like poll() and wait(), and keep the state of the process up to date.
  bool pollKept();
  void waitKept();

 private:
  CollectiveToken token_;
  std::shared_ptr<std::string> droppedError_;
};

}  // namespace detail::ranks

/// A collective in flight, returned by the calls of Communicator that end in `Async`.
///
/// The caller must not touch the memory passed to the call until isDone() has returned true or
/// wait() has returned. Ranks must start their collectives in the same order and may wait for them
/// in any order.
///
/// MPI libraries move data only while the program is inside an MPI call: call isDone() from time to
/// time if a long computation runs during a collective. It advances all collectives of the
/// communicator, and so does every other call of the communicator.
///
/// The destructor waits and discards an error; the next operation of the communicator then fails
/// and reports that error. The communicator must outlive the collective.
///
/// @threads Not thread-safe: only the communicator's thread, one at a time.
class STEPTAPE_EXPORT CollectiveHandle {
 public:
  /// Makes a handle whose collective has ended.
  CollectiveHandle() = default;
  explicit CollectiveHandle(std::unique_ptr<detail::ranks::PendingCollective> pending)
      : pending_(std::move(pending)) {}
  CollectiveHandle(CollectiveHandle&&) noexcept = default;
  CollectiveHandle& operator=(CollectiveHandle&& other) noexcept;
  ~CollectiveHandle();

  /// Returns whether the collective has ended on this rank. Never blocks.
  ///
  /// @throws Error as for wait().
  bool isDone();

  /// Blocks until the collective has ended on this rank.
  ///
  /// @throws Error(kRankMismatch) on every rank if the ranks were in different operations, naming
  ///         rank and operation; Error(kDeadlineExceeded) if a rank does not arrive in time.
  void wait();

 private:
  void finish() noexcept;

  std::unique_ptr<detail::ranks::PendingCollective> pending_;
};

/// Summarizes a metric's values on several ranks: weighted mean, standard deviation, minimum,
/// maximum, and the rank with the maximum. A monoid under merge(), so one allreduce combines all
/// metrics of a step.
///
/// A default-constructed object is the neutral element: no rank had a value.
///
/// NaN propagates: one NaN makes mean, std, min and max NaN, and `maxRank` is the lowest rank that
/// had a NaN. Infinities propagate in the same way.
///
/// @threads Thread-compatible: const methods may run concurrently.
struct STEPTAPE_EXPORT MetricMoments {
  double weight = 0;       ///< Sum of weights; 0: no rank had a value.
  double weightedSum = 0;  ///< Sum of weight * value.
  /// Sum of weight * (value - mean())^2. Kept about the mean, because the difference of two sums of
  /// squares loses all digits if the spread is small compared with the mean.
  double squaredDeviations = 0;
  double min = std::numeric_limits<double>::infinity();
  double max = -std::numeric_limits<double>::infinity();
  double maxRank = -1;  ///< Lowest rank with `max`; a double, as all members, for MPI.

  /// Returns the moments of one value on one rank. Weight 0: the rank has no value.
  ///
  /// @param value  The rank's value.
  /// @param weight Weight of the value, such as its number of samples; finite and >= 0.
  /// @param rank   The rank that had the value.
  static MetricMoments of(double value, double weight, int rank);

  /// Adds the values of `other`, which must be other values than those in this object. Commutative
  /// to the last bit; associative up to rounding.
  ///
  /// @source Chan, Golub, LeVeque 1979, "Updating Formulae and a Pairwise Algorithm for Computing
  ///         Sample Variances", equation 1.5, with weights for counts.
  void merge(const MetricMoments& other);

  /// Returns the weighted mean; NaN if no rank had a value.
  double mean() const { return weightedSum / weight; }

  /// Returns the population standard deviation of the weighted values; NaN if no rank had a value.
  double std() const;
};

/// A block of memory that all ranks of one node share, each at an address of its own.
///
/// Made by Communicator::allocateNodeMemory(). The rules for threads apply between ranks: separate
/// a write from a read on another rank by std::atomic flags in the block or by a NodeBarrier. With
/// n ranks on the node, the r-th of n equal parts lies in the NUMA domain of local rank r.
///
/// The block lives until the last rank destroys its object; destruction is not collective.
///
/// @threads Thread-compatible: const methods may run concurrently.
class STEPTAPE_EXPORT NodeMemory {
 public:
  NodeMemory(const NodeMemory&) = delete;
  NodeMemory& operator=(const NodeMemory&) = delete;
  virtual ~NodeMemory();

  /// Returns the block: page-aligned, filled with zeros at first.
  std::byte* data() const { return data_; }
  std::size_t size() const { return size_; }

  /// Throws if a rank of the node has ended or has destroyed its object. For loops that wait for
  /// another rank's write. A rank may end right after it has written, so look once more for the
  /// write before you give up.
  ///
  /// @throws Error(kDeadlineExceeded) naming the rank.
  /// @cost   One system call per rank: call it every few milliseconds.
  virtual void checkPeers() const;

  /// Reports that a wait of the caller's own has given up on a rank. A communicator over MPI then
  /// ends the job with the reason `why` where MPI_Finalize would wait for that rank.
  virtual void reportGivenUp(const std::string& why);

  /// Returns a name for messages, such as "rank 3 (node7)".
  virtual std::string nameOfLocalRank(int localRank) const;

  /// Returns the communicator's stall warning time as it was at allocation, for waits of the
  /// caller's own; 0: never warn. warnOfStall() passes a warning to the communicator's listener.
  std::chrono::milliseconds stallWarningAfter() const { return stallWarningAfter_; }
  void warnOfStall(const std::string& warning) const { stallListener_(warning); }

 protected:
  NodeMemory(std::byte* data, std::size_t size) : data_(data), size_(size) {}

 private:
  friend class Communicator;

  std::byte* data_;
  std::size_t size_;
  std::chrono::milliseconds stallWarningAfter_{0};
  std::function<void(const std::string&)> stallListener_;  // Set where there is a time.
};

}  // namespace steptape
