// SPDX-License-Identifier: Apache-2.0
#include "values/kinds/tensor/row_major_reader.h"

#include <numeric>

#include <gtest/gtest.h>

namespace steptape {
namespace {

/// Returns the view's elements, read `block` at a time.
std::vector<double> readIn(const TensorView& view, std::int64_t block) {
  detail::values::RowMajorReader<double> reader(view);
  std::vector<double> elements(static_cast<std::size_t>(view.numel()));
  for (std::int64_t i = 0; i < view.numel(); i += block) {
    reader.read(elements.data() + i, std::min(block, view.numel() - i));
  }
  return elements;
}

TEST(RowMajorReader, ReadsEveryShapeInBlocksOfEverySize) {
  std::vector<std::int32_t> numbers(4 * 3 * 5);
  std::iota(numbers.begin(), numbers.end(), 0);
  const std::vector<TensorView> views = {
      TensorView(numbers.data(), {60}),
      TensorView(numbers.data(), {4, 3, 5}),
      TensorView(numbers.data(), {5, 3, 4}, {1, 5, 15}),          // reversed dimensions
      TensorView(numbers.data() + 59, {4, 3, 5}, {-15, -5, -1}),  // backwards
      TensorView(numbers.data(), {2, 3, 3}, {30, 5, 2}),          // every other one
      TensorView(numbers.data(), {2, 1, 3}, {0, 7, 1}),           // repeated
      TensorView(numbers.data() + 7, {}),
  };
  for (const TensorView& view : views) {
    const std::vector<double> wanted = detail::values::rowMajorElements<double>(view);
    for (std::int64_t block = 1; block <= view.numel(); ++block) {
      EXPECT_EQ(readIn(view, block), wanted) << view.shapeString() << " in blocks of " << block;
    }
  }
}

}  // namespace
}  // namespace steptape
