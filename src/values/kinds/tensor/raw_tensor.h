// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "steptape/base/export.h"
#include "steptape/events/event.h"
#include "steptape/values/tensor_view.h"

namespace steptape::detail::values {

/// Returns TensorFlow's name for a view's element type.
///
/// @threads Thread-safe.
/// @source  tensorflow/core/framework/types.proto
STEPTAPE_EXPORT event::TensorType tensorTypeOf(DType dtype) noexcept;

/// Checks everything that does not depend on the elements' values.
///
/// @throws  Error(kInvalidArgument) with shape and bytes if the tensor does not fit into a record,
///          which is less than 2 GiB.
/// @threads Thread-safe.
/// @cost    Reads no element.
STEPTAPE_EXPORT void checkRawTensor(const TensorView& view);

/// Copies the elements' bytes in row-major order.
///
/// @shape   Any, also rank 0 and empty ones; any strides.
/// @throws  Error(kInvalidArgument) as checkRawTensor().
/// @threads Thread-safe.
/// @cost    One pass and one allocation; a memcpy if the view is contiguous.
STEPTAPE_EXPORT event::Tensor rawTensor(const TensorView& view);

/// Makes a value of the plugin `tensor`, the name that torch.utils.tensorboard uses for tensors. No
/// page of TensorBoard shows it; readers of the event file find it.
///
/// @param metadata Display name and description; this function sets plugin and data class.
/// @threads Thread-safe.
/// @source  torch/utils/tensorboard/summary.py at 2.13; docs/event_file_format.md.
STEPTAPE_EXPORT event::Value tensorValue(std::string tag, event::Tensor tensor,
                                         event::SummaryMetadata metadata = {});

}  // namespace steptape::detail::values
