// SPDX-License-Identifier: Apache-2.0
#include "tools/steptape/tables/inspect_text.h"

#include <algorithm>
#include <ctime>
#include <filesystem>
#include <fmt/format.h>
#include <vector>

#include "tools/steptape/tables/human_text.h"
#include "tools/steptape/tables/table.h"
#include "tools/steptape/tables/tag_tables.h"
#include "tools/steptape/terminal/screen_text.h"

namespace steptape::tools {
namespace {

constexpr int kFewestNameColumns = 16;

/// Returns the first line, with a bold name if there is color; two lines if one is too narrow.
std::string titleLine(const RunSummary& run, const Terminal& terminal) {
  const std::string counts =
      fmt::format("{}, {}, {}, {}", counted(run.files.size(), "file"), humanBytes(run.bytes),
                  counted(run.tags.size(), "tag"), counted(run.points, "point"));
  std::string separator = ": ";
  int room = lineColumns(terminal) - columnsOf(separator + counts);
  if (room < std::min(kFewestNameColumns, columnsOf(run.directory))) {
    separator = fmt::format(":\n{:{}}", "", kInspectIndent);
    room = lineColumns(terminal) - 1;
  }
  const std::string name = cut(run.directory, room, terminal);
  return fmt::format("{}{}{}{}{}\n", terminal.hasColor ? "\033[1m" : "", name,
                     terminal.hasColor ? "\033[0m" : "", separator, counts);
}

/// A time by calendar and clock.
struct LocalTime {
  std::string day;    ///< "2026-11-21"
  std::string clock;  ///< "14:03:59"
};

/// Returns the number itself if no calendar has the time.
LocalTime localTimeOf(double wallTime) {
  constexpr double kYear10000 = 253'402'300'800;
  if (!(wallTime >= 0 && wallTime < kYear10000)) {
    return {shortNumber(wallTime), "s"};
  }
  const std::tm time = localTime(wallTime);
  return {fmt::format("{}-{:02}-{:02}", time.tm_year + 1900, time.tm_mon + 1, time.tm_mday),
          fmt::format("{:02}:{:02}:{:02}", time.tm_hour, time.tm_min, time.tm_sec)};
}

/// Returns "  2026-11-21 14:03:59 to 14:10:22, 6:23".
std::string spanLine(const TimeSpan& span) {
  const LocalTime first = localTimeOf(span.first);
  const LocalTime last = localTimeOf(span.last);
  const std::string lastDay = last.day == first.day ? "" : last.day + " ";
  return fmt::format("{:{}}{} {} to {}{}, {}\n", "", kInspectIndent, first.day, first.clock,
                     lastDay, last.clock, humanDuration(span.last - span.first));
}

/// Returns a short description of a file's damage.
std::string damageText(const FileSummary& file) {
  if (file.damage.empty()) {
    return "";
  }
  std::uint64_t bytes = 0;
  bool isDamaged = false;
  for (const Damage& damage : file.damage) {
    if (damage.outcome == ReadOutcome::kIoError) {
      return "not readable";
    }
    bytes += damage.bytes;
    isDamaged = isDamaged || damage.outcome != ReadOutcome::kTruncated;
  }
  return isDamaged ? fmt::format("damaged: {} in {}", humanBytes(bytes),
                                 counted(file.damage.size(), "gap"))
                   : fmt::format("ends inside a record, {} into it", humanBytes(bytes));
}

std::string fileLines(const RunSummary& run, const Terminal& terminal) {
  TableColumn names{"", TableColumn::Align::kLeft};
  TableColumn sizes;
  TableColumn damage{"", TableColumn::Align::kLeft};
  for (const FileSummary& file : run.files) {
    sizes.cells.push_back(humanBytes(file.bytes));
    damage.cells.push_back(damageText(file));
  }
  const int room = lineColumns(terminal) - kInspectIndent - widthOf(sizes) - 2 * kTableGap;
  const int nameColumns = std::max(kFewestNameColumns, room - widthOf(damage));
  for (const FileSummary& file : run.files) {
    const std::string name = std::filesystem::path(file.path).filename().string();
    names.cells.push_back(cut(name, nameColumns, terminal));
  }
  for (std::string& text : damage.cells) {
    text = beginning(text, room - widthOf(names), terminal.hasUtf8);
  }
  return tableText({names, sizes, damage}, kInspectIndent);
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
  text += run.span.isKnown() ? spanLine(run.span) : "";
  text += fileLines(run, terminal);
  text += scalars.empty() ? "" : '\n' + scalarTable(scalars, terminal);
  text += others.empty() ? "" : '\n' + otherTable(others, terminal);
  return text;
}

}  // namespace steptape::tools
