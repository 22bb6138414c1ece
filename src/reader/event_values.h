// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <vector>

#include "steptape/base/export.h"
#include "steptape/event/event.h"

namespace steptape::detail {

/// The values of `event` as readers give them: those of its summary; a graph or run metadata is one
/// value, as RunReader::value() describes it, with its plugin.
///
/// A value of the compatible form has the metadata that shows it filled in; one without data and
/// metadata is still there.
STEPTAPE_EXPORT std::vector<event::Value> takeValues(event::Event event);

/// The number that `value` is, if it is one: a `simple_value`, or a tensor of one float or double.
STEPTAPE_EXPORT std::optional<double> numberOf(const event::Value& value);

/// The tensor of rank 0 that holds `number`.
STEPTAPE_EXPORT event::Tensor tensorOf(float number);

/// Whether `value` says or holds nothing.
STEPTAPE_EXPORT bool isEmpty(const event::Value& value);

/// Whether files of this version, such as "brain.Event:2", have restart events.
STEPTAPE_EXPORT bool hasRestarts(const event::FileVersion& version);

}  // namespace steptape::detail
