// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <functional>
#include <set>
#include <utility>
#include <vector>

#include "steptape/profile/trace_summary.h"

#include "base/utf8.h"
#include "values/kinds/table_cells.h"
#include "values/kinds/text.h"

namespace steptape {
namespace {

using detail::values::brokenText;
using detail::values::codeSpan;
using detail::values::microsecondsText;
using detail::values::millisecondsText;
using detail::values::percentText;

/// Formats with one decimal, in any locale.
std::string oneDecimal(double value) {
  const std::int64_t tenths = std::llround(value * 10.0);
  return std::to_string(tenths / 10) + "." + std::to_string(tenths % 10);
}

/// Operations per nanosecond are 10^9 operations per second.
std::string gigaFlops(const OpStats& op) {
  return op.flops > 0.0 && op.total.count() > 0
             ? oneDecimal(op.flops / static_cast<double>(op.total.count()))
             : "";
}

std::string megabytes(const OpStats& op) {
  return op.bytes > 0 ? oneDecimal(static_cast<double>(op.bytes) * 1e-6) : "";
}

struct Column {
  std::string title;
  std::function<std::string(const OpStats&)> cell;
  bool isText = false;
};

/// Returns the columns that have values.
std::vector<Column> columnsFor(const OpProfile& profile) {
  std::int64_t allSelfNanos = 0;
  bool hasModules = false;
  bool hasShapes = false;
  bool hasFlops = false;
  bool hasBytes = false;
  for (const OpStats& op : profile.operators) {
    allSelfNanos += op.self.count();
    hasModules = hasModules || !op.module.empty();
    hasShapes = hasShapes || !op.shapes.empty();
    hasFlops = hasFlops || op.flops > 0.0;
    hasBytes = hasBytes || op.bytes > 0;
  }
  std::vector<Column> columns;
  const auto add = [&](bool isTold, Column column) {
    if (isTold) {
      columns.push_back(std::move(column));
    }
  };
  const auto calls = [](const OpStats& op) { return static_cast<std::int64_t>(op.calls); };
  add(true, {hasModules ? "module" : "operator", [](auto& op) { return op.name; }, true});
  add(hasShapes, {"shapes", [](auto& op) { return op.shapes; }, true});
  add(!hasModules, {"kind", [](auto& op) { return spanKindName(op.kind); }, true});
  add(true, {"calls", [](auto& op) { return std::to_string(op.calls); }});
  add(true, {"self ms", [](auto& op) { return millisecondsText(op.self.count()); }});
  add(true, {"self %", [=](auto& op) { return percentText(op.self.count(), allSelfNanos); }});
  add(true, {"total ms", [](auto& op) { return millisecondsText(op.total.count()); }});
  add(true, {"mean µs", [=](auto& op) {
               return calls(op) == 0 ? "" : microsecondsText(op.total.count() / calls(op));
             }});
  add(hasFlops, {"GFLOP/s", gigaFlops});
  add(hasBytes, {"MB", megabytes});
  return columns;
}

/// The cells of a table, with its titles in the first row.
struct Cells {
  std::vector<Column> columns;
  std::vector<std::vector<std::string>> rows;
};

Cells cellsOf(const OpProfile& profile, const OpTableOptions& options) {
  Cells cells{columnsFor(profile), {}};
  for (const OpStats& op : profile.operators) {
    if (cells.rows.size() == static_cast<std::size_t>(options.maxRows)) {
      break;
    }
    std::vector<std::string>& row = cells.rows.emplace_back();
    row.push_back(std::to_string(cells.rows.size()));
    for (const Column& column : cells.columns) {
      row.push_back(column.cell(op));
    }
  }
  return cells;
}

std::string notes(const OpProfile& profile, std::size_t rows) {
  std::string text = "Window of " + millisecondsText(profile.wall.count()) + " ms, " +
                     percentText(profile.covered.count(), profile.wall.count()) +
                     " % of it inside recorded spans.";
  if (profile.steps < profile.stepsPassed) {
    text += " " + std::to_string(profile.steps) + " of " + std::to_string(profile.stepsPassed) +
            " steps were recorded.";
  }
  if (profile.overhead > 0.0) {
    text += " Recording cost " + oneDecimal(profile.overhead * 100.0) + " % of the time.";
  }
  if (rows < profile.operators.size()) {
    text += " The " + std::to_string(profile.operators.size() - rows) +
            " operators with the least self time are left out.";
  }
  if (profile.dropped > 0) {
    text += " **" + std::to_string(profile.dropped) +
            " spans were dropped**: raise recordsPerThread or call step() more often.";
  }
  return text + "\n";
}

/// Returns the terminal columns of a text: one per UTF-8 character, which is right for our texts.
std::size_t widthOf(const std::string& text) {
  return static_cast<std::size_t>(std::count_if(
      text.begin(), text.end(), [](char c) { return !detail::base::isUtf8Continuation(c); }));
}

std::string shortened(const std::string& text) {
  constexpr std::size_t kMaxWidth = 60;
  return widthOf(text) <= kMaxWidth ? text : text.substr(0, kMaxWidth - 3) + "...";
}

}  // namespace

std::map<std::string, std::chrono::nanoseconds> operatorTimes(const OpProfile& profile) {
  std::map<std::string, std::chrono::nanoseconds> times;
  for (const OpStats& op : profile.operators) {
    if (op.kind == SpanKind::kOperator && op.calls != 0) {
      times[op.name] = op.total / static_cast<std::int64_t>(op.calls);
    }
  }
  return times;
}

std::string opTable(const OpProfile& profile, const OpTableOptions& options) {
  Cells cells = cellsOf(profile, options);
  std::vector<std::string> titles{"#"};
  for (const Column& column : cells.columns) {
    titles.push_back(column.title);
  }
  for (std::vector<std::string>& row : cells.rows) {
    row[1] = codeSpan(row[1]);
    row[2] = brokenText(row[2]);
  }
  return detail::values::markdownTable(titles, cells.rows) + "\n" +
         notes(profile, cells.rows.size());
}

std::string opTableForConsole(const OpProfile& profile, const OpTableOptions& options) {
  const Cells cells = cellsOf(profile, options);
  std::vector<std::vector<std::string>> rows{{"#"}};
  for (const Column& column : cells.columns) {
    rows[0].push_back(column.title);
  }
  rows.insert(rows.end(), cells.rows.begin(), cells.rows.end());
  std::string text;
  std::vector<std::size_t> widths(rows[0].size(), 0);
  for (std::vector<std::string>& row : rows) {
    for (std::size_t i = 0; i < row.size(); ++i) {
      row[i] = shortened(row[i]);
      widths[i] = std::max(widths[i], widthOf(row[i]));
    }
  }
  for (const std::vector<std::string>& row : rows) {
    for (std::size_t i = 0; i < row.size(); ++i) {
      const std::string padding(widths[i] - widthOf(row[i]), ' ');
      const bool isText = i > 0 && cells.columns[i - 1].isText;
      text += (i == 0 ? "" : "  ") + (isText ? row[i] + padding : padding + row[i]);
    }
    text.erase(text.find_last_not_of(' ') + 1);
    text += '\n';
  }
  return text + '\n' + notes(profile, cells.rows.size());
}

void writeOpStats(SummaryWriter& writer, const OpProfile& profile, std::int64_t step,
                  const OpTableOptions& options) {
  writer.addText("profile/operators", opTable(profile, options), step);
  if (!options.detailScalars) {
    return;
  }
  ScalarOptions scalar;
  if (profile.overhead > 0.0) {
    scalar.description = "Share of the time that recording cost.";
    writer.addScalar("profile/overhead", profile.overhead, step, scalar);
  }
  scalar.description =
      "Milliseconds in all recorded steps together, without those in operators that it calls.";
  std::set<std::string> used;
  for (const OpStats& op : profile.operators) {
    if (used.size() == static_cast<std::size_t>(options.maxScalars)) {
      break;
    }
    std::string tag = "profile/self_ms/" + op.name;
    if (!used.insert(tag).second) {
      tag += std::string(" (") + spanKindName(op.kind) + ")";
      used.insert(tag);
    }
    const std::chrono::duration<double, std::milli> self = op.self;
    writer.addScalar(tag, self.count(), step, scalar);
  }
}

}  // namespace steptape
