// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <numeric>

#include "ranks/communicator/collective_contract.h"
#include "support/expect_error.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace steptape::test {
namespace {

using ::testing::Each;
using ::testing::ElementsAre;

// Both are more than the ranks, and not a multiple of their number. Over MPI, a few elements are
// sent together with the comparison of the ranks, many are not.
constexpr std::size_t kFew = 10;
constexpr std::size_t kMany = 130;

/// Returns rank `rank`'s element `i`: small numbers, so that every type holds all results exactly.
template <typename T>
T elementOf(int rank, std::size_t i) {
  if constexpr (std::is_same_v<T, bool>) {
    return (static_cast<std::size_t>(rank) + i) % 3 == 0;
  } else {
    return static_cast<T>(i % 2 == 0 ? 1 + rank % 2 : 3 - rank % 3);
  }
}

template <typename T>
T combined(T a, T b, ReduceOp op) {
  if constexpr (std::is_same_v<T, bool>) {
    return op == ReduceOp::kMin || op == ReduceOp::kProduct ? a && b : a || b;
  } else {
    switch (op) {
      case ReduceOp::kMin:
        return std::min(a, b);
      case ReduceOp::kMax:
        return std::max(a, b);
      case ReduceOp::kProduct:
        return static_cast<T>(a * b);
      default:
        return static_cast<T>(a + b);
    }
  }
}

// Not std::vector, which packs bool.
template <typename T, std::size_t kCount>
using Numbers = std::array<T, kCount>;

template <typename T, std::size_t kCount>
Numbers<T, kCount> numbersOf(int rank) {
  Numbers<T, kCount> numbers;
  for (std::size_t i = 0; i < kCount; ++i) {
    numbers[i] = elementOf<T>(rank, i);
  }
  return numbers;
}

template <typename T, std::size_t kCount>
Numbers<T, kCount> expectedOf(int size, ReduceOp op) {
  Numbers<T, kCount> expected = numbersOf<T, kCount>(0);
  for (std::size_t i = 0; i < kCount; ++i) {
    for (int rank = 1; rank < size; ++rank) {
      expected[i] = combined(expected[i], elementOf<T>(rank, i), op);
    }
    if (op == ReduceOp::kAverage) {
      expected[i] = static_cast<T>(expected[i] / static_cast<T>(size));
    }
  }
  return expected;
}

template <typename T, std::size_t kCount>
void expectReducesArray(Communicator& world, ReduceOp op) {
  SCOPED_TRACE(std::string(dtypeName(dtypeOf<T>())) + ", operation " +
               std::to_string(static_cast<int>(op)));
  const Numbers<T, kCount> expected = expectedOf<T, kCount>(world.size(), op);
  Numbers<T, kCount> inPlace = numbersOf<T, kCount>(world.rank());
  world.allreduce(inPlace, op);
  EXPECT_EQ(inPlace, expected);

  Numbers<T, kCount> from = numbersOf<T, kCount>(world.rank());
  Numbers<T, kCount> to{};
  world.allreduce(from, to, op);
  EXPECT_EQ(to, expected);
  EXPECT_EQ(from, (numbersOf<T, kCount>(world.rank())));
  to = {};
  world.allreduceAsync(from, to, op).wait();
  EXPECT_EQ(to, expected);

  // Each of the other ranks receives one element, and rank 0 the rest.
  const std::size_t others = static_cast<std::size_t>(world.size()) - 1;
  const std::size_t begin =
      world.isRoot() ? 0 : kCount - others + static_cast<std::size_t>(world.rank()) - 1;
  const std::size_t count = world.isRoot() ? kCount - others : 1;
  Numbers<T, kCount> part{};
  world.reduceScatter(from, Elements(part.data(), count, dtypeOf<T>()), op);
  EXPECT_TRUE(std::equal(part.begin(), part.begin() + static_cast<std::ptrdiff_t>(count),
                         expected.begin() + static_cast<std::ptrdiff_t>(begin)));
}

template <typename T>
void expectReduces(Communicator& world, ReduceOp op) {
  expectReducesArray<T, kFew>(world, op);
  expectReducesArray<T, kMany>(world, op);
}

template <typename T>
void expectReducesByAll(Communicator& world) {
  for (const ReduceOp op : {ReduceOp::kSum, ReduceOp::kMin, ReduceOp::kMax, ReduceOp::kProduct}) {
    expectReduces<T>(world, op);
  }
}

void integers(Communicator& world) {
  expectReducesByAll<std::uint8_t>(world);
  expectReducesByAll<std::int8_t>(world);
  expectReducesByAll<std::uint16_t>(world);
  expectReducesByAll<std::int16_t>(world);
  expectReducesByAll<std::uint32_t>(world);
  expectReducesByAll<std::int32_t>(world);
  expectReducesByAll<std::uint64_t>(world);
  expectReducesByAll<std::int64_t>(world);
}

void bools(Communicator& world) {
  expectReducesByAll<bool>(world);
}

void floats(Communicator& world) {
  expectReducesByAll<float>(world);
  expectReducesByAll<double>(world);
  expectReduces<float>(world, ReduceOp::kAverage);
  expectReduces<double>(world, ReduceOp::kAverage);
}

/// In turn, each rank has a NaN at one place.
template <typename T, std::size_t kCount>
void expectKeepsNan(Communicator& world) {
  for (const ReduceOp op : {ReduceOp::kMin, ReduceOp::kMax}) {
    for (int diverged = 0; diverged < world.size(); ++diverged) {
      SCOPED_TRACE(diverged);
      Numbers<T, kCount> numbers = numbersOf<T, kCount>(world.rank());
      if (world.rank() == diverged) {
        numbers[kCount / 2] = std::numeric_limits<T>::quiet_NaN();
      }
      world.allreduce(numbers, op);
      EXPECT_TRUE(std::isnan(numbers[kCount / 2]));
      numbers[kCount / 2] = (expectedOf<T, kCount>(world.size(), op)[kCount / 2]);
      EXPECT_EQ(numbers, (expectedOf<T, kCount>(world.size(), op)));
    }
  }
}

/// Else ranks would disagree on whether a run has diverged.
void allRanksGetANanOfOne(Communicator& world) {
  expectKeepsNan<float, kFew>(world);
  expectKeepsNan<float, kMany>(world);
  expectKeepsNan<double, kFew>(world);
  expectKeepsNan<double, kMany>(world);
}

/// Elements of 16 bits, given by their bits.
struct Halves {
  std::vector<std::uint16_t> bits;
  DType dtype;
  Elements elements() { return {bits.data(), bits.size(), dtype}; }
};

/// Returns the bits of an integer in a type with this many mantissa bits: golden values computed by
/// hand.
std::uint16_t bitsOf(float value, DType dtype) {
  std::uint32_t bits = 0;
  std::memcpy(&bits, &value, sizeof bits);
  if (dtype == DType::kBFloat16) {
    return static_cast<std::uint16_t>(bits >> 16);
  }
  return value == 0 ? std::uint16_t{0}
                    : static_cast<std::uint16_t>((bits >> 13) - (std::uint32_t{112} << 10));
}

void halvesAreAddedInFloat32(Communicator& world) {
  for (const DType dtype : {DType::kFloat16, DType::kBFloat16}) {
    // The first number from which on only every second integer is representable.
    const float large = dtype == DType::kFloat16 ? 2048 : 256;
    Halves data{std::vector<std::uint16_t>(13, bitsOf(world.isRoot() ? large : 1, dtype)), dtype};
    world.allreduce(data.elements(), ReduceOp::kSum);
    // Rounded to even once; rounding after each addition of 1 would never leave `large`.
    const int odd = world.size() - 1;
    const float sum =
        large + static_cast<float>(odd % 2 == 0 ? odd : (odd % 4 == 1 ? odd - 1 : odd + 1));
    EXPECT_THAT(data.bits, Each(bitsOf(sum, dtype))) << dtypeName(dtype);
  }
}

void halvesByEveryOperation(Communicator& world) {
  const float last = static_cast<float>(world.size() - 1);
  for (const DType dtype : {DType::kFloat16, DType::kBFloat16}) {
    const auto reduced = [&](ReduceOp op, float ofRank) {
      Halves from{{0, bitsOf(ofRank, dtype)}, dtype};
      Halves to{{7, 7}, dtype};
      world.allreduce(from.elements(), to.elements(), op);
      EXPECT_EQ(to.bits[0], 0);
      return to.bits[1];
    };
    const float mine = static_cast<float>(world.rank());
    EXPECT_EQ(reduced(ReduceOp::kMin, mine + 1), bitsOf(1, dtype));
    EXPECT_EQ(reduced(ReduceOp::kMax, mine), bitsOf(last, dtype));
    EXPECT_EQ(reduced(ReduceOp::kProduct, world.isRoot() ? 3 : 1), bitsOf(3, dtype));
    EXPECT_EQ(reduced(ReduceOp::kAverage, 2 * mine), bitsOf(last, dtype));
  }
}

void halvesAreScattered(Communicator& world) {
  // Rank r receives r elements: rank 0 none.
  const auto size = static_cast<std::size_t>(world.size());
  const auto mine = static_cast<std::size_t>(world.rank());
  Halves from{std::vector<std::uint16_t>(size * (size - 1) / 2, bitsOf(1, DType::kFloat16)),
              DType::kFloat16};
  Halves to{std::vector<std::uint16_t>(size == 1 ? 0 : mine), DType::kFloat16};
  world.reduceScatter(from.elements(), to.elements(), ReduceOp::kSum);
  EXPECT_THAT(to.bits, Each(bitsOf(static_cast<float>(world.size()), DType::kFloat16)));
}

void groups(Communicator& world) {
  std::vector<float> weights(5, static_cast<float>(world.rank()));
  std::vector<float> none;
  float bias[] = {1, 2};
  world.allreduceGrouped({weights, none, bias}, ReduceOp::kSum);
  const float sum = static_cast<float>(world.size() * (world.size() - 1)) / 2;
  EXPECT_THAT(weights, Each(sum));
  EXPECT_THAT(bias, ElementsAre(1 * world.size(), 2 * world.size()));

  world.allreduceGrouped({}, ReduceOp::kSum);
  CollectiveHandle handle = world.allreduceGroupedAsync({weights, bias}, ReduceOp::kMax);
  handle.wait();
  EXPECT_THAT(weights, Each(sum));
}

void emptyArrays(Communicator& world) {
  std::vector<double> none;
  world.allreduce(none, ReduceOp::kAverage);
  world.reduceScatter(none, none, ReduceOp::kSum);
  Halves noHalves{{}, DType::kBFloat16};
  world.allreduce(noHalves.elements(), ReduceOp::kSum);
  world.allreduce(ArrayView<MetricMoments>());
  EXPECT_TRUE(none.empty());
}

void moments(Communicator& world) {
  std::vector<MetricMoments> data(3);
  data[1] = MetricMoments::of(world.rank(), 1, world.rank());
  world.allreduce(ArrayView<MetricMoments>(data));
  EXPECT_EQ(data[0].weight, 0);
  EXPECT_EQ(data[1].weight, world.size());
  EXPECT_EQ(data[1].max, world.size() - 1);
  EXPECT_EQ(data[1].maxRank, world.size() - 1);

  const std::vector<MetricMoments> from(2, MetricMoments::of(1, 1, world.rank()));
  std::vector<MetricMoments> to(2);
  world.allreduceAsync(ArrayView<const MetricMoments>(from), ArrayView<MetricMoments>(to)).wait();
  EXPECT_EQ(to[1].weight, world.size());
  EXPECT_EQ(from[1].weight, 1);
}

void wrongArguments(Communicator& world) {
  int number[] = {1};
  float floating[] = {1, 2, 3};
  const ErrorCode invalid = ErrorCode::kInvalidArgument;
  expectError(invalid,
              "allreduce(average) 'x' of 1 int32: got int32; expected floating-point numbers for "
              "an average",
              [&] {
                CollectiveOptions options;
                options.name = "x";
                world.allreduce(number, ReduceOp::kAverage, options);
              });
  expectError(invalid, "allreduce(sum) of 3 float32: got an input of 1 int32; expected the same",
              [&] { world.allreduce(number, floating, ReduceOp::kSum); });
  expectError(invalid, "allreduce(sum) of 2 float32: got an input and an output that overlap", [&] {
    world.allreduce(Elements(floating, 2, DType::kFloat32),
                    Elements(floating + 1, 2, DType::kFloat32), ReduceOp::kSum);
  });
  expectError(invalid, "allreduce(sum) of 4 float32: got null; expected data",
              [&] { world.allreduce(Elements(nullptr, 4, DType::kFloat32), ReduceOp::kSum); });
  std::vector<MetricMoments> some(2);
  expectError(invalid,
              "allreduce(merge) of 1 moments: got an input of 2 moments; expected the same", [&] {
                world.allreduceAsync(ArrayView<const MetricMoments>(some),
                                     ArrayView<MetricMoments>(some.data(), 1));
              });
  expectError(invalid, "allreduce(merge) of 1 moments: got an input and an output that overlap",
              [&] {
                world.allreduceAsync(ArrayView<const MetricMoments>(some.data(), 1),
                                     ArrayView<MetricMoments>(some.data(), 1));
              });
  expectError(invalid, "allreduceGrouped: array 1: got float32; expected int32, as in array 0",
              [&] {
                world.allreduceGrouped({number, floating}, ReduceOp::kSum);
              });
  expectError(invalid, "reduceScatter(sum) of 1 int32: got an output of float32; expected the same",
              [&] { world.reduceScatter(number, floating, ReduceOp::kSum); });
  world.barrier();
}

void partsThatAreNotTheWhole(Communicator& world) {
  std::vector<float> from(static_cast<std::size_t>(world.size()) + 1, 1);
  float part[] = {-1};
  const std::string sizes = std::to_string(world.size());
  const ErrorCode code = world.size() == 1 ? ErrorCode::kInvalidArgument : ErrorCode::kRankMismatch;
  expectError(code,
              "reduceScatter(sum) of " + std::to_string(world.size() + 1) +
                  " float32: the ranks' parts have " + sizes + " elements together",
              [&] { world.reduceScatter(from, part, ReduceOp::kSum); });
  EXPECT_EQ(part[0], -1);
  world.barrier();
}

}  // namespace

std::vector<ContractCase> reductionContract() {
  return {{"CombinesIntegersByEveryOperation", &integers},
          {"CombinesBoolsByAndAndOr", &bools},
          {"CombinesFloatsByEveryOperation", &floats},
          {"GivesAllRanksANanOfOne", &allRanksGetANanOfOne},
          {"AddsHalvesInFloat32AndRoundsOnce", &halvesAreAddedInFloat32},
          {"CombinesHalvesByEveryOperation", &halvesByEveryOperation},
          {"ScattersHalvesInPartsOfDifferentSizes", &halvesAreScattered},
          {"CombinesSeveralArraysAsOne", &groups},
          {"TakesEmptyArrays", &emptyArrays},
          {"MergesMoments", &moments},
          {"RefusesWrongArguments", &wrongArguments},
          {"RefusesPartsThatAreNotTheWhole", &partsThatAreNotTheWhole}};
}

}  // namespace steptape::test
