// SPDX-License-Identifier: Apache-2.0
#include "steptape/summary/text.h"

#include "summary/error_matcher.h"

namespace steptape {
namespace {

TEST(TextValue, IsAScalarStringOfTheTextPlugin) {
  SummaryMetadata metadata;
  metadata.displayName = "Notes";
  metadata.description = "what changed";
  const Value value = textValue("note", "*markdown*", metadata);

  EXPECT_EQ(value.tag, "note");
  const auto& tensor = std::get<Tensor>(value.data);
  EXPECT_EQ(tensor.type, TensorType::kString);
  EXPECT_TRUE(tensor.shape.empty());
  EXPECT_EQ(tensor.strings, std::vector<std::string>{"*markdown*"});
  EXPECT_EQ(value.metadata->pluginName, "text");
  EXPECT_EQ(value.metadata->pluginContent, "");
  EXPECT_EQ(value.metadata->dataClass, DataClass::kTensor);
  EXPECT_EQ(value.metadata->displayName, "Notes");
  EXPECT_EQ(value.metadata->description, "what changed");
}

TEST(MarkdownTable, WritesOneLineARow) {
  EXPECT_EQ(markdownTable({"operator", "calls"}, {{"aten::add", "3"}, {"aten::mm", "1"}}),
            "| operator | calls |\n"
            "| --- | --- |\n"
            "| aten::add | 3 |\n"
            "| aten::mm | 1 |\n");
}

TEST(MarkdownTable, EscapesWhatWouldEndACellOrARow) {
  EXPECT_EQ(markdownTable({"a|b"}, {{"1\r\n2"}}), "| a\\|b |\n| --- |\n| 1<br>2 |\n");
}

TEST(MarkdownTable, MayHaveNoRows) {
  EXPECT_EQ(markdownTable({"only"}, {}), "| only |\n| --- |\n");
}

TEST(MarkdownTable, RejectsAnEmptyHeader) {
  expectInvalidArgument([] { markdownTable({}, {}); },
                        "table: the header is empty, wanted a title a column");
}

TEST(MarkdownTable, NamesTheFirstRowOfAnotherLength) {
  expectInvalidArgument(
      [] {
        markdownTable({"a", "b"}, {{"1", "2"}, {"3"}});
      },
      "table: row 1 has 1 cells, wanted 2");
}

}  // namespace
}  // namespace steptape
