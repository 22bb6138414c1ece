// SPDX-License-Identifier: Apache-2.0
// Small parts of the commands' output: numbers, JSON, tables, names.
#include <cmath>
#include <cstdint>
#include <limits>
#include <string>

#include "tools/steptape/help/closest_name.h"
#include "tools/steptape/runs/name_filter.h"
#include "tools/steptape/tables/human_text.h"
#include "tools/steptape/tables/json_pieces.h"
#include "tools/steptape/tables/table.h"
#include "tools/steptape/terminal/screen_text.h"

#include <gtest/gtest.h>

namespace steptape::tools {
namespace {

TEST(HumanBytes, HasThreeDigits) {
  EXPECT_EQ(humanBytes(0), "0 B");
  EXPECT_EQ(humanBytes(1023), "1023 B");
  EXPECT_EQ(humanBytes(1024), "1.00 KiB");
  EXPECT_EQ(humanBytes(1536), "1.50 KiB");
  EXPECT_EQ(humanBytes(10 * 1024), "10.0 KiB");
  EXPECT_EQ(humanBytes(300 * 1024), "300 KiB");
}

TEST(HumanBytes, UsesTheNextUnitInsteadOfAFourthDigit) {
  EXPECT_EQ(humanBytes(999 * 1024), "999 KiB");
  EXPECT_EQ(humanBytes(1000 * 1024), "0.98 MiB");
  EXPECT_EQ(humanBytes(std::numeric_limits<std::uint64_t>::max()), "16.0 EiB");
}

TEST(HumanDuration, HasTheFormOfAClock) {
  EXPECT_EQ(humanDuration(0), "0 ms");
  EXPECT_EQ(humanDuration(0.015), "15 ms");
  EXPECT_EQ(humanDuration(0.25), "0.2 s");
  EXPECT_EQ(humanDuration(12.4), "12 s");
  EXPECT_EQ(humanDuration(59.6), "1:00");
  EXPECT_EQ(humanDuration(205), "3:25");
  EXPECT_EQ(humanDuration(3723), "1:02:03");
  EXPECT_EQ(humanDuration(2 * 86400 + 3 * 3600), "2 d 3:00:00");
}

TEST(HumanDuration, AcceptsEveryDouble) {
  EXPECT_EQ(humanDuration(1e300), "1e+300 s");
  EXPECT_EQ(humanDuration(std::nan("")), "nan s");
}

TEST(ShortNumber, HasFourDigits) {
  EXPECT_EQ(shortNumber(1.0 / 3), "0.3333");
  EXPECT_EQ(shortNumber(-1234.5), "-1234");
  EXPECT_EQ(shortNumber(1.5e-9), "1.5e-09");
}

TEST(ShortNumber, ShowsAllDigitsOfLargeNumbers) {
  EXPECT_EQ(shortNumber(12345.6), "12346");
  EXPECT_EQ(shortNumber(9'999'999), "9999999");
  EXPECT_EQ(shortNumber(1e7), "1e+07");
}

TEST(Counted, UsesSingularAndPlural) {
  EXPECT_EQ(counted(0, "file"), "0 files");
  EXPECT_EQ(counted(1, "file"), "1 file");
  EXPECT_EQ(counted(2, "file"), "2 files");
}

TEST(JsonText, FitsTogether) {
  EXPECT_EQ(JsonObject()
                .add("tag", jsonString("a\"b\xff"))
                .add("value", jsonNumber(std::nan("")))
                .add("step", jsonInteger(std::int64_t{-3}))
                .add("bytes", jsonInteger(std::numeric_limits<std::uint64_t>::max()))
                .add("ok", jsonBool(true))
                .add("shape", jsonShortArray({"2", "3"}))
                .toString(),
            "{\"tag\": \"a\\\"b\xef\xbf\xbd\", \"value\": \"NaN\", \"step\": -3, "
            "\"bytes\": 18446744073709551615, \"ok\": true, \"shape\": [2, 3]}");
}

TEST(JsonText, WritesOneArrayElementPerLine) {
  EXPECT_EQ(jsonArray({"1", "2"}), "[\n1,\n2\n]");
  EXPECT_EQ(jsonArray({}), "[]");
  EXPECT_EQ(JsonObject().toString(), "{}");
}

TEST(Table, AlignsWordsAndNumbers) {
  const std::vector<TableColumn> columns{{"tag", TableColumn::Align::kLeft, {"loss", "a"}},
                                         {"points", TableColumn::Align::kRight, {"7", "12345678"}},
                                         {"note", TableColumn::Align::kLeft, {"", "b"}}};
  EXPECT_EQ(tableText(columns, 2),
            "  tag     points  note\n"
            "  loss         7\n"
            "  a     12345678  b\n");
}

TEST(Table, MayHaveNoTitles) {
  EXPECT_EQ(
      tableText({{"", TableColumn::Align::kLeft, {"a"}}, {"", TableColumn::Align::kRight, {"1"}}},
                2),
      "  a  1\n");
}

TEST(Table, DropsColumnsUntilItFits) {
  const std::vector<TableColumn> wide{{"tag", TableColumn::Align::kLeft, {"loss"}},
                                      {"min", TableColumn::Align::kRight, {"0.25"}},
                                      {"max", TableColumn::Align::kRight, {"0.5"}}};
  const auto titlesWithin = [&](int width) {
    std::vector<TableColumn> columns = wide;
    narrow(&columns, {"max", "points", "min"}, width);
    std::string titles;
    for (const TableColumn& column : columns) {
      titles += column.title + ' ';
    }
    return titles;
  };
  // Each is followed by a gap of two: 6, 6 and 5.
  EXPECT_EQ(titlesWithin(17), "tag min max ");
  EXPECT_EQ(titlesWithin(16), "tag min ");
  EXPECT_EQ(titlesWithin(11), "tag ");
  EXPECT_EQ(titlesWithin(0), "tag ");
}

TEST(Table, ShortensNamesOnANarrowTerminal) {
  const std::vector<TableColumn> columns{
      {"tag", TableColumn::Align::kLeft, {"a name that is longer than others"}},
      {"min", TableColumn::Align::kRight, {"0.25"}},
      {"max", TableColumn::Align::kRight, {"0.5"}}};
  Terminal terminal;
  terminal.isTerminal = true;
  terminal.columns = 32;
  EXPECT_EQ(tableText(fittedColumns(columns, {"min"}, 2, terminal), 2),
            "  tag                   min  max\n"
            "  a name t..an others  0.25  0.5\n");
  terminal.columns = 24;
  EXPECT_EQ(tableText(fittedColumns(columns, {"min"}, 2, terminal), 2),
            "  tag                max\n"
            "  a name ..n others  0.5\n");
  terminal.isTerminal = false;
  EXPECT_EQ(widthOf(fittedColumns(columns, {"min"}, 2, terminal)), widthOf(columns));
}

TEST(Table, IsEmptyWithoutRows) {
  EXPECT_EQ(tableBelow({{"tag", TableColumn::Align::kLeft, {}}}, {}, 2, Terminal()), "");
  EXPECT_EQ(tableBelow({{"tag", TableColumn::Align::kLeft, {"loss"}}}, {}, 2, Terminal()),
            "\n  tag\n  loss\n");
}

TEST(FactLines, BreakBetweenFacts) {
  Terminal terminal;
  terminal.isTerminal = true;
  terminal.columns = 16;
  EXPECT_EQ(factLines({"one", "two", "three", "four"}, 2, terminal),
            "  one, two,\n"
            "  three, four\n");
  EXPECT_EQ(factLines({"longer than a line", "one"}, 2, terminal),
            "  longer than a line,\n"
            "  one\n");
  terminal.isTerminal = false;
  EXPECT_EQ(factLines({"one", "two", "three", "four"}, 2, terminal), "  one, two, three, four\n");
}

TEST(ClosestName, ForgivesTypingErrors) {
  const std::vector<std::string> names{"inspect", "export", "check"};
  EXPECT_EQ(closestName("insepct", names), "inspect");
  EXPECT_EQ(closestName("exprt", names), "export");
  EXPECT_EQ(closestName("checkk", names), "check");
  EXPECT_EQ(closestName("chexk", names), "check");
  EXPECT_EQ(closestName("tial", {"tail"}), "tail");
}

TEST(ClosestName, IgnoresDistantNames) {
  EXPECT_EQ(closestName("train", {"inspect", "tail"}), "");
}

TEST(NamePattern, MatchesAnywhereUnlessAnchored) {
  EXPECT_TRUE(NamePattern().isFoundIn("anything"));
  EXPECT_TRUE(NamePattern("ss/t").isFoundIn("loss/train"));
  EXPECT_FALSE(NamePattern("^train").isFoundIn("loss/train"));
}

TEST(NamePattern, AcceptsNamesOfAnyLength) {
  EXPECT_TRUE(NamePattern("^(a|b)*").isFoundIn(std::string(10'000'000, 'a')));
}

}  // namespace
}  // namespace steptape::tools
