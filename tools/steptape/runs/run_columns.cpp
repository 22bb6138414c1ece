// SPDX-License-Identifier: Apache-2.0
#include "tools/steptape/runs/run_columns.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <limits>
#include <map>
#include <set>

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

const HparamValue* hparamOf(const RunOverview& run, const std::string& name) {
  const auto found = std::find_if(run.hparams.begin(), run.hparams.end(),
                                  [&](const auto& hparam) { return hparam.first == name; });
  return found == run.hparams.end() ? nullptr : &found->second;
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
bool findMetric(const std::string& name, const std::vector<RunOverview>& runs, RunColumn* column) {
  for (const Metric& metric : {Metric{name, Metric::Of::kLast}, Metric::parse(name)}) {
    if (hasScalar(runs, metric.tag)) {
      *column = {RunColumn::Kind::kMetric, metric.name(), metric};
      return true;
    }
  }
  return false;
}

/// Finds the column, if there is one.
bool findColumn(const std::string& name, const std::vector<RunOverview>& runs, RunColumn* column) {
  for (const auto& [known, kind] : kColumns) {
    if (name == known) {
      *column = {kind, name};
      return true;
    }
  }
  if (hasHparam(runs, name)) {
    *column = {RunColumn::Kind::kHparam, name};
    return true;
  }
  return findMetric(name, runs, column);
}

std::string trimmed(const std::string& text) {
  const std::size_t begin = text.find_first_not_of(' ');
  return begin == std::string::npos ? ""
                                    : text.substr(begin, text.find_last_not_of(' ') - begin + 1);
}

/// Returns NaN if the whole text is no number.
double numberIn(const std::string& text) {
  char* end = nullptr;
  const double number = std::strtod(text.c_str(), &end);
  return !text.empty() && *end == '\0' ? number : std::numeric_limits<double>::quiet_NaN();
}

/// Returns whether there is a value that compares with others.
bool isComparable(const RunCell& cell) {
  const double* const number = std::get_if<double>(&cell);
  return !std::holds_alternative<std::monostate>(cell) &&
         !(number != nullptr && std::isnan(*number));
}

}  // namespace

RunCell RunColumn::cellOf(const RunOverview& run, double now) const {
  switch (kind) {
    case Kind::kRun:
      return run.name;
    case Kind::kState:
      return run.state == RunState::kUnknown ? RunCell() : std::string(runStateName(run.state));
    case Kind::kStep:
      return run.step ? RunCell(static_cast<double>(*run.step)) : RunCell();
    case Kind::kTrained:
      return run.sessions > 0 ? RunCell(run.trained) : RunCell();
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
  RunColumn column;
  if (!findColumn(name, runs, &column)) {
    rejectName(name, runs, option);
  }
  return column;
}

RunColumn metricColumnOf(const std::string& name, const std::vector<RunOverview>& runs,
                         std::string_view option) {
  RunColumn column;
  if (!findMetric(name, runs, &column)) {
    rejectName(name, runs, option);
  }
  return column;
}

std::vector<RunColumn> hparamColumns(const std::vector<RunOverview>& runs, bool onlyDiffering) {
  struct Seen {
    std::set<RunCell> cells;
    std::size_t runs = 0;
  };
  std::map<std::string, Seen> seen;
  std::size_t withHparams = 0;
  for (const RunOverview& run : runs) {
    withHparams += run.hparams.empty() ? 0 : 1;
    for (const auto& [name, value] : run.hparams) {
      Seen& hparam = seen[name];
      hparam.cells.insert(cellOfHparam(value));
      ++hparam.runs;
    }
  }
  std::vector<RunColumn> columns;
  for (const auto& [name, hparam] : seen) {
    if (!onlyDiffering || hparam.cells.size() > 1 || hparam.runs < withHparams) {
      columns.push_back({RunColumn::Kind::kHparam, name});
    }
  }
  return columns;
}

struct RunCondition::Operator {
  std::string_view text;
  Comparison comparison;
};

/// The longer ones first: "<=" is not "<".
const std::vector<RunCondition::Operator>& RunCondition::operators() {
  static const std::vector<Operator> kOperators{
      {"<=", Comparison::kLessEqual}, {">=", Comparison::kGreaterEqual},
      {"!=", Comparison::kNotEqual},  {"==", Comparison::kEqual},
      {"<", Comparison::kLess},       {">", Comparison::kGreater},
      {"=", Comparison::kEqual}};
  return kOperators;
}

RunCondition::RunCondition(const std::string& text, const std::vector<RunOverview>& runs) {
  // Names may contain the signs, so that the first one need not be the comparison.
  std::string firstName;
  for (std::size_t at = 0; at < text.size(); ++at) {
    const auto found = std::find_if(
        operators().begin(), operators().end(),
        [&](const Operator& each) { return text.compare(at, each.text.size(), each.text) == 0; });
    if (found == operators().end()) {
      continue;
    }
    const std::string name = trimmed(text.substr(0, at));
    if (findColumn(name, runs, &column_)) {
      comparison_ = found->comparison;
      text_ = trimmed(text.substr(at + found->text.size()));
      number_ = numberIn(text_);
      return;
    }
    if (firstName.empty()) {
      firstName = name;
    }
    at += found->text.size() - 1;
  }
  if (firstName.empty()) {
    throw Error(
        ErrorCode::kInvalidArgument,
        fmt::format("--where: got \"{}\"; expected a comparison, such as \"lr>0.01\", by <, "
                    "<=, =, !=, >= or >",
                    text));
  }
  rejectName(firstName, runs, "--where");
}

template <typename T>
bool RunCondition::compare(const T& left, const T& right) const {
  switch (comparison_) {
    case Comparison::kLess:
      return left < right;
    case Comparison::kLessEqual:
      return left <= right;
    case Comparison::kEqual:
      return left == right;
    case Comparison::kNotEqual:
      return left != right;
    case Comparison::kGreaterEqual:
      return left >= right;
    case Comparison::kGreater:
      return left > right;
  }
  return false;
}

bool RunCondition::holdsFor(const RunOverview& run, double now) const {
  const RunCell cell = column_.cellOf(run, now);
  if (const double* const number = std::get_if<double>(&cell); number != nullptr) {
    return compare(*number, number_);
  }
  const std::string* const text = std::get_if<std::string>(&cell);
  return text != nullptr ? compare(*text, text_) : comparison_ == Comparison::kNotEqual;
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
    RunCell cell = column.cellOf(run, now);
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
