// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "steptape/base/export.h"
#include "steptape/events/event.h"
#include "steptape/events/plugin_content.h"
#include "steptape/values/value_options.h"

namespace steptape::detail::values {

/// Checks a layout before it is written.
///
/// @throws  Error(kInvalidArgument) if there is no category; or with the first category without a
///          chart, chart without a tag or with both lines and bands, empty tag, or title or tag
///          that is not UTF-8.
/// @threads Thread-safe.
STEPTAPE_EXPORT void checkLayout(const CustomScalarsLayout& layout);

/// Adds `addition` to `*layout`. Charts of an existing category are added to it; the category stays
/// open or closed. A chart replaces the chart with the same title in its category. New categories
/// and charts come last. Repeated titles within `addition` are merged in the same way.
///
/// @threads Thread-safe.
STEPTAPE_EXPORT void mergeLayout(const CustomScalarsLayout& addition, CustomScalarsLayout* layout);

/// Makes the value that TensorBoard's custom-scalars page shows. The page uses the last value of
/// each run, and merges the layouts of all runs.
///
/// @param layout REQUIRES: checkLayout() accepts it.
/// @shape   A rank-0 DT_STRING tensor; the tag is the one that TensorBoard expects.
/// @threads Thread-safe.
/// @source  tensorboard/plugins/custom_scalar/metadata.py; docs/event_file_format.md.
STEPTAPE_EXPORT event::Value customScalarsValue(const CustomScalarsLayout& layout);

}  // namespace steptape::detail::values
