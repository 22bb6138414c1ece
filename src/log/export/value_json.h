// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "steptape/events/event.h"

#include "log/export/export_run.h"
#include "log/export/media_files.h"

namespace steptape::detail::log {

/// Appends a value of any plugin as members of a JSON object, such as `"value":[1,2]`. A value that
/// does not have its plugin's form is written as a tensor; if it is not a tensor either, the reason
/// is written.
///
/// @param metadata Metadata of the value's tag.
/// @param media    Destination of images and audio; null: omit them.
void appendValueJson(const event::Value& value, const event::SummaryMetadata& metadata,
                     MediaFiles* media, ExportText* out);

}  // namespace steptape::detail::log
