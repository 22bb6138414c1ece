// SPDX-License-Identifier: Apache-2.0
// Fuzzes texts and tables of any bytes, encoded as an event and decoded.
#include <algorithm>
#include <string>
#include <vector>

#include "steptape/base/status.h"

#include "base/utf8.h"
#include "events/messages/event_codec.h"
#include "fuzz/fuzz_input.h"
#include "values/kinds/text.h"

namespace steptape {
namespace {

event::Tensor throughAnEvent(const event::Value& value) {
  event::Event event;
  event.wallTime = 1;
  event.what = event::Summary{{value}};
  std::string payload;
  detail::events::encodeEvent(event, &payload);
  event::Event decoded;
  require(detail::events::decodeEvent(payload, &decoded).ok(), "an encoded event decodes");
  const event::Value& back = std::get<event::Summary>(decoded.what).values.at(0);
  require(back.tag == value.tag, "a tag comes back");
  require(back.metadata->pluginName == "text", "the plugin comes back");
  return std::get<event::Tensor>(back.data);
}

std::vector<std::string> repaired(std::vector<std::string> texts) {
  for (std::string& text : texts) {
    text = detail::base::replaceInvalidUtf8(text);
  }
  return texts;
}

void tryText(const std::string& text) {
  const event::Tensor tensor = throughAnEvent(detail::values::textValue("tag", text));
  require(tensor.shape.empty(), "a text has rank 0");
  require(tensor.strings == repaired({text}), "a text comes back");
}

void tryTable(const std::vector<std::vector<std::string>>& rows) {
  event::Tensor table;
  try {
    table = detail::values::textTable(rows);
  } catch (const Error&) {
    return;  // ragged or empty
  }
  std::vector<std::string> cells;
  for (const auto& row : rows) {
    cells.insert(cells.end(), row.begin(), row.end());
  }
  const event::Tensor tensor = throughAnEvent(detail::values::textTableValue("tag", table));
  const auto rowCount = static_cast<std::int64_t>(rows.size());
  const auto columnCount = static_cast<std::int64_t>(rows.front().size());
  require(tensor.shape == std::vector<std::int64_t>{rowCount, columnCount},
          "a table has a row of cells for each row");
  require(tensor.strings == repaired(cells), "cells come back");
}

void tryMarkdown(const std::vector<std::vector<std::string>>& rows) {
  if (rows.empty()) {
    return;
  }
  try {
    const std::string markdown =
        detail::values::markdownTable(rows.front(), {rows.begin() + 1, rows.end()});
    const auto lines = std::count(markdown.begin(), markdown.end(), '\n');
    require(lines == static_cast<std::ptrdiff_t>(rows.size()) + 1, "a row is a line");
  } catch (const Error&) {
    // As above.
  }
}

/// Takes the shape first: the number of columns and of rows, and the number of cells missing in the
/// last row.
std::vector<std::vector<std::string>> takeRows(FuzzInput* input) {
  const std::size_t columns = input->below(5);
  std::vector<std::vector<std::string>> rows(input->below(6), std::vector<std::string>(columns));
  const std::size_t missing = input->below(4) == 3 ? 1 : 0;
  if (!rows.empty() && columns >= missing) {
    rows.back().resize(columns - missing);
  }
  for (auto& row : rows) {
    for (std::string& cell : row) {
      cell = input->text();
    }
  }
  return rows;
}

}  // namespace
}  // namespace steptape

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  steptape::FuzzInput input(data, size);
  const auto rows = steptape::takeRows(&input);
  steptape::tryTable(rows);
  steptape::tryMarkdown(rows);
  steptape::tryText(input.rest());
  return 0;
}
