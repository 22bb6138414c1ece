// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include <ATen/core/Tensor.h>

namespace steptape::detail::train {

/// The gradient of a parameter after backward(). Of several ranks' states, the largest one counts.
enum class GradientState : std::uint8_t { kNone = 0, kDense = 1, kSparse = 2 };

/// A parameter whose gradient the ranks exchange.
struct GradientSlot {
  std::string name;
  at::Tensor parameter;

  // Its memory, once assigned:
  std::size_t array = 0;    ///< Which FlatArray.
  std::int64_t offset = 0;  ///< In elements.
  at::Tensor gradient;      ///< This rank's, with the shape and strides of the parameter.
};

GradientState gradientStateOf(const GradientSlot& slot);

/// All parameters of one element type in sequence, each at the start of a cache line.
struct FlatArray {
  at::ScalarType type;
  std::int64_t elements = 0;
  std::vector<std::size_t> slots;  ///< Ascending by offset.

  std::int64_t elementBytes() const;
  std::size_t bytes() const { return static_cast<std::size_t>(elements * elementBytes()); }
};

/// Assigns memory to the slots listed in `order`, in this order.
std::vector<FlatArray> layOut(std::vector<GradientSlot>& slots,
                              const std::vector<std::size_t>& order);

/// Returns a tensor of the parameter's shape in memory that `owner` keeps alive. If the parameter's
/// strides are dense, the tensor has the same strides, so that both agree element by element in
/// memory; else it is row-major.
///
/// It is not a view in autograd's sense, which would forbid operations of optimizers such as
/// detach_().
at::Tensor tensorIn(void* memory, const at::Tensor& parameter, std::shared_ptr<const void> owner);

/// Returns whether the parameter's gradient is in the slot's memory, not a separate tensor.
bool liesInItsPlace(const GradientSlot& slot);

/// Copies the parameter's gradient to the slot's memory, unless it is there; a sparse gradient
/// becomes dense, and a missing one zeros.
void moveToItsPlace(const GradientSlot& slot);

/// Makes the slot's memory the parameter's gradient.
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

}  // namespace steptape::detail::train
