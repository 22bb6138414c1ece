// SPDX-License-Identifier: Apache-2.0
#include "storage/s3/xml_text.h"

#include <optional>
#include <string>
#include <string_view>

#include <gtest/gtest.h>

namespace steptape::detail::storage {
namespace {

TEST(XmlText, FindsEachElementOfANameInTurn) {
  const std::string xml =
      "<?xml version=\"1.0\"?>\n<List xmlns=\"x\"><Item><Key>a</Key></Item> <Item></Item>"
      "<Items>no</Items><Item><Key>b</Key></Item></List>";
  std::string_view rest = xml;
  EXPECT_EQ(nextElement(&rest, "Item"), "<Key>a</Key>");
  EXPECT_EQ(nextElement(&rest, "Item"), "");
  EXPECT_EQ(nextElement(&rest, "Item"), "<Key>b</Key>");
  EXPECT_EQ(nextElement(&rest, "Item"), std::nullopt);
  EXPECT_EQ(rest, "</List>");
}

TEST(XmlText, IsThatOfTheFirstElement) {
  EXPECT_EQ(elementText("<E><Code>A</Code><Code>B</Code></E>", "Code"), "A");
  EXPECT_EQ(elementText("<E/>", "Code"), "");
  EXPECT_EQ(elementText("", "Code"), "");
  EXPECT_EQ(elementText("<Code>cut o", "Code"), "");
  EXPECT_EQ(elementText("</Code><Code>", "Code"), "");
}

TEST(XmlText, StandsForEntitiesAndNumbers) {
  EXPECT_EQ(elementText("<Key>a&amp;b&lt;c&gt;d&quot;e&apos;f</Key>", "Key"), "a&b<c>d\"e'f");
  EXPECT_EQ(elementText("<Key>&#10;&#x41;&#xE9;&#x20AC;&#x1F600;</Key>", "Key"),
            "\nA\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80");
  EXPECT_EQ(elementText("<Key>&amp;lt;</Key>", "Key"), "&lt;");
}

TEST(XmlText, KeepsWhatIsNoEntity) {
  for (const std::string text : {"&", "a & b", "&nbsp;", "&;", "&#;", "&#x;", "&#-1;", "&#12a;",
                                 "&#1114112;", "&#99999999999;", "& #65;", "a;b"}) {
    EXPECT_EQ(elementText("<Key>" + text + "</Key>", "Key"), text);
  }
}

}  // namespace
}  // namespace steptape::detail::storage
