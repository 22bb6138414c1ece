// SPDX-License-Identifier: Apache-2.0
#include "values/kinds/text.h"

#include <utility>

#include "steptape/events/plugin_content.h"

#include "base/utf8.h"
#include "values/kinds/reject.h"

namespace steptape::detail::values {
namespace {

void appendCell(const std::string& cell, std::string* out) {
  *out += ' ';
  for (std::size_t i = 0; i < cell.size(); ++i) {
    const char c = cell[i];
    if (c == '|') {
      *out += "\\|";
    } else if (c == '\n') {
      *out += "<br>";
    } else if (c != '\r') {
      *out += c;
    }
  }
  *out += " |";
}

void appendRow(const std::vector<std::string>& cells, std::string* out) {
  *out += '|';
  for (const std::string& cell : cells) {
    appendCell(cell, out);
  }
  *out += '\n';
}

void checkRow(const std::vector<std::vector<std::string>>& rows, std::size_t i,
              std::size_t columns) {
  if (rows[i].size() != columns) {
    base::reject(std::to_string(rows[i].size()) + " cells in row " + std::to_string(i),
                 std::to_string(columns));
  }
}

event::Tensor stringTensor(std::vector<std::int64_t> shape, std::vector<std::string> strings) {
  event::Tensor tensor;
  tensor.type = event::TensorType::kString;
  tensor.shape = std::move(shape);
  tensor.strings = std::move(strings);
  return tensor;
}

}  // namespace

event::Value textValue(std::string tag, std::string markdown, event::SummaryMetadata metadata) {
  return textTableValue(std::move(tag), stringTensor({}, {std::move(markdown)}),
                        std::move(metadata));
}

event::Tensor textTable(const std::vector<std::string>& rows) {
  if (rows.empty()) {
    base::reject("no rows", "at least one");
  }
  return stringTensor({static_cast<std::int64_t>(rows.size())}, rows);
}

event::Tensor textTable(const std::vector<std::vector<std::string>>& rows) {
  if (rows.empty() || rows[0].empty()) {
    base::reject(rows.empty() ? "no rows" : "no cells in row 0", "at least one");
  }
  const std::size_t columns = rows[0].size();
  std::vector<std::string> cells;
  cells.reserve(rows.size() * columns);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    checkRow(rows, i, columns);
    cells.insert(cells.end(), rows[i].begin(), rows[i].end());
  }
  return stringTensor({static_cast<std::int64_t>(rows.size()), static_cast<std::int64_t>(columns)},
                      std::move(cells));
}

event::Value textTableValue(std::string tag, event::Tensor table, event::SummaryMetadata metadata) {
  metadata.pluginName = event::kTextPlugin;
  metadata.pluginContent.clear();
  metadata.dataClass = event::DataClass::kTensor;
  for (std::string& text : table.strings) {
    if (!base::isValidUtf8(text)) {
      text = base::replaceInvalidUtf8(text);
    }
  }
  return {std::move(tag), std::move(table), std::move(metadata)};
}

std::string markdownTable(const std::vector<std::string>& header,
                          const std::vector<std::vector<std::string>>& rows) {
  if (header.empty()) {
    base::reject("an empty header", "a title per column");
  }
  std::string table;
  appendRow(header, &table);
  appendRow(std::vector<std::string>(header.size(), "---"), &table);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    checkRow(rows, i, header.size());
    appendRow(rows[i], &table);
  }
  return table;
}

}  // namespace steptape::detail::values
