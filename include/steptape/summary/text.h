// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "steptape/base/export.h"
#include "steptape/event/event.h"

namespace steptape {

/// Makes the value that TensorBoard's text page shows.
///
/// @param markdown Rendered as Markdown, with tables; of HTML TensorBoard lets only harmless tags
/// pass.
/// @param metadata Display name and description; plugin and data class are set here.
/// @shape   The tensor is rank 0, DT_STRING.
/// @threads Thread-safe.
/// @source  tensorboard/plugins/text/metadata.py; docs/event_file_format.md.
STEPTAPE_EXPORT Value textValue(std::string tag, std::string markdown,
                                SummaryMetadata metadata = {});

/// Writes a table in Markdown. Pipes and line breaks within a cell are escaped, so that every row
/// stays one row of as many columns as the header.
///
/// @param header The columns' titles; at least one.
/// @param rows   Cells, one per column.
/// @throws  Error(kInvalidArgument) if the header is empty, or naming the first row whose length
///          differs from the header's.
/// @threads Thread-safe.
STEPTAPE_EXPORT std::string markdownTable(const std::vector<std::string>& header,
                                          const std::vector<std::vector<std::string>>& rows);

}  // namespace steptape
