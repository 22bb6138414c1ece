// SPDX-License-Identifier: Apache-2.0
#include "tools/inspect_text.h"

#include <algorithm>
#include <ctime>
#include <filesystem>
#include <fmt/format.h>
#include <utility>
#include <vector>

#include "tools/human_text.h"
#include "tools/screen_text.h"
#include "tools/table.h"
#include "tools/tag_tables.h"

namespace steptape::tools {
namespace {

constexpr int kFewestNameColumns = 16;

/// The first line, its name bold where there is colour.
std::string titleLine(const RunSummary& run, const Terminal& terminal) {
  const std::string counts =
      fmt::format(": {}, {}, {}, {}", counted(run.files.size(), "file"), humanBytes(run.bytes),
                  counted(run.tags.size(), "tag"), counted(run.points, "point"));
  const int room = std::max(kFewestNameColumns, lineColumns(terminal) - columnsOf(counts));
  const std::string name = cut(run.directory, room, terminal);
  return terminal.hasColor ? fmt::format("\033[1m{}\033[0m{}\n", name, counts)
                           : name + counts + '\n';
}

/// A time as calendar and clock have it.
struct LocalTime {
  std::string day;    ///< "2026-11-21"
  std::string clock;  ///< "14:03:59"
};

/// The number alone where it is no time that a calendar has.
LocalTime localTimeOf(double wallTime) {
  constexpr double kYear10000 = 253'402'300'800;
  if (!(wallTime >= 0 && wallTime < kYear10000)) {
    return {shortNumber(wallTime), "s"};
  }
  const auto seconds = static_cast<std::time_t>(wallTime);
  std::tm time{};
  localtime_r(&seconds, &time);
  return {fmt::format("{}-{:02}-{:02}", time.tm_year + 1900, time.tm_mon + 1, time.tm_mday),
          fmt::format("{:02}:{:02}:{:02}", time.tm_hour, time.tm_min, time.tm_sec)};
}

/// "  2026-11-21 14:03:59 to 14:10:22, 6:23"
std::string spanLine(const TimeSpan& span) {
  const LocalTime first = localTimeOf(span.first);
  const LocalTime last = localTimeOf(span.last);
  const std::string lastDay = last.day == first.day ? "" : last.day + " ";
  return fmt::format("{:{}}{} {} to {}{}, {}\n", "", kInspectIndent, first.day, first.clock,
                     lastDay, last.clock, humanDuration(span.last - span.first));
}

/// The least that a person must know of a file's damage.
std::string damageText(const FileSummary& file) {
  if (file.damage.empty()) {
    return "";
  }
  std::uint64_t bytes = 0;
  bool isDamaged = false;
  for (const Damage& damage : file.damage) {
    bytes += damage.bytes;
    isDamaged = isDamaged || damage.outcome != ReadOutcome::kTruncated;
  }
  return isDamaged ? fmt::format("damaged: {} in {}", humanBytes(bytes),
                                 counted(file.damage.size(), "gap"))
                   : fmt::format("ends inside a record, {} into it", humanBytes(bytes));
}

std::string fileLines(const RunSummary& run, const Terminal& terminal) {
  std::vector<TableColumn> columns(2);
  columns[1].align = TableColumn::Align::kLeft;
  for (const FileSummary& file : run.files) {
    columns[0].cells.push_back(humanBytes(file.bytes));
    columns[1].cells.push_back(damageText(file));
  }
  TableColumn names{"", TableColumn::Align::kLeft};
  const int room = lineColumns(terminal) - kInspectIndent - widthOf(columns);
  for (const FileSummary& file : run.files) {
    names.cells.push_back(cut(std::filesystem::path(file.path).filename().string(),
                              std::max(kFewestNameColumns, room), terminal));
  }
  columns.insert(columns.begin(), std::move(names));
  return tableText(columns, kInspectIndent);
}

}  // namespace

std::string inspectText(const RunSummary& run, const Terminal& terminal) {
  std::vector<const TagSummary*> scalars;
  std::vector<const TagSummary*> others;
  for (const TagSummary& tag : run.tags) {
    (tag.scalars ? scalars : others).push_back(&tag);
  }
  std::stable_sort(others.begin(), others.end(),
                   [](const TagSummary* left, const TagSummary* right) {
                     return left->series->metadata.pluginName < right->series->metadata.pluginName;
                   });
  std::string text = titleLine(run, terminal);
  text += run.span ? spanLine(*run.span) : "";
  text += fileLines(run, terminal);
  text += scalars.empty() ? "" : '\n' + scalarTable(scalars, terminal);
  text += others.empty() ? "" : '\n' + otherTable(others, terminal);
  return text;
}

}  // namespace steptape::tools
