// SPDX-License-Identifier: Apache-2.0
#include "values/kinds/text.h"

#include "support/expect_error.h"

namespace steptape {
namespace {

using test::expectInvalidArgument;

TEST(TextValue, IsAScalarStringOfTheTextPlugin) {
  event::SummaryMetadata metadata;
  metadata.displayName = "Notes";
  metadata.description = "what changed";
  const event::Value value = detail::values::textValue("note", "*markdown*", metadata);

  EXPECT_EQ(value.tag, "note");
  const auto& tensor = std::get<event::Tensor>(value.data);
  EXPECT_EQ(tensor.type, event::TensorType::kString);
  EXPECT_TRUE(tensor.shape.empty());
  EXPECT_EQ(tensor.strings, std::vector<std::string>{"*markdown*"});
  EXPECT_EQ(value.metadata->pluginName, "text");
  EXPECT_EQ(value.metadata->pluginContent, "");
  EXPECT_EQ(value.metadata->dataClass, event::DataClass::kTensor);
  EXPECT_EQ(value.metadata->displayName, "Notes");
  EXPECT_EQ(value.metadata->description, "what changed");
}

TEST(TextValue, ReplacesInvalidUtf8) {
  const event::Value value = detail::values::textValue("note", "caf\xe9 \xF0\x9F\x98\x80");
  EXPECT_EQ(std::get<event::Tensor>(value.data).strings,
            std::vector<std::string>{"caf\xEF\xBF\xBD \xF0\x9F\x98\x80"});
}

TEST(TextTable, OfOneColumnHasRankOne) {
  const event::Tensor table = detail::values::textTable(std::vector<std::string>{"a", "b", "c"});
  EXPECT_EQ(table.type, event::TensorType::kString);
  EXPECT_EQ(table.shape, std::vector<std::int64_t>{3});
  EXPECT_EQ(table.strings, (std::vector<std::string>{"a", "b", "c"}));
}

TEST(TextTable, HoldsItsCellsRowByRow) {
  const event::Tensor table = detail::values::textTable({{"a", "b", "c"}, {"d", "e", "f"}});
  EXPECT_EQ(table.type, event::TensorType::kString);
  EXPECT_EQ(table.shape, (std::vector<std::int64_t>{2, 3}));
  EXPECT_EQ(table.strings, (std::vector<std::string>{"a", "b", "c", "d", "e", "f"}));
}

TEST(TextTable, NamesTheFirstRowOfAnotherLength) {
  expectInvalidArgument(
      [] {
        detail::values::textTable({{"a", "b", "c"}, {"d", "e", "f"}, {"g"}, {}});
      },
      "got 1 cells in row 2; expected 3");
}

TEST(TextTable, RejectsATableWithoutCells) {
  expectInvalidArgument([] { detail::values::textTable(std::vector<std::string>()); },
                        "got no rows; expected at least one");
  expectInvalidArgument([] { detail::values::textTable(std::vector<std::vector<std::string>>()); },
                        "got no rows; expected at least one");
  expectInvalidArgument([] { detail::values::textTable(std::vector<std::vector<std::string>>(2)); },
                        "got no cells in row 0; expected at least one");
}

TEST(TextTableValue, IsATableOfTheTextPlugin) {
  event::SummaryMetadata metadata;
  metadata.displayName = "Classes";
  metadata.description = "of the data";
  const event::Value value = detail::values::textTableValue(
      "classes", detail::values::textTable(std::vector<std::string>{"caf\xe9", "b"}), metadata);
  EXPECT_EQ(value.tag, "classes");
  const auto& tensor = std::get<event::Tensor>(value.data);
  EXPECT_EQ(tensor.shape, std::vector<std::int64_t>{2});
  EXPECT_EQ(tensor.strings, (std::vector<std::string>{"caf\xEF\xBF\xBD", "b"}));
  EXPECT_EQ(value.metadata->pluginName, "text");
  EXPECT_EQ(value.metadata->pluginContent, "");
  EXPECT_EQ(value.metadata->dataClass, event::DataClass::kTensor);
  EXPECT_EQ(value.metadata->displayName, "Classes");
  EXPECT_EQ(value.metadata->description, "of the data");
}

TEST(MarkdownTable, WritesOneLineARow) {
  EXPECT_EQ(
      detail::values::markdownTable({"operator", "calls"}, {{"aten::add", "3"}, {"aten::mm", "1"}}),
      "| operator | calls |\n"
      "| --- | --- |\n"
      "| aten::add | 3 |\n"
      "| aten::mm | 1 |\n");
}

TEST(MarkdownTable, EscapesWhatWouldEndACellOrARow) {
  EXPECT_EQ(detail::values::markdownTable({"a|b"}, {{"1\r\n2"}}),
            "| a\\|b |\n| --- |\n| 1<br>2 |\n");
}

TEST(MarkdownTable, MayHaveNoRows) {
  EXPECT_EQ(detail::values::markdownTable({"only"}, {}), "| only |\n| --- |\n");
}

TEST(MarkdownTable, RejectsAnEmptyHeader) {
  expectInvalidArgument([] { detail::values::markdownTable({}, {}); },
                        "got an empty header; expected a title per column");
}

TEST(MarkdownTable, NamesTheFirstRowOfAnotherLength) {
  expectInvalidArgument(
      [] {
        detail::values::markdownTable({"a", "b"}, {{"1", "2"}, {"3"}});
      },
      "got 1 cells in row 1; expected 2");
}

}  // namespace
}  // namespace steptape
