// SPDX-License-Identifier: Apache-2.0
#include "steptape/summary/text.h"

#include <utility>

#include "steptape/base/error.h"
#include "steptape/event/plugin_data.h"

namespace steptape {
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

}  // namespace

Value textValue(std::string tag, std::string markdown, SummaryMetadata metadata) {
  metadata.pluginName = kTextPlugin;
  metadata.pluginContent.clear();
  metadata.dataClass = DataClass::kTensor;
  Tensor tensor;
  tensor.type = TensorType::kString;
  tensor.strings.push_back(std::move(markdown));
  return {std::move(tag), std::move(tensor), std::move(metadata)};
}

std::string markdownTable(const std::vector<std::string>& header,
                          const std::vector<std::vector<std::string>>& rows) {
  if (header.empty()) {
    throw Error(ErrorCode::kInvalidArgument, "table: the header is empty, wanted a title a column");
  }
  std::string table;
  appendRow(header, &table);
  appendRow(std::vector<std::string>(header.size(), "---"), &table);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (rows[i].size() != header.size()) {
      throw Error(ErrorCode::kInvalidArgument,
                  "table: row " + std::to_string(i) + " has " + std::to_string(rows[i].size()) +
                      " cells, wanted " + std::to_string(header.size()));
    }
    appendRow(rows[i], &table);
  }
  return table;
}

}  // namespace steptape
