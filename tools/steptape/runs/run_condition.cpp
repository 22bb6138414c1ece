// SPDX-License-Identifier: Apache-2.0
#include "tools/steptape/runs/run_condition.h"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <cstdlib>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <variant>

#include "steptape/base/status.h"

#include "base/got_expected.h"
#include "tools/steptape/jobs/duration_text.h"

namespace steptape::tools {
namespace {

std::string trimmed(const std::string& text) {
  const std::size_t begin = text.find_first_not_of(' ');
  return begin == std::string::npos ? ""
                                    : text.substr(begin, text.find_last_not_of(' ') - begin + 1);
}

/// Returns nothing if the whole text is no number.
std::optional<double> numberIn(const std::string& text) {
  char* end = nullptr;
  const double number = std::strtod(text.c_str(), &end);
  return !text.empty() && *end == '\0' ? std::optional<double>(number) : std::nullopt;
}

std::optional<bool> flagIn(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return text == "true"    ? std::optional<bool>(true)
         : text == "false" ? std::optional<bool>(false)
                           : std::nullopt;
}

/// Returns the state as the table shows it.
std::string shownState(RunState state) {
  return state == RunState::kUnknown ? "-" : runStateName(state);
}

const std::vector<std::string>& shownStates() {
  static const std::vector<std::string> kStates{
      shownState(RunState::kRunning), shownState(RunState::kHanging),
      shownState(RunState::kKilled),  shownState(RunState::kFailed),
      shownState(RunState::kEnded),   shownState(RunState::kUnknown)};
  return kStates;
}

/// What the values of a column are.
struct ValueKinds {
  bool numbers = false;
  bool flags = false;
  bool texts = false;  // that are no numbers
};

ValueKinds kindsOf(const RunColumn& column, const std::vector<RunOverview>& runs) {
  ValueKinds kinds;
  if (column.kind != RunColumn::Kind::kHparam) {
    kinds.texts = column.kind == RunColumn::Kind::kRun || column.kind == RunColumn::Kind::kState;
    kinds.numbers = !kinds.texts;
    return kinds;
  }
  for (const RunOverview& run : runs) {
    const HparamValue* const hparam = hparamOf(run, column.name);
    if (hparam == nullptr) {
      continue;
    }
    const std::string* const text = std::get_if<std::string>(&hparam->value());
    const bool isFlag = std::holds_alternative<bool>(hparam->value());
    const bool isText = text != nullptr && !numberOfText(*text);
    kinds.flags = kinds.flags || isFlag;
    kinds.texts = kinds.texts || isText;
    kinds.numbers = kinds.numbers || (!isFlag && !isText);
  }
  return kinds;
}

bool isDuration(const RunColumn& column) {
  return column.kind == RunColumn::Kind::kTrained || column.kind == RunColumn::Kind::kAge;
}

std::string expectedOf(const RunColumn& column, const ValueKinds& kinds) {
  if (isDuration(column)) {
    return "seconds, or a duration such as 3:25, 1:02:03, \"2 d 3:00:00\", 90s, 10min or 1h30min";
  }
  return kinds.numbers && kinds.flags ? "a number, true or false"
         : kinds.flags                ? "true or false"
                                      : "a number, as all its values are";
}

}  // namespace

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
    if (const std::optional<RunColumn> column = findColumn(name, runs)) {
      column_ = *column;
      comparison_ = found->comparison;
      text_ = trimmed(text.substr(at + found->text.size()));
      checkValue(text, runs);
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
  static_cast<void>(columnOf(firstName, runs, "--where"));  // throws, and says what there is
}

void RunCondition::checkValue(const std::string& condition, const std::vector<RunOverview>& runs) {
  const auto reject = [&](const std::string& expected) {
    throw Error(ErrorCode::kInvalidArgument,
                fmt::format("--where {}: {}", detail::base::quoted(condition),
                            detail::base::gotExpected(detail::base::quoted(text_), expected)));
  };
  number_ = isDuration(column_) ? shownSecondsOf(text_) : numberIn(text_);
  flag_ = flagIn(text_);
  const ValueKinds kinds = kindsOf(column_, runs);
  hasNumbers_ = kinds.numbers;
  if (column_.kind == RunColumn::Kind::kState) {
    const std::vector<std::string>& states = shownStates();
    if (std::find(states.begin(), states.end(), text_) == states.end() || isOrder()) {
      reject(fmt::format("= or !=, and one of {}", fmt::join(states, ", ")));
    }
    return;
  }
  const bool isNumber = number_ && !(std::isnan(*number_) && isOrder());
  if (!kinds.texts && !(kinds.numbers && isNumber) && !(kinds.flags && flag_)) {
    reject(expectedOf(column_, kinds));
  }
  if (!kinds.texts && !kinds.numbers && isOrder()) {
    reject("= or !=, as all its values are true or false");
  }
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

bool RunCondition::holdsForNumber(double number) const {
  if (!number_) {
    return comparison_ == Comparison::kNotEqual;
  }
  if (std::isnan(*number_)) {
    return std::isnan(number) ? comparison_ == Comparison::kEqual
                              : comparison_ == Comparison::kNotEqual;
  }
  return compare(number, *number_);
}

bool RunCondition::holdsForText(const std::string& text) const {
  // A text is neither less nor greater than a number: it is as if there were no value.
  return isOrder() && hasNumbers_ && number_ ? false : compare(text, text_);
}

bool RunCondition::holdsForHparam(const HparamValue& value) const {
  if (const bool* const flag = std::get_if<bool>(&value.value())) {
    return flag_ && !isOrder() ? compare(*flag, *flag_) : comparison_ == Comparison::kNotEqual;
  }
  if (const double* const number = std::get_if<double>(&value.value())) {
    return holdsForNumber(*number);
  }
  const auto& text = std::get<std::string>(value.value());
  // The name 0012345 is not equal to the number 12345.
  const bool comparesNumbers = number_ && (isOrder() || numberOfText(text_));
  const std::optional<double> number = comparesNumbers ? numberOfText(text) : std::nullopt;
  return number ? holdsForNumber(*number) : holdsForText(text);
}

bool RunCondition::holdsFor(const RunOverview& run, double now) const {
  if (column_.kind == RunColumn::Kind::kState) {
    return compare(shownState(run.state), text_);
  }
  if (column_.kind == RunColumn::Kind::kHparam) {
    const HparamValue* const hparam = hparamOf(run, column_.name);
    return hparam != nullptr ? holdsForHparam(*hparam) : comparison_ == Comparison::kNotEqual;
  }
  const RunCell cell = column_.cellOf(run, now);
  if (const double* const number = std::get_if<double>(&cell)) {
    return holdsForNumber(*number);
  }
  const std::string* const text = std::get_if<std::string>(&cell);
  return text != nullptr ? holdsForText(*text) : comparison_ == Comparison::kNotEqual;
}

}  // namespace steptape::tools
