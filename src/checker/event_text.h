// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "steptape/event/event.h"

namespace steptape::detail {

/// The first text of `event` that is not UTF-8; null if all are. TensorBoard refuses an event with
/// one, as Protocol Buffers demand, where decodeEvent() takes it as it is.
const std::string* findIllFormedText(const event::Event& event);

}  // namespace steptape::detail
