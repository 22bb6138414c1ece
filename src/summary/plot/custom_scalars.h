// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "steptape/base/export.h"
#include "steptape/event/custom_scalars_layout.h"
#include "steptape/event/event.h"
#include "steptape/summary/value_options.h"

namespace steptape {

/// Checks a layout before it reaches a file.
///
/// @throws Error(kInvalidArgument) if there is no category, or naming the first category without
///         a chart, chart without a tag or with both lines and bands, empty tag, or title or tag
///         that is not UTF-8.
/// @threads Thread-safe.
STEPTAPE_EXPORT void checkLayout(const CustomScalarsLayout& layout);

/// Adds `addition` to `*layout`: charts of a category that `*layout` has are added to that
/// category, which stays open or closed as it is, and a chart replaces the one of equal title in
/// it. What is new comes last. A category or chart whose title occurs twice in `addition` is
/// treated in the same way.
///
/// @threads Thread-safe.
STEPTAPE_EXPORT void mergeLayout(const CustomScalarsLayout& addition, CustomScalarsLayout* layout);

/// Makes the value that TensorBoard's custom-scalars page shows: of each run the last one, of all
/// runs together.
///
/// @param layout REQUIRES: checkLayout() accepts it.
/// @shape   The tensor is rank 0, DT_STRING; the tag is the one that TensorBoard looks for.
/// @threads Thread-safe.
/// @source  tensorboard/plugins/custom_scalar/metadata.py; docs/event_file_format.md.
STEPTAPE_EXPORT event::Value customScalarsValue(const CustomScalarsLayout& layout);

}  // namespace steptape
