// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "steptape/base/status.h"
#include "steptape/events/event.h"
#include "steptape/wire/event.pb.h"

namespace steptape::detail::events {

/// Converts a tensor's numbers to little-endian bytes, in whichever field the writer stored them.
///
/// A writer may omit values: the last value is then repeated, or zero if there is none. A tensor of
/// one element without a value gets empty content.
///
/// @param proto      Large fields are moved out of it.
/// @param repeatable Bytes that omitted values of the event's tensors may still take; a few bytes
///                   of a damaged or hostile file can announce any number of values.
/// @return kDataLoss if the shape is invalid, or if omitted values take more than `*repeatable`.
/// @source tensorflow/core/framework/tensor.proto
Status decodeTensor(wire::TensorProto* proto, std::uint64_t* repeatable, event::Tensor* tensor);

}  // namespace steptape::detail::events
