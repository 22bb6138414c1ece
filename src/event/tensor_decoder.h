// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "steptape/base/status.h"
#include "steptape/event/event.h"
#include "steptape/wire/event.pb.h"

namespace steptape::detail {

/// Takes a tensor with its numbers as little-endian bytes, however the writer stored them.
///
/// A writer may leave out values: the last one given then stands for the rest, and zero where none
/// is given.
///
/// @return kDataLoss if the shape is not one, or if few values stand for a very large tensor.
/// @source tensorflow/core/framework/tensor.proto
Status decodeTensor(const wire::TensorProto& proto, Tensor* tensor);

}  // namespace steptape::detail
