// SPDX-License-Identifier: Apache-2.0
#include "tools/steptape/tables/runs_table.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <utility>

#include "base/csv_text.h"
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
  const double age = now - lastTime;
  constexpr std::size_t kDateCharacters = 10;  // of "2026-11-21 14:05:30.250"
  return age > kLongAgo ? humanTime(lastTime).substr(0, kDateCharacters)
                        : humanDuration(std::max(0.0, age));
}

TableColumn tableColumn(const RunColumn& column, const std::vector<RunOverview>& runs, double now,
                        const Terminal& terminal) {
  TableColumn result{shown(column.name, terminal)};
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
    json.add(column.name, value ? JsonObject()
                                      .add("step", jsonInteger(value->step))
                                      .add("value", jsonNumber(value->value))
                                      .toString()
                                : "null");
  }
  return json.toString();
}

std::string jsonOf(const RunOverview& run, const RunsColumns& columns, double now) {
  JsonObject hparams;
  for (const auto& [name, value] : run.hparams) {
    hparams.add(name, jsonOf(value));
  }
  const bool hasTime = run.lastTime > 0;
  return JsonObject()
      .add("run", jsonString(run.name))
      .add("state", run.state == RunState::kUnknown ? "null" : jsonString(runStateName(run.state)))
      .add("step", run.step ? jsonInteger(*run.step) : "null")
      .add("trained_seconds", jsonNumber(run.trained))
      .add("sessions", fmt::to_string(run.sessions))
      .add("last_wall_time", hasTime ? jsonNumber(run.lastTime) : "null")
      .add("age_seconds", hasTime ? jsonNumber(now - run.lastTime) : "null")
      .add("hparams", hparams.toString())
      .add("metrics", metricsJson(run, columns))
      .toString();
}

std::string csvOf(const RunCell& cell) {
  if (const double* const number = std::get_if<double>(&cell)) {
    return csvNumber(*number);
  }
  const std::string* const text = std::get_if<std::string>(&cell);
  return text != nullptr ? csvField(*text) : "";
}

}  // namespace

std::string runsText(const std::vector<RunOverview>& runs, const RunsColumns& columns, double now,
                     const Terminal& terminal) {
  std::vector<TableColumn> table;
  std::vector<std::string> dispensable{"trained", "step", "last point"};
  table.push_back(
      wordColumn("run", runs, terminal, [](const RunOverview& run) { return run.name; }));
  for (const auto* group : {&columns.hparams, &columns.metrics}) {
    for (const RunColumn& column : *group) {
      table.push_back(tableColumn(column, runs, now, terminal));
      dispensable.push_back(table.back().title);
    }
  }
  table.push_back(numberColumn("step", runs, [](const RunOverview& run) {
    return run.step ? fmt::to_string(*run.step) : std::string(kNoCell);
  }));
  table.push_back(numberColumn("trained", runs, [](const RunOverview& run) {
    return run.sessions > 0 ? humanDuration(run.trained) : std::string(kNoCell);
  }));
  table.push_back(numberColumn("last point", runs,
                               [&](const RunOverview& run) { return ageText(run.lastTime, now); }));
  table.push_back(wordColumn("state", runs, terminal, [](const RunOverview& run) {
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
  std::string csv = "run,state,step,trained_seconds,sessions,last_wall_time";
  for (const RunColumn& column : columns.hparams) {
    csv += ',' + csvField("hparams/" + column.name);
  }
  for (const RunColumn& column : columns.metrics) {
    csv += ',' + csvField(column.name);
  }
  csv += '\n';
  for (const RunOverview& run : runs) {
    csv += csvField(run.name) + ',' + runStateName(run.state) + ',' +
           (run.step ? fmt::to_string(*run.step) : "") + ',' + csvNumber(run.trained) + ',' +
           fmt::to_string(run.sessions) + ',' + (run.lastTime > 0 ? csvNumber(run.lastTime) : "");
    for (const auto* group : {&columns.hparams, &columns.metrics}) {
      for (const RunColumn& column : *group) {
        csv += ',' + csvOf(column.cellOf(run, 0));
      }
    }
    csv += '\n';
  }
  return csv;
}

}  // namespace steptape::tools
