// SPDX-License-Identifier: Apache-2.0
#include "train/replicas/gradients/wire_buffer.h"

#include <cstddef>
#include <string>
#include <utility>

#include "base/got_expected.h"
#include "train/replicas/gradients/current_stream.h"

#include <ATen/ops/empty.h>
#include <ATen/ops/empty_like.h>

namespace steptape::detail::train {
namespace {

DType wireTypeOf(at::ScalarType type) {
  const std::optional<DType> wire = averagedType(type);
  if (!wire) {
    base::reject(std::string("type ") + at::toString(type), kAveragedTypes, "gradients");
  }
  return *wire;
}

/// Returns the element type for sending gradients of `type`. Types of 16 bits stay unchanged.
at::ScalarType compressedType(at::ScalarType type, Compression compression) {
  if (c10::elementSize(type) <= 2) {
    return type;
  }
  switch (compression) {
    case Compression::kFp16:
      return at::kHalf;
    case Compression::kBf16:
      return at::kBFloat16;
    case Compression::kNone:
    case Compression::kPowerSgd:
      return type;
  }
  return type;
}

}  // namespace

std::optional<DType> averagedType(at::ScalarType type) {
  switch (type) {
    case at::kFloat:
      return DType::kFloat32;
    case at::kDouble:
      return DType::kFloat64;
    case at::kHalf:
      return DType::kFloat16;
    case at::kBFloat16:
      return DType::kBFloat16;
    default:
      return std::nullopt;
  }
}

at::Tensor wireFor(const at::Tensor& memory, Compression compression) {
  const at::ScalarType type = compressedType(memory.scalar_type(), compression);
  return type == memory.scalar_type() ? memory
                                      : at::empty_like(memory, memory.options().dtype(type));
}

WireBuffer::WireBuffer(at::Tensor tensor) : tensor_(std::move(tensor)), host_(tensor_) {
  if (!tensor_.is_cpu()) {
    // Pinned: otherwise the device's driver copies twice, and synchronously.
    host_ = at::empty(tensor_.sizes(),
                      tensor_.options().device(at::kCPU).pinned_memory(tensor_.is_cuda()));
  }
}

Elements WireBuffer::elements() const {
  return {host_.data_ptr(), static_cast<std::size_t>(host_.numel()),
          wireTypeOf(host_.scalar_type())};
}

void WireBuffer::copyToHost() {
  copy(tensor_, host_);
}

void WireBuffer::copyFromHost() {
  copy(host_, tensor_);
}

void WireBuffer::copy(const at::Tensor& from, const at::Tensor& to) {
  if (from.is_same(to)) {
    return;
  }
  to.copy_(from, /*non_blocking=*/true);
  currentStream(tensor_.device()).synchronize();
}

CompressedBucket::CompressedBucket(at::Tensor memory, Compression compression)
    : memory_(std::move(memory)), wire_(wireFor(memory_, compression)) {}

void CompressedBucket::compress() {
  if (!wire_.tensor().is_same(memory_)) {
    wire_.tensor().copy_(memory_);
  }
  wire_.copyToHost();
}

void CompressedBucket::decompress() {
  wire_.copyFromHost();
  if (!wire_.tensor().is_same(memory_)) {
    memory_.copy_(wire_.tensor());
  }
}

}  // namespace steptape::detail::train
