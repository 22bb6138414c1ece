// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <numeric>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "steptape/events/plugin_content.h"
#include "steptape/log/export.h"
#include "steptape/log/values.h"

#include "base/csv_text.h"
#include "base/json_chars.h"
#include "log/export/curve_names.h"
#include "log/export/export_run.h"
#include "log/export/row_sorter.h"

namespace steptape {
namespace {

constexpr char kStepColumn[] = "step";
constexpr std::size_t kMaxCells = (std::size_t{32} << 20) / sizeof(detail::log::Cell);

using detail::base::csvField;
using detail::base::csvNumber;
using detail::base::writeCsvNumber;

class LongFormat : public detail::log::ExportFormat {
 public:
  explicit LongFormat(const ExportSink& sink) : out_(sink) {
    out_.text() = "run,tag,step,wall_time,value\n";
  }

  void beginRun(const detail::log::ExportedRun& run) override {
    beginnings_.clear();
    for (const std::string& tag : run.tagNames) {
      beginnings_.push_back(csvField(run.directory) + "," + csvField(tag) + ",");
    }
  }

  bool take(const detail::log::RunValue& value) override {
    if (value.data != nullptr) {
      return false;
    }
    char numbers[3 * detail::base::kMaxJsonNumber + 3];
    char* end = detail::base::writeJsonInteger(numbers, value.step);
    *end++ = ',';
    end = writeCsvNumber(end, value.wallTime);
    *end++ = ',';
    end = writeCsvNumber(end, value.scalar);
    *end++ = '\n';
    out_.text().append(beginnings_[value.tag]).append(numbers, end);
    out_.flushIfLong();
    return true;
  }

  void finish() { out_.flush(); }

 private:
  detail::log::ExportText out_;
  std::vector<std::string> beginnings_;  // start of each tag's lines
};

/// Writes a row for each bucket of a histogram.
class HistogramFormat : public detail::log::ExportFormat {
 public:
  explicit HistogramFormat(const ExportSink& sink) : out_(sink) {
    out_.text() = "run,tag,step,wall_time,left,right,count\n";
  }

  void beginRun(const detail::log::ExportedRun& run) override { run_ = &run; }

  bool take(const detail::log::RunValue& value) override {
    const std::string& plugin = value.data != nullptr && value.data->metadata
                                    ? value.data->metadata->pluginName
                                    : run_->tags[value.tag].metadata.pluginName;
    HistogramValue histogram;
    if (value.data == nullptr || plugin != event::kHistogramsPlugin ||
        !decodeHistogram(*value.data, &histogram).ok()) {
      return false;
    }
    const std::string begin = csvField(run_->directory) + ',' +
                              csvField(run_->tagNames[value.tag]) + ',' +
                              std::to_string(value.step) + ',' + csvNumber(value.wallTime);
    for (const HistogramBucket& bucket : histogram.buckets) {
      out_.text() += begin + ',' + csvNumber(bucket.left) + ',' + csvNumber(bucket.right) + ',' +
                     csvNumber(bucket.count) + '\n';
      out_.flushIfLong();
    }
    return true;
  }
  bool isOfNumbers() const override { return false; }

  void finish() { out_.flush(); }

 private:
  detail::log::ExportText out_;
  const detail::log::ExportedRun* run_ = nullptr;
};

std::string lowerCase(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(), [](char c) {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  });
  return text;
}

/// Names two columns of which a program that ignores case would rename one.
void noteCase(const std::vector<detail::log::CurveName>& names, std::vector<std::string>* notes) {
  std::unordered_map<std::string, const std::string*> known;
  for (const detail::log::CurveName& each : names) {
    const auto [it, isNew] = known.emplace(lowerCase(each.name), &each.name);
    if (!isNew) {
      notes->push_back("the columns \"" + *it->second + "\" and \"" + each.name +
                       "\" differ only in case, which DuckDB ignores: it renames the second");
      return;
    }
  }
}

/// Sorts scalars into rows.
class WideFormat : public detail::log::ExportFormat {
 public:
  WideFormat(detail::log::RowSorter* sorter, bool namesRuns)
      : sorter_(sorter), namesRuns_(namesRuns) {}

  void beginRun(const detail::log::ExportedRun& run) override {
    run_ = &run;
    columnOf_.assign(run.tags.size(), std::nullopt);
  }

  bool take(const detail::log::RunValue& value) override {
    if (value.data != nullptr) {
      return false;
    }
    std::optional<std::uint32_t>& number = columnOf_[value.tag];
    if (!number) {
      number = static_cast<std::uint32_t>(columns_.size());
      columns_.push_back({nameOf(run_->tagNames[value.tag]), value.step, 0});
    } else {
      Column& column = columns_[*number];
      column.row = value.step == column.step ? column.row + 1 : 0;
      column.step = value.step;
    }
    sorter_->add({value.step, value.scalar, *number, columns_[*number].row}).throwIfError();
    return true;
  }

  /// Returns the names of the columns, which differ from each other and from "step".
  std::vector<std::string> columnNames(std::vector<std::string>* notes) const {
    std::vector<detail::log::CurveName> names{{kStepColumn, "", ""}};
    for (const Column& column : columns_) {
      names.push_back(column.name);
    }
    detail::log::makeDistinct(&names, notes);
    noteCase(names, notes);
    std::vector<std::string> texts;
    for (std::size_t i = 1; i < names.size(); ++i) {
      texts.push_back(std::move(names[i].name));
    }
    return texts;
  }

 private:
  struct Column {
    detail::log::CurveName name;
    std::int64_t step;  // of its last point
    std::uint32_t row;
  };

  detail::log::CurveName nameOf(const std::string& tag) const {
    const std::string& run = run_->directory;
    return {namesRuns_ ? run + "/" + tag : tag, run, tag};
  }

  detail::log::RowSorter* sorter_;
  bool namesRuns_;
  const detail::log::ExportedRun* run_ = nullptr;
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
    out_.text() = kStepColumn;
    for (const std::size_t column : order_) {
      out_.text() += ',' + csvField(names[column]);
    }
    out_.text() += '\n';
  }

  void take(const detail::log::Cell& cell) {
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
    char number[detail::base::kMaxJsonNumber];
    text.append(number, detail::base::writeJsonInteger(number, step_));
    for (const std::size_t column : order_) {
      text += ',';
      if (row_[column]) {
        text.append(number, writeCsvNumber(number, *row_[column]));
        row_[column].reset();
      }
    }
    text += '\n';
    out_.flushIfLong();
  }

  detail::log::ExportText out_;
  std::vector<std::size_t> order_;          // column numbers by name
  std::vector<std::optional<double>> row_;  // by column number
  std::int64_t step_ = 0;
  std::uint32_t number_ = 0;
  bool isOpen_ = false;
};

/// @tparam Format LongFormat or HistogramFormat.
template <typename Format>
ExportResult exportRows(const std::vector<RunFiles>& runs, const ExportOptions& options,
                        const ExportSink& sink) {
  Format format(sink);
  ExportResult result = detail::log::exportRuns(runs, options, &format);
  format.finish();
  return result;
}

ExportResult exportWide(const std::vector<RunFiles>& runs, const ExportOptions& options,
                        const ExportSink& sink) {
  detail::log::RowSorter sorter(detail::log::temporaryPrefix(options), kMaxCells);
  WideFormat format(&sorter, runs.size() > 1);
  ExportResult result = detail::log::exportRuns(runs, options, &format);
  Table table(format.columnNames(&result.notes), sink);
  sorter.forEach([&](const detail::log::Cell& cell) { table.take(cell); }).throwIfError();
  table.finish();
  return result;
}

}  // namespace

ExportResult exportCsv(const std::vector<RunFiles>& runs, const ExportOptions& options,
                       const ExportSink& sink) {
  switch (options.csvLayout) {
    case CsvLayout::kLong:
      return exportRows<LongFormat>(runs, options, sink);
    case CsvLayout::kHistograms:
      return exportRows<HistogramFormat>(runs, options, sink);
    case CsvLayout::kWide:
      break;
  }
  return exportWide(runs, options, sink);
}

}  // namespace steptape
