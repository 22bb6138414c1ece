// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include <ATen/core/Tensor.h>

namespace steptape::detail {

/// What a rank has for a parameter after backward(). Of several ranks' states the greatest holds.
enum class GradientState : std::uint8_t { kNone = 0, kDense = 1, kSparse = 2 };

/// A parameter whose gradient the ranks exchange.
struct GradientSlot {
  std::string name;
  at::Tensor parameter;

  // Its place, once it has one:
  std::size_t array = 0;    ///< Which FlatArray.
  std::int64_t offset = 0;  ///< In elements.
  at::Tensor gradient;      ///< This rank's, in shape and strides of the parameter.
};

GradientState gradientStateOf(const GradientSlot& slot);

/// All parameters of one element type, one after the other, each at the start of a cache line.
struct FlatArray {
  at::ScalarType type;
  std::int64_t elements = 0;
  std::vector<std::size_t> slots;  ///< Ascending by offset.

  std::int64_t elementBytes() const;
  std::size_t bytes() const { return static_cast<std::size_t>(elements * elementBytes()); }
};

/// Gives the slots named by `order` their places, in this order.
std::vector<FlatArray> layOut(std::vector<GradientSlot>& slots,
                              const std::vector<std::size_t>& order);

/// A tensor of the parameter's shape in memory that `owner` keeps. Its strides are the parameter's
/// where those are dense, so that both agree element by element in memory; else row-major.
///
/// Not a view in the sense of autograd, which would forbid what optimizers do: detach_().
at::Tensor tensorIn(void* memory, const at::Tensor& parameter, std::shared_ptr<const void> owner);

/// Whether the parameter's gradient is that in its place, and not a tensor of its own.
bool liesInItsPlace(const GradientSlot& slot);

/// Copies the parameter's gradient to its place, unless it lies there; a sparse one becomes dense,
/// and none zeros.
void moveToItsPlace(const GradientSlot& slot);

/// Makes the slot's place the parameter's gradient.
void showAsGradient(const GradientSlot& slot);

/// Calls `function` with a value of the C++ type, float or double.
template <typename Function>
void withElementType(at::ScalarType type, Function&& function) {
  if (type == at::kFloat) {
    function(0.0F);
  } else {
    function(0.0);
  }
}

}  // namespace steptape::detail
