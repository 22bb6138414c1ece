// SPDX-License-Identifier: Apache-2.0
#include "log/writer/tag_cache.h"

#include <memory>
#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace steptape {
namespace {

using detail::log::TagCache;

class TagCacheTest : public ::testing::Test {
 protected:
  void insert(const std::string& tag, std::uint32_t series, std::uint64_t writer = 1) {
    cache_->insert(writer, tag, TagCache::hash(tag), series);
  }
  std::uint32_t find(const std::string& tag, std::uint64_t writer = 1) const {
    return cache_->find(writer, tag, TagCache::hash(tag));
  }

  std::unique_ptr<TagCache> cache_ = std::make_unique<TagCache>();
};

TEST_F(TagCacheTest, FindsTagsOfEveryLength) {
  for (std::size_t size = 1; size < 100; ++size) {
    const std::string tag(size, 'a');
    EXPECT_EQ(find(tag), 0U);
    insert(tag, static_cast<std::uint32_t>(size));
    EXPECT_EQ(find(std::string(size, 'a')), size);
    EXPECT_EQ(find(tag, 2), 0U);
  }
}

TEST_F(TagCacheTest, DistinguishesTagsThatDifferInOneCharacter) {
  for (std::size_t size = 1; size < 50; ++size) {
    const std::string tag(size, 'a');
    insert(tag, 1);
    for (std::size_t at = 0; at < size; ++at) {
      std::string other = tag;
      other[at] = 'b';
      // With equal hashes, the text decides.
      EXPECT_EQ(cache_->find(1, other, TagCache::hash(tag)), 0U);
    }
  }
}

TEST_F(TagCacheTest, KeepsMostTagsOfARunAtOnce) {
  // Typical numbered names. Of 50 tags in 256 slots, about 5 collide; a poor hash that puts all in
  // one slot would keep only one.
  std::vector<std::string> tags;
  for (int i = 0; i < 50; ++i) {
    tags.push_back("train/layer" + std::to_string(i));
    insert(tags.back(), static_cast<std::uint32_t>(i + 1));
  }
  int found = 0;
  for (std::size_t i = 0; i < tags.size(); ++i) {
    found += find(tags[i]) == i + 1 ? 1 : 0;
  }
  EXPECT_GT(found, 35);
}

}  // namespace
}  // namespace steptape
