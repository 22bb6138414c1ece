// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
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
  kMin,
  kMax,
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

/// The number of a collective in the state of the process; see KeptGroup.
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

}  // namespace steptape
