// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "steptape/events/event.h"

namespace steptape::detail::log {

/// Returns the first text of `event` that is not UTF-8, or null. TensorBoard rejects such an event,
/// as Protocol Buffers requires; decodeEvent() accepts it.
const std::string* findIllFormedText(const event::Event& event);

}  // namespace steptape::detail::log
