// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstddef>
#include <thread>
#include <unordered_map>
#include <vector>

#include "base/mutex.h"

#include <ATen/core/Tensor.h>
#include <c10/core/Event.h>

namespace steptape::detail::train {

/// Copies tensors to host memory, which the next checkpoint reuses:
///
///     copies.restart();
///     const at::Tensor copy = copies.add(live);  // has memory, but no values yet
///     copies.start();
///     copies.finish();                           // on another thread
///     copies.wait();                             // before the tensors change
///
/// Copies each storage once and completely, as LibTorch saves it. Tensors that share memory have
/// copies that share memory.
///
/// Not thread-safe: one thread at a time. Exception: finish() may run on another thread, but not
/// during add() or restart().
class TensorCopies {
 public:
  TensorCopies() = default;
  TensorCopies(const TensorCopies&) = delete;
  TensorCopies& operator=(const TensorCopies&) = delete;
  ~TensorCopies() { wait(); }

  /// Removes the tensors and keeps the memory of their copies.
  void restart();

  /// Returns a copy with the shape, strides and type of `live`, which must not change before
  /// wait(). A device copies its tensors itself, after the work that the caller's stream has queued
  /// and before what it queues later.
  at::Tensor add(const at::Tensor& live);
  /// The same for a tensor that may change as soon as this call returns.
  at::Tensor addNow(const at::Tensor& live);

  /// Starts to copy on a thread that wait() joins. Its priority is normal, because training soon
  /// waits for it.
  void start();
  /// Waits until the tensors may change. LibTorch's threads help to copy.
  void wait();
  /// Waits until the copies have their values, and releases the tensors.
  void finish();

 private:
  /// Small enough for several threads to share the work.
  struct Piece {
    const char* from;
    char* to;
    std::size_t bytes;
  };
  struct StorageCopy {
    c10::Storage live;  ///< Keeps the memory.
    at::Tensor bytes;
  };
  struct Memory {
    at::Tensor bytes;
    bool isPinned;
  };

  /// Copies the pieces that no other thread has claimed.
  void copyAll();
  void waitForPieces();
  void release();
  at::Tensor add(const at::Tensor& live, bool isCopiedNow);
  at::Tensor newStorageCopy(const at::Tensor& live, bool isCopiedNow);
  const at::Tensor& memoryFor(const at::Tensor& live);
  void addPieces(const at::Tensor& live, const at::Tensor& bytes);
  void copyOnDevice(const at::Tensor& live, const at::Tensor& bytes);

  std::vector<Memory> memory_;  ///< In the order of the storages.
  std::unordered_map<const c10::StorageImpl*, StorageCopy> storages_;
  std::vector<c10::Event> deviceCopies_;

  std::vector<Piece> pieces_;
  std::atomic<std::size_t> claimed_{0};  ///< Pieces that a thread is copying or has copied.
  std::thread copier_;
  base::Mutex mutex_;
  base::CondVar pieceCopied_;
  std::size_t copied_ STEPTAPE_GUARDED_BY(mutex_) = 0;  ///< Pieces.
};

}  // namespace steptape::detail::train
