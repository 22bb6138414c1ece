// SPDX-License-Identifier: Apache-2.0
#include "tools/steptape/tables/runs_table.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <fmt/format.h>
#include <optional>
#include <utility>

#include "base/csv_text.h"
#include "base/utf8.h"
#include "log/export/curve_names.h"
#include "tools/steptape/tables/human_text.h"
#include "tools/steptape/tables/json_pieces.h"
#include "tools/steptape/tables/row_table.h"
#include "tools/steptape/tables/table.h"
#include "tools/steptape/terminal/screen_text.h"

namespace steptape::tools {
namespace {

using detail::base::csvField;
using detail::base::csvNumber;

constexpr const char* kNoCell = "-";

// Titles of the table for people.
constexpr const char* kRunTitle = "run";
constexpr const char* kStepTitle = "step";
constexpr const char* kTrainedTitle = "trained";
constexpr const char* kLastPointTitle = "last point";
constexpr const char* kStateTitle = "state";
constexpr std::array kTableTitles{kRunTitle, kStepTitle, kTrainedTitle, kLastPointTitle,
                                  kStateTitle};

std::string textOf(const RunCell& cell, const Terminal& terminal) {
  if (const double* const number = std::get_if<double>(&cell)) {
    return shortNumber(*number);
  }
  const std::string* const text = std::get_if<std::string>(&cell);
  return text != nullptr ? shown(*text, terminal) : kNoCell;
}

/// Returns "12 s", or the date of what is long ago, which nobody counts in days.
std::string ageText(double lastTime, double now) {
  constexpr double kLongAgo = 30.0 * 24 * 60 * 60;
  if (lastTime <= 0) {
    return kNoCell;
  }
  const double age = now - lastTime;           // Clocks of other machines may be ahead a little.
  constexpr std::size_t kDateCharacters = 10;  // of "2026-11-21 14:05:30.250"
  return std::abs(age) > kLongAgo ? humanTime(lastTime).substr(0, kDateCharacters)
                                  : humanDuration(std::max(0.0, age));
}

TableColumn tableColumn(const RunColumn& column, const std::vector<RunOverview>& runs, double now,
                        const Terminal& terminal) {
  TableColumn result{shown(column.title, terminal)};
  bool hasNumbers = false;
  for (const RunOverview& run : runs) {
    const RunCell cell = column.cellOf(run, now);
    hasNumbers = hasNumbers || std::holds_alternative<double>(cell);
    result.cells.push_back(textOf(cell, terminal));
  }
  result.align = hasNumbers ? TableColumn::Align::kRight : TableColumn::Align::kLeft;
  return result;
}

std::string jsonOf(const HparamValue& value) {
  if (const bool* const flag = std::get_if<bool>(&value.value())) {
    return jsonBool(*flag);
  }
  const double* const number = std::get_if<double>(&value.value());
  return number != nullptr ? jsonNumber(*number) : jsonString(std::get<std::string>(value.value()));
}

std::string metricsJson(const RunOverview& run, const RunsColumns& columns) {
  JsonObject json;
  for (const RunColumn& column : columns.metrics) {
    const auto value = metricOf(*run.run, column.metric);
    json.add(column.title, value ? JsonObject()
                                       .add("step", jsonInteger(value->step))
                                       .add("value", jsonNumber(value->value))
                                       .toString()
                                 : "null");
  }
  return json.toString();
}

std::string jsonOf(const RunOverview& run, const RunsColumns& columns, double now) {
  JsonObject hparams;
  for (const RunColumn& column : columns.hparams) {
    if (const HparamValue* const value = hparamOf(run, column.name)) {
      hparams.add(column.title, jsonOf(*value));
    }
  }
  const bool hasTime = run.lastTime > 0;
  return JsonObject()
      .add("run", jsonString(run.name))
      .add("state", run.state == RunState::kUnknown ? "null" : jsonString(runStateName(run.state)))
      .add("step", run.step ? jsonInteger(*run.step) : "null")
      .add("trained_seconds", run.trained ? jsonNumber(*run.trained) : "null")
      .add("sessions", fmt::to_string(run.sessions))
      .add("last_wall_time", hasTime ? jsonNumber(run.lastTime) : "null")
      .add("age_seconds", hasTime ? jsonNumber(now - run.lastTime) : "null")
      .add("hparams", hparams.toString())
      .add("metrics", metricsJson(run, columns))
      .toString();
}

/// Returns a field of a file whose readers expect UTF-8.
std::string csvText(const std::string& text) {
  return text.empty() ? "\"\"" : csvField(detail::base::replaceInvalidUtf8(text));
}

std::string csvOf(const RunCell& cell) {
  if (const double* const number = std::get_if<double>(&cell)) {
    return csvNumber(*number);
  }
  const std::string* const text = std::get_if<std::string>(&cell);
  return text != nullptr ? csvText(*text) : "";
}

ColumnFile::Type typeOf(const RunColumn& column, const std::vector<RunOverview>& runs) {
  if (column.kind == RunColumn::Kind::kMetric) {
    return ColumnFile::Type::kNumber;
  }
  std::optional<ColumnFile::Type> type;
  for (const RunOverview& run : runs) {
    const HparamValue* const value = hparamOf(run, column.name);
    if (value == nullptr) {
      continue;
    }
    const ColumnFile::Type own =
        std::holds_alternative<bool>(value->value())     ? ColumnFile::Type::kBoolean
        : std::holds_alternative<double>(value->value()) ? ColumnFile::Type::kNumber
                                                         : ColumnFile::Type::kText;
    if (type.value_or(own) != own) {
      return ColumnFile::Type::kText;
    }
    type = own;
  }
  return type.value_or(ColumnFile::Type::kText);
}

struct FixedColumn {
  const char* title;
  ColumnFile::Type type;
};

/// Of files, in their order.
constexpr FixedColumn kFixedColumns[] = {
    {"run", ColumnFile::Type::kText},         {"state", ColumnFile::Type::kText},
    {"step", ColumnFile::Type::kInteger},     {"trained_seconds", ColumnFile::Type::kNumber},
    {"sessions", ColumnFile::Type::kInteger}, {"last_wall_time", ColumnFile::Type::kNumber}};

/// Makes the titles differ from each other, and from those that are taken.
void makeDistinct(std::vector<std::string> taken, const std::vector<RunColumn*>& columns,
                  std::vector<std::string>* notes) {
  const std::size_t fixed = taken.size();
  std::vector<std::string> titles = std::move(taken);
  for (const RunColumn* column : columns) {
    titles.push_back(column->title);
  }
  for (const auto& change : detail::log::makeDistinct(&titles)) {
    const RunColumn& column = *columns.at(change.index - fixed);
    notes->push_back(
        fmt::format("the name \"{}\" is taken: the {} \"{}\" is shown as \"{}\"", change.before,
                    column.kind == RunColumn::Kind::kHparam ? "hyperparameter" : "metric",
                    column.name, titles[change.index]));
  }
  for (std::size_t i = 0; i < columns.size(); ++i) {
    columns[i]->title = titles[fixed + i];
  }
}

}  // namespace

void setTitles(RunsColumns* columns, RunsForm form, std::vector<std::string>* notes) {
  // The table shows bytes that are no UTF-8 in its own way.
  const auto textOf = [&](const std::string& name) {
    return form == RunsForm::kTable ? name : detail::base::replaceInvalidUtf8(name);
  };
  std::vector<RunColumn*> hparams;
  for (RunColumn& column : columns->hparams) {
    column.title = (form == RunsForm::kFile ? "hparams/" : "") + textOf(column.name);
    hparams.push_back(&column);
  }
  std::vector<RunColumn*> metrics;
  for (RunColumn& column : columns->metrics) {
    column.title = textOf(column.name);
    metrics.push_back(&column);
  }
  if (form == RunsForm::kJson) {  // objects of their own
    makeDistinct({}, hparams, notes);
    makeDistinct({}, metrics, notes);
    return;
  }
  std::vector<std::string> fixed{kTableTitles.begin(), kTableTitles.end()};
  if (form == RunsForm::kFile) {
    fixed.clear();
    for (const FixedColumn& column : kFixedColumns) {
      fixed.emplace_back(column.title);
    }
  }
  std::vector<RunColumn*> all = hparams;
  all.insert(all.end(), metrics.begin(), metrics.end());
  makeDistinct(std::move(fixed), all, notes);
}

std::string runsText(const std::vector<RunOverview>& runs, const RunsColumns& columns, double now,
                     const Terminal& terminal) {
  std::vector<TableColumn> table;
  std::vector<std::string> dispensable{kTrainedTitle, kStepTitle, kLastPointTitle};
  table.push_back(
      wordColumn(kRunTitle, runs, terminal, [](const RunOverview& run) { return run.name; }));
  for (const auto* group : {&columns.hparams, &columns.metrics}) {
    for (const RunColumn& column : *group) {
      table.push_back(tableColumn(column, runs, now, terminal));
      dispensable.push_back(table.back().title);
    }
  }
  table.push_back(numberColumn(kStepTitle, runs, [](const RunOverview& run) {
    return run.step ? fmt::to_string(*run.step) : std::string(kNoCell);
  }));
  table.push_back(numberColumn(kTrainedTitle, runs, [](const RunOverview& run) {
    return run.sessions > 0 && run.trained ? humanDuration(*run.trained) : std::string(kNoCell);
  }));
  table.push_back(numberColumn(kLastPointTitle, runs,
                               [&](const RunOverview& run) { return ageText(run.lastTime, now); }));
  table.push_back(wordColumn(kStateTitle, runs, terminal, [](const RunOverview& run) {
    return std::string(run.state == RunState::kUnknown ? kNoCell : runStateName(run.state));
  }));
  return tableText(fittedColumns(std::move(table), dispensable, 0, terminal), 0);
}

std::string runsJson(const std::vector<RunOverview>& runs, const RunsColumns& columns, double now) {
  std::vector<std::string> objects;
  for (const RunOverview& run : runs) {
    objects.push_back(jsonOf(run, columns, now));
  }
  return JsonObject().add("runs", jsonArray(objects)).toString();
}

std::string runsCsv(const std::vector<RunOverview>& runs, const RunsColumns& columns) {
  std::string csv;
  for (const FixedColumn& column : kFixedColumns) {
    csv += (csv.empty() ? "" : ",") + std::string(column.title);
  }
  for (const auto* group : {&columns.hparams, &columns.metrics}) {
    for (const RunColumn& column : *group) {
      csv += ',' + csvField(column.title);
    }
  }
  csv += '\n';
  for (const RunOverview& run : runs) {
    csv += csvText(run.name) + ',' + runStateName(run.state) + ',' +
           (run.step ? fmt::to_string(*run.step) : "") + ',' +
           (run.trained ? csvNumber(*run.trained) : "") + ',' + fmt::to_string(run.sessions) + ',' +
           (run.lastTime > 0 ? csvNumber(run.lastTime) : "");
    for (const auto* group : {&columns.hparams, &columns.metrics}) {
      for (const RunColumn& column : *group) {
        csv += ',' + csvOf(column.cellOf(run, 0));
      }
    }
    csv += '\n';
  }
  return csv;
}

std::vector<ColumnFile::Type> typesOf(const std::vector<RunOverview>& runs,
                                      const RunsColumns& columns) {
  std::vector<ColumnFile::Type> types;
  for (const FixedColumn& column : kFixedColumns) {
    types.push_back(column.type);
  }
  for (const auto* group : {&columns.hparams, &columns.metrics}) {
    for (const RunColumn& column : *group) {
      types.push_back(typeOf(column, runs));
    }
  }
  return types;
}

}  // namespace steptape::tools
