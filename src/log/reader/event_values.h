// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <vector>

#include "steptape/base/export.h"
#include "steptape/events/event.h"

namespace steptape::detail::log {

/// Returns the values of `event` as readers see them: those of its summary. A graph or run metadata
/// is one value with its plugin, as documented at RunReader::value().
///
/// Values of the compatible form get the metadata that the form implies. Values without data and
/// metadata are kept.
STEPTAPE_EXPORT std::vector<event::Value> takeValues(event::Event event);

/// Returns the number in `value`: a `simple_value`, or the element of a tensor that holds one
/// number or Boolean of any type and shape. Else nothing, also for a tensor without a value.
///
/// It is exact, except for integers beyond 2^53: see isRounded().
STEPTAPE_EXPORT std::optional<double> numberOf(const event::Value& value);

/// Returns whether numberOf() rounds the number in `value`: an integer of 64 bits that no double
/// equals.
STEPTAPE_EXPORT bool isRounded(const event::Value& value);

/// Returns a rank-0 tensor with `number`.
STEPTAPE_EXPORT event::Tensor tensorOf(float number);

/// Returns whether `value` has neither data nor metadata.
STEPTAPE_EXPORT bool isEmpty(const event::Value& value);

/// Returns whether files of this version, such as "brain.Event:2", have restart events.
STEPTAPE_EXPORT bool hasRestarts(const event::FileVersion& version);

}  // namespace steptape::detail::log
