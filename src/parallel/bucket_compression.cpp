// SPDX-License-Identifier: Apache-2.0
#include "parallel/bucket_compression.h"

#include <utility>

#include <ATen/ops/empty_like.h>

namespace steptape::detail {
namespace {

at::Tensor travelling(const at::Tensor& memory, Compression compression) {
  const at::ScalarType type = wireTypeOf(compression, memory.scalar_type());
  return type == memory.scalar_type() ? memory
                                      : at::empty_like(memory, memory.options().dtype(type));
}

}  // namespace

at::ScalarType wireTypeOf(Compression compression, at::ScalarType type) {
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

CompressedBucket::CompressedBucket(at::Tensor memory, Compression compression)
    : memory_(std::move(memory)), wire_(travelling(memory_, compression)) {}

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

}  // namespace steptape::detail
