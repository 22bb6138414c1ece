// SPDX-License-Identifier: Apache-2.0
#include "tools/steptape/tables/inspect_text.h"

#include <algorithm>
#include <cmath>
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
                  counted(run.tagCount, "tag"), counted(run.points, "point"));
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

// The first second that no calendar date of four digits has.
constexpr double kYear10000 = 253'402'300'800;

bool isDate(double wallTime) {
  return wallTime >= 0 && wallTime < kYear10000;
}

/// Returns "2026-11-21 14:03:59"; "1795700000000 s" if no calendar has the time.
/// @param day Left out if it is that of the time.
std::string timeText(double wallTime, const std::string& day = "") {
  if (!isDate(wallTime)) {
    return fmt::format("{} s", wallTime);
  }
  const std::tm time = localTime(wallTime);
  const std::string own =
      fmt::format("{}-{:02}-{:02} ", time.tm_year + 1900, time.tm_mon + 1, time.tm_mday);
  return fmt::format("{}{:02}:{:02}:{:02}", day == own ? "" : own, time.tm_hour, time.tm_min,
                     time.tm_sec);
}

/// Returns the unit in which a time after the year 9999 is one of today, with a question mark.
std::string likelyUnit(double wallTime) {
  constexpr double kYear2000 = 946'684'800;
  constexpr double kYear2200 = 7'258'118'400;
  double factor = 1;
  for (const char* const unit : {"milliseconds", "microseconds", "nanoseconds"}) {
    factor *= 1000;
    if (wallTime / factor >= kYear2000 && wallTime / factor < kYear2200) {
      return fmt::format(": {}?", unit);
    }
  }
  return "";
}

/// Returns "  2026-11-21 14:03:59 to 14:10:22, 6:23".
std::string spanLine(const TimeSpan& span) {
  const std::string first = timeText(span.first);
  const std::string day = isDate(span.first) ? first.substr(0, first.find(' ') + 1) : "";
  const std::string last = timeText(span.last, day);
  std::string rest =
      std::isfinite(span.last - span.first) ? ", " + humanDuration(span.last - span.first) : "";
  if (std::isfinite(span.last) && span.last >= kYear10000) {
    // The difference may have another unit, too.
    rest = ", beyond the year 9999" + likelyUnit(span.last);
  }
  return fmt::format("{:{}}{} to {}{}\n", "", kInspectIndent, first, last, rest);
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
                     return left->part.plugin() < right->part.plugin();
                   });
  std::string text = titleLine(run, terminal);
  text += run.span.isKnown() ? spanLine(run.span) : "";
  text += fileLines(run, terminal);
  text += scalars.empty() ? "" : '\n' + scalarTable(scalars, terminal);
  text += others.empty() ? "" : '\n' + otherTable(others, terminal);
  return text;
}

}  // namespace steptape::tools
