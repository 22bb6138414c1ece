// SPDX-License-Identifier: Apache-2.0
#include "train/checkpoint/tensor_copies.h"

#include <algorithm>
#include <chrono>
#include <pthread.h>
#include <system_error>
#include <thread>

#include "steptape/process/zone.h"

#include "base/streaming_copy.h"

#include <ATen/Parallel.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/empty.h>
#include <c10/core/impl/VirtualGuardImpl.h>

namespace steptape::detail::train {
namespace {

constexpr std::size_t kPieceBytes = 1 << 20;

/// Other tensors (sparse, quantized) are rare and small.
bool hasPlainStorage(const at::Tensor& tensor) {
  return tensor.layout() == at::kStrided && !tensor.is_quantized() && tensor.has_storage() &&
         (tensor.is_cpu() || c10::impl::hasDeviceGuardImpl(tensor.device().type()));
}

/// Returns the whole storage of `tensor` as bytes.
at::Tensor bytesOf(const at::Tensor& tensor) {
  const auto size = static_cast<std::int64_t>(tensor.storage().nbytes());
  return at::empty({0}, tensor.options().dtype(at::kByte).requires_grad(false))
      .set_(tensor.storage(), 0, {size}, {1});
}

/// Polls, because LibTorch before 2.4 has no device-independent way to block on an event.
void waitFor(const c10::Event& event) {
  constexpr auto kPause = std::chrono::milliseconds(1);
  while (!event.query()) {
    std::this_thread::sleep_for(kPause);
  }
}

}  // namespace

void TensorCopies::restart() {
  wait();
  release();
  pieces_.clear();
  claimed_.store(0, std::memory_order_relaxed);
  const base::MutexLock lock(mutex_);
  copied_ = 0;
}

at::Tensor TensorCopies::add(const at::Tensor& live) {
  return add(live, false);
}

at::Tensor TensorCopies::addNow(const at::Tensor& live) {
  return add(live, true);
}

at::Tensor TensorCopies::add(const at::Tensor& live, bool isCopiedNow) {
  const at::NoGradGuard noGrad;
  if (!hasPlainStorage(live)) {
    return live.detach().cpu().clone().set_requires_grad(live.requires_grad());
  }
  StorageCopy& known = storages_[live.storage().unsafeGetStorageImpl()];
  if (!known.bytes.defined()) {
    known = {live.storage(), newStorageCopy(live, isCopiedNow)};
  }
  return at::empty({0}, live.options().device(at::kCPU).requires_grad(false))
      .set_(known.bytes.storage(), live.storage_offset(), live.sizes(), live.strides())
      .set_requires_grad(live.requires_grad());
}

at::Tensor TensorCopies::newStorageCopy(const at::Tensor& live, bool isCopiedNow) {
  const at::Tensor& bytes = memoryFor(live);
  if (!live.is_cpu()) {
    copyOnDevice(live, bytes);
  } else if (isCopiedNow) {
    bytes.copy_(bytesOf(live));
  } else {
    addPieces(live, bytes);
  }
  return bytes;
}

const at::Tensor& TensorCopies::memoryFor(const at::Tensor& live) {
  const std::size_t index = storages_.size() - 1;
  memory_.resize(std::max(memory_.size(), index + 1));
  Memory& memory = memory_[index];
  const std::size_t size = live.storage().nbytes();
  const bool isPinned = live.is_cuda();  // A driver copies pageable memory twice.
  if (!memory.bytes.defined() || memory.bytes.nbytes() != size || memory.isPinned != isPinned) {
    memory = {at::empty({static_cast<std::int64_t>(size)},
                        at::TensorOptions(at::kByte).pinned_memory(isPinned)),
              isPinned};
  }
  return memory.bytes;
}

void TensorCopies::addPieces(const at::Tensor& live, const at::Tensor& bytes) {
  const auto* const from = static_cast<const char*>(live.storage().data());
  auto* const to = static_cast<char*>(bytes.data_ptr());
  const std::size_t size = bytes.nbytes();
  for (std::size_t at = 0; at < size; at += kPieceBytes) {
    pieces_.push_back({from + at, to + at, std::min(kPieceBytes, size - at)});
  }
}

void TensorCopies::copyOnDevice(const at::Tensor& live, const at::Tensor& bytes) {
  bytes.copy_(bytesOf(live), /*non_blocking=*/true);
  const c10::DeviceType type = live.device().type();
  deviceCopies_.emplace_back(type);
  deviceCopies_.back().record(c10::impl::VirtualGuardImpl(type).getStream(live.device()));
}

void TensorCopies::copyAll() {
  while (true) {
    const std::size_t index = claimed_.fetch_add(1, std::memory_order_relaxed);
    if (index >= pieces_.size()) {
      return;
    }
    const Piece& piece = pieces_[index];
    base::streamingCopy(piece.to, piece.from, piece.bytes);
    const base::MutexLock lock(mutex_);
    ++copied_;
    pieceCopied_.notifyAll();
  }
}

void TensorCopies::start() {
  if (pieces_.empty()) {
    return;
  }
  try {
    copier_ = std::thread([this] {
      STEPTAPE_ZONE("checkpoint/copy");
      pthread_setname_np(pthread_self(), "steptape-copy");
      copyAll();
    });
  } catch (const std::system_error&) {
    // Without another thread, finish() and wait() copy.
  }
}

void TensorCopies::finish() {
  copyAll();
  waitForPieces();
  for (const c10::Event& event : deviceCopies_) {
    waitFor(event);
  }
  release();
}

void TensorCopies::wait() {
  if (claimed_.load(std::memory_order_relaxed) < pieces_.size()) {
    at::parallel_for(0, at::get_num_threads(), 1,
                     [this](std::int64_t /*begin*/, std::int64_t /*end*/) { copyAll(); });
  }
  waitForPieces();
  if (copier_.joinable()) {
    copier_.join();
  }
}

void TensorCopies::waitForPieces() {
  constexpr std::chrono::seconds kLook{10};
  const base::MutexLock lock(mutex_);
  while (copied_ < pieces_.size()) {
    pieceCopied_.waitUntil(mutex_, std::chrono::steady_clock::now() + kLook);
  }
}

void TensorCopies::release() {
  storages_.clear();
  deviceCopies_.clear();
}

}  // namespace steptape::detail::train
