// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <numeric>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "steptape/base/json.h"
#include "steptape/exporter/export.h"

#include "base/utf8.h"
#include "exporter/export_run.h"
#include "exporter/row_sorter.h"

namespace steptape {
namespace {

constexpr std::size_t kMaxCells = (std::size_t{32} << 20) / sizeof(detail::Cell);

std::string csvField(std::string_view field) {
  std::string text = replaceInvalidUtf8(field);
  if (text.find_first_of(",\"\r\n") == std::string::npos) {
    return text;
  }
  std::string quoted = "\"";
  for (const char c : text) {
    quoted.append(c == '"' ? 2 : 1, c);
  }
  return quoted + '"';
}

void appendCsvNumber(double value, std::string* out) {
  if (std::isnan(value)) {
    *out += "nan";
  } else if (std::isinf(value)) {
    *out += value > 0 ? "inf" : "-inf";
  } else {
    appendJsonNumber(out, value);
  }
}

class LongFormat : public detail::ExportFormat {
 public:
  explicit LongFormat(const ExportSink& sink) : out_(sink) {
    out_.text() = "run,tag,step,wall_time,value\n";
  }

  void beginRun(const RunFiles& run, const std::vector<RunTag>& tags) override {
    beginnings_.clear();
    for (const RunTag& tag : tags) {
      beginnings_.push_back(csvField(run.directory) + "," + csvField(tag.name) + ",");
    }
  }

  bool take(const RunValue& value) override {
    if (value.data != nullptr) {
      return false;
    }
    std::string& text = out_.text();
    text += beginnings_[value.tag];
    appendJsonInteger(&text, value.step);
    text += ',';
    appendCsvNumber(value.wallTime, &text);
    text += ',';
    appendCsvNumber(value.scalar, &text);
    text += '\n';
    out_.flushIfLong();
    return true;
  }

  void finish() { out_.flush(); }

 private:
  detail::ExportText out_;
  std::vector<std::string> beginnings_;  // start of each tag's lines
};

/// Sorts scalars into rows.
class WideFormat : public detail::ExportFormat {
 public:
  WideFormat(detail::RowSorter* sorter, bool namesRuns) : sorter_(sorter), namesRuns_(namesRuns) {}

  void beginRun(const RunFiles& run, const std::vector<RunTag>& tags) override {
    prefix_ = namesRuns_ ? run.directory + "/" : "";
    tags_ = &tags;
    columnOf_.assign(tags.size(), std::nullopt);
  }

  bool take(const RunValue& value) override {
    if (value.data != nullptr) {
      return false;
    }
    std::optional<std::uint32_t>& number = columnOf_[value.tag];
    if (!number) {
      number = static_cast<std::uint32_t>(columns_.size());
      columns_.push_back({prefix_ + (*tags_)[value.tag].name, value.step, 0});
    } else {
      Column& column = columns_[*number];
      column.row = value.step == column.step ? column.row + 1 : 0;
      column.step = value.step;
    }
    sorter_->add({value.step, value.scalar, *number, columns_[*number].row}).throwIfError();
    return true;
  }

  std::vector<std::string> columnNames() const {
    std::vector<std::string> names;
    for (const Column& column : columns_) {
      names.push_back(column.name);
    }
    return names;
  }

 private:
  struct Column {
    std::string name;
    std::int64_t step;  // of its last point
    std::uint32_t row;
  };

  detail::RowSorter* sorter_;
  bool namesRuns_;
  std::string prefix_;
  const std::vector<RunTag>* tags_ = nullptr;
  std::vector<std::optional<std::uint32_t>> columnOf_;  // by tag of the run
  std::vector<Column> columns_;                         // of all runs
};

/// Writes cells, which arrive row by row, below the names of their columns.
class Table {
 public:
  Table(const std::vector<std::string>& names, const ExportSink& sink)
      : out_(sink), order_(names.size()), row_(names.size()) {
    std::iota(order_.begin(), order_.end(), 0);
    std::sort(order_.begin(), order_.end(),
              [&](std::size_t a, std::size_t b) { return names[a] < names[b]; });
    out_.text() = "step";
    for (const std::size_t column : order_) {
      out_.text() += ',' + csvField(names[column]);
    }
    out_.text() += '\n';
  }

  void take(const detail::Cell& cell) {
    // A repeated step starts again with row 0.
    if (isOpen_ && (cell.step != step_ || cell.row != number_ || row_[cell.column])) {
      writeRow();
    }
    isOpen_ = true;
    step_ = cell.step;
    number_ = cell.row;
    row_[cell.column] = cell.value;
  }

  void finish() {
    if (isOpen_) {
      writeRow();
    }
    out_.flush();
  }

 private:
  void writeRow() {
    std::string& text = out_.text();
    appendJsonInteger(&text, step_);
    for (const std::size_t column : order_) {
      text += ',';
      if (row_[column]) {
        appendCsvNumber(*row_[column], &text);
        row_[column].reset();
      }
    }
    text += '\n';
    out_.flushIfLong();
  }

  detail::ExportText out_;
  std::vector<std::size_t> order_;          // column numbers by name
  std::vector<std::optional<double>> row_;  // by column number
  std::int64_t step_ = 0;
  std::uint32_t number_ = 0;
  bool isOpen_ = false;
};

ExportResult exportLong(const std::vector<RunFiles>& runs, const ExportOptions& options,
                        const ExportSink& sink) {
  LongFormat format(sink);
  ExportResult result = detail::exportRuns(runs, options, &format);
  format.finish();
  return result;
}

ExportResult exportWide(const std::vector<RunFiles>& runs, const ExportOptions& options,
                        const ExportSink& sink) {
  detail::RowSorter sorter(detail::temporaryPrefix(options), kMaxCells);
  WideFormat format(&sorter, runs.size() > 1);
  ExportResult result = detail::exportRuns(runs, options, &format);
  Table table(format.columnNames(), sink);
  sorter.forEach([&](const detail::Cell& cell) { table.take(cell); }).throwIfError();
  table.finish();
  return result;
}

}  // namespace

ExportResult exportCsv(const std::vector<RunFiles>& runs, const ExportOptions& options,
                       const ExportSink& sink) {
  return options.csvLayout == CsvLayout::kLong ? exportLong(runs, options, sink)
                                               : exportWide(runs, options, sink);
}

}  // namespace steptape
