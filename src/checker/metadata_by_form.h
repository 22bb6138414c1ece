// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>

#include "steptape/event/event.h"

namespace steptape::detail {

/// The metadata that a value without any must have had, as far as its form tells: that of scalars,
/// histograms, images, audio, texts, PR curves and custom-scalars layouts.
///
/// A tensor of the user's own (plugin `tensor`) of such a form cannot be told from them.
///
/// @source docs/event_file_format.md, the table of plugins
std::optional<event::SummaryMetadata> metadataByForm(const event::Value& value);

}  // namespace steptape::detail
