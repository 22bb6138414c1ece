// SPDX-License-Identifier: Apache-2.0
#include "steptape/base/array_view.h"

#include <array>
#include <type_traits>
#include <vector>

#include <gmock/gmock.h>

namespace steptape {
namespace {

using ::testing::ElementsAre;

template <typename T>
std::vector<std::remove_const_t<T>> elementsOf(ArrayView<T> span) {
  return {span.begin(), span.end()};
}

TEST(ArrayView, IsEmptyByDefault) {
  const ArrayView<int> span;
  EXPECT_TRUE(span.empty());
  EXPECT_EQ(span.size(), 0u);
  EXPECT_EQ(span.begin(), span.end());
}

TEST(ArrayView, ViewsAPointerAndASize) {
  const int numbers[] = {1, 2, 3};
  EXPECT_THAT(elementsOf(ArrayView<const int>(numbers, 2)), ElementsAre(1, 2));
}

TEST(ArrayView, ViewsArraysAndContainers) {
  int array[] = {1, 2};
  std::vector<int> vector = {3, 4};
  const std::array<int, 2> constant = {5, 6};
  EXPECT_THAT(elementsOf(ArrayView<int>(array)), ElementsAre(1, 2));
  EXPECT_THAT(elementsOf(ArrayView<const int>(vector)), ElementsAre(3, 4));
  EXPECT_THAT(elementsOf(ArrayView<const int>(constant)), ElementsAre(5, 6));
}

TEST(ArrayView, DoesNotCopy) {
  std::vector<int> vector = {1, 2};
  const ArrayView<int> span(vector);
  span[1] = 7;
  EXPECT_EQ(vector[1], 7);
  EXPECT_EQ(span.data(), vector.data());
}

TEST(ArrayView, DoesNotTakeConstAway) {
  EXPECT_FALSE((std::is_constructible_v<ArrayView<int>, const std::vector<int>&>));
  EXPECT_TRUE((std::is_constructible_v<ArrayView<const int>, const std::vector<int>&>));
}

}  // namespace
}  // namespace steptape
