// SPDX-License-Identifier: Apache-2.0
#include "log/reader/tag_index.h"

#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace steptape::detail::log {
namespace {

struct Entry {
  std::string tag;
  Entry* successor = nullptr;
};

TEST(TagIndex, HasAnEntryForEachTag) {
  TagIndex<Entry> table;
  Entry* const a = table.find("a");
  Entry* const b = table.find("b");
  EXPECT_NE(a, b);
  EXPECT_EQ(a->tag, "a");
  EXPECT_EQ(b->tag, "b");
}

TEST(TagIndex, FindsTagsInAnyOrder) {
  TagIndex<Entry> table;
  Entry* const a = table.find("a");
  Entry* const b = table.find("b");
  Entry* const c = table.find("c");
  // In the same order, backwards, and each twice.
  for (const std::string tags : {"abcabc", "cbacba", "aabbccaa"}) {
    for (const char tag : tags) {
      EXPECT_EQ(table.find({&tag, 1}), tag == 'a' ? a : tag == 'b' ? b : c) << tags;
    }
  }
}

TEST(TagIndex, PredictsTheNextTag) {
  TagIndex<Entry> table;
  Entry* const a = table.find("a");
  EXPECT_EQ(a->successor, a);
  Entry* const b = table.find("b");
  EXPECT_EQ(a->successor, b);
  table.find("a");
  EXPECT_EQ(b->successor, a);
}

TEST(TagIndex, TreatsAnEmptyTagLikeAnyOther) {
  TagIndex<Entry> table;
  Entry* const empty = table.find("");
  EXPECT_NE(table.find("a"), empty);
  EXPECT_EQ(table.find(""), empty);
}

TEST(TagIndex, KeepsTheAddressesOfEntries) {
  TagIndex<Entry> table;
  std::vector<Entry*> entries;
  for (int i = 0; i < 1000; ++i) {
    entries.push_back(table.find(std::to_string(i)));
  }
  for (int i = 0; i < 1000; ++i) {
    ASSERT_EQ(table.find(std::to_string(i)), entries[static_cast<std::size_t>(i)]);
  }
}

}  // namespace
}  // namespace steptape::detail::log
