// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "steptape/values/tensor_view.h"

#include "fuzz/fuzz_input.h"

namespace steptape {

/// A tensor of any rank, element type, shape and strides, in exactly the memory of its elements:
/// the address sanitizer detects every read outside of it.
class FuzzTensor {
 public:
  /// @throws Error(kInvalidArgument) if the shape is invalid.
  explicit FuzzTensor(FuzzInput* input)
      : dtype_(static_cast<DType>(input->below(kTypes))),
        shape_(takeShape(input)),
        strides_(takeStrides(input)),
        memory_(allocate()) {}

  /// Fills the elements from the remaining bytes, which repeat. Call it last.
  TensorView view(FuzzInput* input) {
    const std::string pattern = input->rest();
    for (std::size_t i = 0; i < bytes_ && !pattern.empty(); ++i) {
      memory_[i] = static_cast<std::uint8_t>(pattern[i % pattern.size()]);
    }
    return TensorView(memory_.get() + first_, dtype_, shape_, strides_);
  }

 private:
  static constexpr std::size_t kTypes = static_cast<std::size_t>(DType::kFloat64) + 1;
  static constexpr std::int64_t kMaxElements = 4096;

  /// Returns small sizes, and large ones only if the tensor has no elements or is rejected because
  /// of them.
  static std::vector<std::int64_t> takeShape(FuzzInput* input) {
    constexpr std::int64_t kSizes[] = {0,
                                       1,
                                       2,
                                       3,
                                       4,
                                       5,
                                       9,
                                       17,
                                       64,
                                       255,
                                       1024,
                                       -1,
                                       std::int64_t{1} << 31,
                                       std::numeric_limits<std::int64_t>::max()};
    std::vector<std::int64_t> shape(input->below(7));
    for (std::int64_t& size : shape) {
      size = kSizes[input->below(std::size(kSizes))];
    }
    std::int64_t elements = 1;
    bool refused = false;
    for (const std::int64_t size : shape) {
      refused = __builtin_mul_overflow(elements, size, &elements) || size < 0 || refused;
    }
    for (std::int64_t& size : shape) {
      size = !refused && elements > kMaxElements ? std::min<std::int64_t>(size, 3) : size;
    }
    return shape;
  }

  std::vector<std::int64_t> takeStrides(FuzzInput* input) const {
    if (input->below(2) == 0) {
      return {};
    }
    std::vector<std::int64_t> strides(shape_.size());
    for (std::int64_t& stride : strides) {
      stride = static_cast<std::int64_t>(input->below(24)) - 8;
    }
    return strides;
  }

  std::unique_ptr<std::uint8_t[]> allocate() {
    // Rejects an invalid shape. Only the layout is used, not the memory.
    const TensorView layout(this, dtype_, shape_, strides_);
    std::int64_t lowest = 0;
    std::int64_t highest = layout.numel() > 0 ? 1 : 0;
    for (std::size_t i = 0; i < shape_.size() && layout.numel() > 0; ++i) {
      const std::int64_t reach = (shape_[i] - 1) * layout.strides()[i];
      (reach < 0 ? lowest : highest) += reach;
    }
    const std::size_t elementBytes = dtypeSize(dtype_);
    first_ = static_cast<std::size_t>(-lowest) * elementBytes;
    bytes_ = static_cast<std::size_t>(highest - lowest) * elementBytes;
    return std::make_unique<std::uint8_t[]>(bytes_);
  }

  DType dtype_;
  std::vector<std::int64_t> shape_;
  std::vector<std::int64_t> strides_;
  std::size_t first_ = 0;  // bytes before the element at index 0
  std::size_t bytes_ = 0;
  std::unique_ptr<std::uint8_t[]> memory_;
};

}  // namespace steptape
