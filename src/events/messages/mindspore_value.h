// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

#include "steptape/events/event.h"

namespace steptape::detail::events {

/// Decodes a value that MindSpore wrote, if it has a form that TensorFlow's writers never produce.
///
/// MindSpore's event files are framed like TensorBoard's, and its Event, Summary and Image are the
/// same messages, but a Value has other fields. Their wire types or inner fields differ from those
/// with the same numbers in TensorFlow, so that a value tells by itself whose it is.
///
/// | MindSpore | becomes |
/// |---|---|
/// | `scalar_value` | a `simple_value` |
/// | `tensor` | a tensor of floats, whatever its type was, of plugin `tensor` |
/// | `histogram` | a histogram in the tensor form |
/// | `loss_landscape` | the serialized message as a string of plugin `loss_landscape` |
///
/// @param bytes A serialized Summary.Value.
/// @param value Its data and metadata are set on success; its tag is left as it is.
/// @return false if it may be TensorFlow's, or is damaged; `*value` is then unchanged.
/// @source mindspore/train/summary_pb2.py and anf_ir_pb2.py at 2.10
bool decodeMindSporeValue(std::string_view bytes, event::Value* value);

}  // namespace steptape::detail::events
