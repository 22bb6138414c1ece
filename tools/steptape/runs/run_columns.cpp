// SPDX-License-Identifier: Apache-2.0
#include "tools/steptape/runs/run_columns.h"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <cstdlib>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <map>
#include <set>
#include <utility>

#include "steptape/base/status.h"

#include "tools/steptape/help/closest_name.h"

namespace steptape::tools {
namespace {

constexpr std::pair<const char*, RunColumn::Kind> kColumns[] = {
    {"run", RunColumn::Kind::kRun},   {"state", RunColumn::Kind::kState},
    {"step", RunColumn::Kind::kStep}, {"trained", RunColumn::Kind::kTrained},
    {"age", RunColumn::Kind::kAge},   {"sessions", RunColumn::Kind::kSessions}};

RunCell cellOfHparam(const HparamValue& value) {
  if (const bool* const flag = std::get_if<bool>(&value.value())) {
    return std::string(*flag ? "true" : "false");
  }
  if (const double* const number = std::get_if<double>(&value.value())) {
    return *number;
  }
  return std::get<std::string>(value.value());
}

bool hasHparam(const std::vector<RunOverview>& runs, const std::string& name) {
  return std::any_of(runs.begin(), runs.end(),
                     [&](const RunOverview& run) { return hparamOf(run, name) != nullptr; });
}

bool hasScalar(const std::vector<RunOverview>& runs, const std::string& tag) {
  return std::any_of(runs.begin(), runs.end(), [&](const RunOverview& run) {
    return metricOf(*run.run, {tag, Metric::Of::kLast}).has_value();
  });
}

/// Returns the names of all columns that the runs have.
std::vector<std::string> namesOf(const std::vector<RunOverview>& runs) {
  std::vector<std::string> names;
  for (const auto& [name, kind] : kColumns) {
    names.emplace_back(name);
  }
  std::set<std::string> others;
  for (const RunOverview& run : runs) {
    for (const auto& [name, value] : run.hparams) {
      others.insert(name);
    }
    for (const auto& [tag, series] : run.run->tags()) {
      if (series.scalars.size() > 0) {
        others.insert(tag);
      }
    }
  }
  names.insert(names.end(), others.begin(), others.end());
  return names;
}

[[noreturn]] void rejectName(const std::string& name, const std::vector<RunOverview>& runs,
                             std::string_view option) {
  constexpr std::size_t kMostListed = 20;
  std::vector<std::string> names = namesOf(runs);
  const std::string closest = closestName(Metric::parse(name).tag, names);
  std::string expected = '"' + closest + '"';
  if (closest.empty()) {
    const std::size_t more = names.size() - std::min(names.size(), kMostListed);
    names.resize(names.size() - more);
    expected = fmt::format("one of {}{}", fmt::join(names, ", "),
                           more > 0 ? fmt::format(" and {} more", more) : "");
  }
  throw Error(ErrorCode::kInvalidArgument,
              fmt::format("{}: got \"{}\", which no run has; expected {}", option, name, expected));
}

/// A tag may end as the name of a metric does.
std::optional<RunColumn> findMetric(const std::string& name, const std::vector<RunOverview>& runs) {
  for (const Metric& metric : {Metric{name, Metric::Of::kLast}, Metric::parse(name)}) {
    if (hasScalar(runs, metric.tag)) {
      return RunColumn{RunColumn::Kind::kMetric, metric.name(), metric};
    }
  }
  return std::nullopt;
}

/// Returns whether there is a value that compares with others.
bool isComparable(const RunCell& cell) {
  const double* const number = std::get_if<double>(&cell);
  return !std::holds_alternative<std::monostate>(cell) &&
         !(number != nullptr && std::isnan(*number));
}

/// Returns what a cell is sorted by.
RunCell keyOf(RunCell cell, const RunColumn& column) {
  const std::string* const text = std::get_if<std::string>(&cell);
  const std::optional<double> number = text != nullptr && column.kind == RunColumn::Kind::kHparam
                                           ? numberOfText(*text)
                                           : std::nullopt;
  return number ? RunCell(*number) : std::move(cell);
}

}  // namespace

const HparamValue* hparamOf(const RunOverview& run, const std::string& name) {
  const auto found = std::find_if(run.hparams.begin(), run.hparams.end(),
                                  [&](const auto& hparam) { return hparam.first == name; });
  return found == run.hparams.end() ? nullptr : &found->second;
}

std::optional<double> numberOfText(const std::string& text) {
  const std::size_t first = text.find_first_not_of("+-");
  const bool isNumeral = first != std::string::npos && first <= 1 &&
                         text.find_first_not_of("0123456789.eE+-") == std::string::npos &&
                         !(text[first] == '0' && first + 1 < text.size() &&
                           std::isdigit(static_cast<unsigned char>(text[first + 1])) != 0);
  if (!isNumeral) {
    return std::nullopt;
  }
  char* end = nullptr;
  const double number = std::strtod(text.c_str(), &end);
  return *end == '\0' && std::isfinite(number) ? std::optional<double>(number) : std::nullopt;
}

std::optional<RunColumn> findColumn(const std::string& name, const std::vector<RunOverview>& runs) {
  for (const auto& [known, kind] : kColumns) {
    if (name == known) {
      return RunColumn{kind, name};
    }
  }
  if (hasHparam(runs, name)) {
    return RunColumn{RunColumn::Kind::kHparam, name};
  }
  return findMetric(name, runs);
}

RunCell RunColumn::cellOf(const RunOverview& run, double now) const {
  switch (kind) {
    case Kind::kRun:
      return run.name;
    case Kind::kState:
      return run.state == RunState::kUnknown ? RunCell() : std::string(runStateName(run.state));
    case Kind::kStep:
      return run.step ? RunCell(static_cast<double>(*run.step)) : RunCell();
    case Kind::kTrained:
      return run.sessions > 0 && run.trained ? RunCell(*run.trained) : RunCell();
    case Kind::kAge:
      return run.lastTime > 0 ? RunCell(now - run.lastTime) : RunCell();
    case Kind::kSessions:
      return static_cast<double>(run.sessions);
    case Kind::kHparam: {
      const HparamValue* const value = hparamOf(run, name);
      return value != nullptr ? cellOfHparam(*value) : RunCell();
    }
    case Kind::kMetric: {
      const auto value = metricOf(*run.run, metric);
      return value ? RunCell(value->value) : RunCell();
    }
  }
  return {};
}

RunColumn columnOf(const std::string& name, const std::vector<RunOverview>& runs,
                   std::string_view option) {
  const std::optional<RunColumn> column = findColumn(name, runs);
  if (!column) {
    rejectName(name, runs, option);
  }
  return *column;
}

RunColumn metricColumnOf(const std::string& name, const std::vector<RunOverview>& runs,
                         std::string_view option) {
  const std::optional<RunColumn> column = findMetric(name, runs);
  if (!column) {
    rejectName(name, runs, option);
  }
  return *column;
}

std::vector<RunColumn> hparamColumns(const std::vector<RunOverview>& runs, bool onlyDiffering) {
  struct Seen {
    std::set<RunCell> cells;  // without NaN, which has no place in an order
    bool hasNan = false;
    std::size_t runs = 0;

    bool differs() const { return cells.size() + (hasNan ? 1 : 0) > 1; }
  };
  std::map<std::string, Seen> seen;
  std::size_t withHparams = 0;
  for (const RunOverview& run : runs) {
    withHparams += run.hparams.empty() ? 0 : 1;
    for (const auto& [name, value] : run.hparams) {
      Seen& hparam = seen[name];
      RunCell cell = cellOfHparam(value);
      if (isComparable(cell)) {
        hparam.cells.insert(std::move(cell));
      } else {
        hparam.hasNan = true;
      }
      ++hparam.runs;
    }
  }
  std::vector<RunColumn> columns;
  for (const auto& [name, hparam] : seen) {
    if (!onlyDiffering || hparam.differs() || hparam.runs < withHparams) {
      columns.push_back({RunColumn::Kind::kHparam, name});
    }
  }
  return columns;
}

void sortRuns(std::vector<RunOverview>* runs, const RunColumn& column, bool reverse, double now) {
  const bool isDescending =
      (column.kind == RunColumn::Kind::kMetric && column.metric.of == Metric::Of::kMax) != reverse;
  struct Keyed {
    RunCell cell;
    RunOverview run;
  };
  std::vector<Keyed> keyed;
  for (RunOverview& run : *runs) {
    RunCell cell = keyOf(column.cellOf(run, now), column);
    keyed.push_back({std::move(cell), std::move(run)});
  }
  const auto end = std::stable_partition(keyed.begin(), keyed.end(),
                                         [](const Keyed& each) { return isComparable(each.cell); });
  std::stable_sort(keyed.begin(), end, [&](const Keyed& a, const Keyed& b) {
    return isDescending ? b.cell < a.cell : a.cell < b.cell;
  });
  runs->clear();
  for (Keyed& each : keyed) {
    runs->push_back(std::move(each.run));
  }
}

}  // namespace steptape::tools
