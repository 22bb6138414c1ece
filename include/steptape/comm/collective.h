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

/// How a reduction combines the ranks' elements.
enum class ReduceOp : std::uint8_t {
  kSum,
  kAverage,  ///< The sum divided by size(); floating-point types only.
  kMin,
  kMax,
  kProduct,
  // Of bool: sum and maximum are "or", product and minimum are "and".
};

/// Contiguous numbers whose type is known at run time; the memory is the caller's.
///
/// Converts from an ArrayView, a std::vector or an array of numbers. float16 and bfloat16 have no
/// C++ type of their own here: give pointer, count and DType.
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

/// What every collective can be told beside its data.
struct CollectiveOptions {
  /// What the operation is called in errors, warnings and traces, such as "gradients of fc1". The
  /// ranks' names must agree; two ranks whose names differ are in different operations.
  std::string name;

  /// Whether the ranks compare what they are in: operation, name, element type, size and order. The
  /// comparison is a small collective before that of the data, which goes along where it is small.
  /// Switch it off only where the data proves it already. Equal on all ranks.
  bool compareRanks = true;
};

namespace detail {

/// A collective that has been started on this rank.
class STEPTAPE_EXPORT PendingCollective {
 public:
  virtual ~PendingCollective();
  /// Moves it on without blocking. @return whether it has ended. @throws as wait().
  virtual bool poll() = 0;
  /// Returns once it has ended. Called once, and not after poll() has returned true or thrown.
  virtual void wait() = 0;
  /// Returns once all ranks are known to have come or it has ended, for a profiler; at once where
  /// the implementation cannot tell. wait() follows. @throws as wait(), which must not follow then.
  virtual void waitForRanks();

  /// As wait(), for a destructor: leaves an error where reportDroppedErrorsTo() said.
  void waitQuietly() noexcept;
  void reportDroppedErrorsTo(std::shared_ptr<std::string> report);

 private:
  std::shared_ptr<std::string> droppedError_;
};

}  // namespace detail

/// A collective on its way, made by the calls of Communicator that end in `Async`.
///
/// Memory that was given to the call belongs to it until isDone() has returned true or wait() has
/// returned. Ranks must start their collectives in the same order, and may wait in any.
///
/// An MPI moves data only while the program is inside of a call of MPI: call isDone() now and then
/// where a long computation runs beside a collective. It moves all collectives of the communicator
/// on, not only this one, and so does every further call of the communicator.
///
/// The destructor waits, and drops an error: the communicator then refuses its next operation and
/// says why. The communicator must live until the handle has ended.
///
/// @threads Not thread-safe: one thread at a time, the communicator's.
class STEPTAPE_EXPORT CollectiveHandle {
 public:
  /// One that has ended.
  CollectiveHandle() = default;
  explicit CollectiveHandle(std::unique_ptr<detail::PendingCollective> pending)
      : pending_(std::move(pending)) {}
  CollectiveHandle(CollectiveHandle&&) noexcept = default;
  CollectiveHandle& operator=(CollectiveHandle&& other) noexcept;
  ~CollectiveHandle();

  /// Whether the collective has ended on this rank. Never blocks.
  ///
  /// @throws as wait().
  bool isDone();

  /// Returns when the collective has ended on this rank; at once if it had.
  ///
  /// @throws Error(kRankMismatch) on every rank if the ranks were in different operations, naming
  ///         rank and operation; Error(kDeadlineExceeded) if a rank does not come in time.
  void wait();

 private:
  void finish() noexcept;

  std::unique_ptr<detail::PendingCollective> pending_;
};

}  // namespace steptape
