// SPDX-License-Identifier: Apache-2.0
#include "tools/steptape/tables/tag_tables.h"

#include <algorithm>
#include <cstddef>
#include <fmt/format.h>
#include <utility>

#include "tools/steptape/charts/sparkline.h"
#include "tools/steptape/tables/human_text.h"
#include "tools/steptape/tables/table.h"
#include "tools/steptape/terminal/screen_text.h"

namespace steptape::tools {
namespace {

using Align = TableColumn::Align;
using Tags = std::vector<const TagSummary*>;

// A curve of a few characters shows little, and more than 32 add nothing.
constexpr int kFewestCurveColumns = 8;
constexpr int kPreferredCurveColumns = 16;
constexpr int kMostCurveColumns = 32;
// Minimum width of a name, and the width for which some columns of numbers are dropped.
constexpr int kFewestTagColumns = 16;
constexpr int kPreferredTagColumns = 24;
constexpr int kMostPluginColumns = 16;
constexpr int kFewestValueColumns = 12;
constexpr int kPreferredValueColumns = 28;

// Lines in a pipe have no limit.
constexpr int kUnlimited = 1'000'000;

template <typename Text>
TableColumn columnOf(const char* title, Align align, const Tags& tags, Text text) {
  TableColumn column{title, align};
  for (const TagSummary* tag : tags) {
    column.cells.push_back(text(*tag));
  }
  return column;
}

TableColumn nameColumn(const char* title, const Tags& tags, int columns, const Terminal& terminal) {
  return columnOf(title, Align::kLeft, tags, [&](const TagSummary& tag) {
    return cut(tag.tag, std::max(columns, kFewestTagColumns), terminal);
  });
}

TableColumn pointsColumn(const Tags& tags) {
  return columnOf("points", Align::kRight, tags,
                  [](const TagSummary& tag) { return fmt::to_string(tag.points()); });
}

TableColumn stepsColumn(const Tags& tags) {
  return columnOf("steps", Align::kRight, tags, [](const TagSummary& tag) {
    return tag.firstStep == tag.lastStep ? fmt::to_string(tag.firstStep)
                                         : fmt::format("{}..{}", tag.firstStep, tag.lastStep);
  });
}

TableColumn scalarColumn(const char* title, const Tags& tags, double ScalarSummary::*number) {
  return columnOf(title, Align::kRight, tags,
                  [&](const TagSummary& tag) { return shortNumber((*tag.scalars).*number); });
}

std::vector<TableColumn> numberColumns(const Tags& tags) {
  std::vector<TableColumn> columns{pointsColumn(tags),
                                   stepsColumn(tags),
                                   scalarColumn("first", tags, &ScalarSummary::first),
                                   scalarColumn("last", tags, &ScalarSummary::last),
                                   scalarColumn("min", tags, &ScalarSummary::least),
                                   scalarColumn("max", tags, &ScalarSummary::largest)};
  const bool someNotFinite = std::any_of(
      tags.begin(), tags.end(), [](const TagSummary* tag) { return tag->scalars->notFinite > 0; });
  if (someNotFinite) {
    columns.push_back(columnOf("NaN/inf", Align::kRight, tags, [](const TagSummary& tag) {
      return tag.scalars->notFinite == 0 ? "" : fmt::to_string(tag.scalars->notFinite);
    }));
  }
  return columns;
}

/// Returns the width of a line for all columns but the last, each with the gap after it.
int tableColumns(const Terminal& terminal) {
  return lineColumns(terminal) - kInspectIndent - kTableGap;
}

}  // namespace

int lineColumns(const Terminal& terminal) {
  return terminal.isTerminal ? terminal.columns : kUnlimited;
}

std::string scalarTable(const Tags& tags, const Terminal& terminal) {
  constexpr char kTitle[] = "scalar";
  std::vector<TableColumn> columns = numberColumns(tags);
  TableColumn names = nameColumn(kTitle, tags, kUnlimited, terminal);
  // The curve shows the information in these columns.
  narrow(&columns, {"first", "min", "max", "points", "steps", "NaN/inf"},
         tableColumns(terminal) - std::min(widthOf(names), kPreferredTagColumns) -
             kFewestCurveColumns);
  const int room = tableColumns(terminal) - widthOf(columns);
  const int keptForCurve =
      std::clamp(room - kPreferredTagColumns, kFewestCurveColumns, kPreferredCurveColumns);
  names = nameColumn(kTitle, tags, room - keptForCurve, terminal);
  const int curveColumns =
      std::clamp(room - widthOf(names), kFewestCurveColumns, kMostCurveColumns);
  columns.push_back(columnOf("curve", Align::kLeft, tags, [&](const TagSummary& tag) {
    const auto& values = tag.part.series->scalars.values;
    return sparkline({values.begin(), values.end()}, static_cast<std::size_t>(curveColumns),
                     terminal.hasUtf8);
  }));
  columns.insert(columns.begin(), std::move(names));
  return tableText(columns, kInspectIndent);
}

std::string otherTable(const Tags& tags, const Terminal& terminal) {
  std::vector<TableColumn> columns{pointsColumn(tags), stepsColumn(tags)};
  columns.push_back(columnOf("plugin", Align::kLeft, tags, [&](const TagSummary& tag) {
    return cut(tag.part.plugin(), kMostPluginColumns, terminal);
  }));
  narrow(&columns, {"points", "steps"},
         tableColumns(terminal) - kFewestTagColumns - kFewestValueColumns);
  const int room = tableColumns(terminal) - widthOf(columns);
  TableColumn names = nameColumn("other tag", tags, room - kPreferredValueColumns, terminal);
  const int valueColumns = room - widthOf(names);
  columns.push_back(columnOf("last value", Align::kLeft, tags, [&](const TagSummary& tag) {
    return beginning(shown(tag.contents, terminal), valueColumns, terminal.hasUtf8);
  }));
  columns.insert(columns.begin(), std::move(names));
  return tableText(columns, kInspectIndent);
}

}  // namespace steptape::tools
