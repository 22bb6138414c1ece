// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "steptape/base/status.h"
#include "steptape/event/event.h"
#include "steptape/wire/event.pb.h"

namespace steptape::detail {

/// Takes a tensor with its numbers as little-endian bytes, however the writer stored them.
///
/// A writer may leave out values: the last one given then stands for the rest, and zero where none
/// is given.
///
/// @param proto      Large fields are moved out of it.
/// @param repeatable The bytes that left-out values may still take in the event's tensors; a few
///                   bytes of a damaged or hostile file can announce any number of them.
/// @return kDataLoss if the shape is not one, or if left-out values take more than `*repeatable`.
/// @source tensorflow/core/framework/tensor.proto
Status decodeTensor(wire::TensorProto* proto, std::uint64_t* repeatable, event::Tensor* tensor);

}  // namespace steptape::detail
