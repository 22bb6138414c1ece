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
///                 pass. What is not UTF-8 becomes U+FFFD: a single ill-formed byte would make
///                 TensorBoard answer with an error for the whole tag.
/// @param metadata Display name and description; plugin and data class are set here.
/// @shape   The tensor is rank 0, DT_STRING.
/// @threads Thread-safe.
/// @source  tensorboard/plugins/text/metadata.py; docs/event_file_format.md.
STEPTAPE_EXPORT event::Value textValue(std::string tag, std::string markdown,
                                       event::SummaryMetadata metadata = {});

/// Copies texts to a table of one column.
///
/// @shape   The tensor is (rows), DT_STRING.
/// @throws  Error(kInvalidArgument) if there is no row.
/// @threads Thread-safe.
STEPTAPE_EXPORT event::Tensor textTable(const std::vector<std::string>& rows);
/// Copies texts to a table.
///
/// @param rows Cells, in each row as many as in the first.
/// @shape   The tensor is (rows, columns), DT_STRING.
/// @throws  Error(kInvalidArgument) if there is no row or the first one is empty, or naming the
///          first row whose length differs from it.
/// @threads Thread-safe.
STEPTAPE_EXPORT event::Tensor textTable(const std::vector<std::vector<std::string>>& rows);

/// Makes the value that TensorBoard's text page shows as a table without a header, each cell
/// rendered as Markdown.
///
/// @param table    What textTable() made. What is not UTF-8 becomes U+FFFD, as in textValue().
/// @param metadata Display name and description; plugin and data class are set here.
/// @threads Thread-safe.
STEPTAPE_EXPORT event::Value textTableValue(std::string tag, event::Tensor table,
                                            event::SummaryMetadata metadata = {});

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
