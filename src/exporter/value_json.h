// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "steptape/event/event.h"

#include "exporter/export_run.h"
#include "exporter/media_files.h"

namespace steptape::detail {

/// Appends a value of any plugin as members of a JSON object, such as `"value":[1,2]`. A value that
/// is not what its plugin wants comes as the tensor that it is, and one that is none with the
/// reason.
///
/// @param metadata Its tag's.
/// @param media Where to put images and audio; null: nowhere.
void appendValueJson(const event::Value& value, const event::SummaryMetadata& metadata,
                     MediaFiles* media, ExportText* out);

}  // namespace steptape::detail
