// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "steptape/base/export.h"
#include "steptape/events/event.h"

namespace steptape::detail::values {

/// Makes the value that TensorBoard's text page shows.
///
/// @param markdown Rendered as Markdown, with tables; TensorBoard passes only harmless HTML tags.
///                 Invalid UTF-8 becomes U+FFFD, because one ill-formed byte would make TensorBoard
///                 respond with an error for the whole tag.
/// @param metadata Display name and description; this function sets plugin and data class.
/// @shape   A rank-0 DT_STRING tensor.
/// @threads Thread-safe.
/// @source  tensorboard/plugins/text/metadata.py; docs/event_file_format.md.
STEPTAPE_EXPORT event::Value textValue(std::string tag, std::string markdown,
                                       event::SummaryMetadata metadata = {});

/// Copies texts to a table of one column.
///
/// @shape   A (rows) DT_STRING tensor.
/// @throws  Error(kInvalidArgument) if there is no row.
/// @threads Thread-safe.
STEPTAPE_EXPORT event::Tensor textTable(const std::vector<std::string>& rows);
/// Copies texts to a table.
///
/// @param rows Cells; each row has as many as the first.
/// @shape   A (rows, columns) DT_STRING tensor.
/// @throws  Error(kInvalidArgument) if there is no row or the first one is empty, or with the first
///          row whose length differs.
/// @threads Thread-safe.
STEPTAPE_EXPORT event::Tensor textTable(const std::vector<std::vector<std::string>>& rows);

/// Makes the value that TensorBoard's text page shows as a table without a header, with each cell
/// rendered as Markdown.
///
/// @param table    A result of textTable(). Invalid UTF-8 becomes U+FFFD, as in textValue().
/// @param metadata Display name and description; this function sets plugin and data class.
/// @threads Thread-safe.
STEPTAPE_EXPORT event::Value textTableValue(std::string tag, event::Tensor table,
                                            event::SummaryMetadata metadata = {});

/// Writes a Markdown table. Escapes pipes and line breaks in cells, so that every row stays one row
/// with as many columns as the header.
///
/// @param header Titles of the columns; at least one.
/// @param rows   Cells, one per column.
/// @throws  Error(kInvalidArgument) if the header is empty, or with the first row whose length
///          differs from the header's.
/// @threads Thread-safe.
STEPTAPE_EXPORT std::string markdownTable(const std::vector<std::string>& header,
                                          const std::vector<std::vector<std::string>>& rows);

}  // namespace steptape::detail::values
