// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>

#include "steptape/events/event.h"

namespace steptape::detail::log {

/// Derives the missing metadata of a value from its form: for scalars, histograms, images, audio,
/// texts, PR curves and custom-scalars layouts.
///
/// A user-defined tensor (plugin `tensor`) of the same form cannot be distinguished from them.
///
/// @source docs/event_file_format.md, the table of plugins
std::optional<event::SummaryMetadata> metadataByForm(const event::Value& value);

}  // namespace steptape::detail::log
