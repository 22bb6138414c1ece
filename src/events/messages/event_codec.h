// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include "steptape/base/export.h"
#include "steptape/base/status.h"
#include "steptape/events/event.h"

namespace steptape::detail::events {

/// Appends the Protocol Buffers encoding of `event` to `*out`.
///
/// @throws  Error(kInvalidArgument) if it would take 2 GiB or more; `*out` is then unchanged.
/// @threads Thread-safe.
/// @cost    Builds one Protocol Buffers message. For scalars, scalar_event_encoder.h is faster.
STEPTAPE_EXPORT void encodeEvent(const event::Event& event, std::string* out);

/// Appends the encoding of a value's metadata; errors and cost as for encodeEvent().
STEPTAPE_EXPORT void encodeMetadata(const event::SummaryMetadata& metadata, std::string* out);

/// Appends the encoding of a tensor; errors and cost as for encodeEvent().
STEPTAPE_EXPORT void encodeTensor(const event::Tensor& tensor, std::string* out);

/// Decodes one record's payload.
///
/// Tensors are returned with their numbers in `content`, in whichever field the writer stored them
/// (`float_val`, `tensor_content`, ...). Unknown fields are skipped.
///
/// @return  kDataLoss if `payload` is not an event, or if it has so many small objects that they
///          would take more than 128 MiB in addition to its bytes; `*event` is then unspecified.
/// @threads Thread-safe.
STEPTAPE_EXPORT Status decodeEvent(std::string_view payload, event::Event* event);

/// Decodes the metadata of a value; errors as for decodeEvent().
STEPTAPE_EXPORT Status decodeMetadata(std::string_view bytes, event::SummaryMetadata* metadata);

}  // namespace steptape::detail::events
