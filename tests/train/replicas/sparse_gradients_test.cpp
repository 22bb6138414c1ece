// SPDX-License-Identifier: Apache-2.0
#include "train/replicas/gradients/sparse_gradients.h"

#include <algorithm>

#include "steptape/ranks/testing.h"

#include "train/replicas/exchange_fixture.h"

namespace steptape {
namespace {

using test::Exchange;
using test::expectClose;
using test::expectSameOnAllRanks;
using test::numbers;
using test::slot;
using test::Slots;
using test::World;
using testing::runRanksShared;

/// Returns an embedding's gradient: repeated rows, different for each rank.
at::Tensor embeddingGradient(int rank, at::ScalarType type = at::kFloat) {
  const at::Tensor rows = at::tensor({1, 4, 1}, at::kLong) + rank;
  const at::Tensor values = numbers({3, 2}, rank).to(type);
  return at::sparse_coo_tensor(rows.view({1, 3}), values, {8, 2}, at::TensorOptions(type));
}

void expectSparseMean(const detail::train::GradientSlot& slot, Communicator& world, int ranks) {
  at::Tensor mean = at::zeros({8, 2});
  for (int rank = 0; rank < ranks; ++rank) {
    mean += embeddingGradient(rank).to_dense() / world.size();
  }
  const at::Tensor got = slot.parameter.grad();
  ASSERT_TRUE(got.is_sparse());
  EXPECT_TRUE(got.is_coalesced());
  EXPECT_TRUE(got.sizes() == slot.parameter.sizes());
  expectClose(got.to_dense(), mean, 1e-6);
  expectSameOnAllRanks(got.indices(), world);
  expectSameOnAllRanks(got.values(), world);
}

TEST(SparseGradients, GatherToWhatDenseOnesAverageTo) {
  for (const int ranks : {1, 2, 3, 7}) {
    runRanksShared(ranks, [&](const World& world) {
      // Row 8 of 7 ranks would be out of range.
      const detail::train::GradientSlot table = slot("table", {8, 2}, 1);
      const int last = std::min(ranks, 4);
      if (world->rank() < last) {
        table.parameter.mutable_grad() = embeddingGradient(world->rank());
      }
      detail::train::exchangeSparseGradient(table, *world, 1.0 / ranks);
      expectSparseMean(table, *world, last);
    });
  }
}

TEST(SparseGradients, TakeADenseOneAsSparse) {
  runRanksShared(2, [](const World& world) {
    const detail::train::GradientSlot table = slot("table", {8, 2}, 1);
    const at::Tensor gradient = embeddingGradient(world->rank());
    table.parameter.mutable_grad() = world->rank() == 0 ? gradient : gradient.to_dense();
    detail::train::exchangeSparseGradient(table, *world, 0.5);
    expectSparseMean(table, *world, 2);
  });
}

TEST(SparseGradients, StayUndefinedIfNoRankHasOne) {
  runRanksShared(2, [](const World& world) {
    const detail::train::GradientSlot table = slot("table", {8, 2}, 1);
    detail::train::exchangeSparseGradient(table, *world, 0.5);
    EXPECT_FALSE(table.parameter.grad().defined());
  });
}

TEST(SparseGradients, AreAddedUpInFloat32) {
  runRanksShared(3, [](const World& world) {
    const detail::train::GradientSlot table = slot("table", {2, 1}, 1, at::kBFloat16);
    // 256 + 1 + 1 needs more than the 8 bits of bfloat16 during the exchange.
    const double value = world->rank() == 0 ? 256 : 1;
    table.parameter.mutable_grad() =
        at::sparse_coo_tensor(at::zeros({1, 1}, at::kLong), at::full({1, 1}, value, at::kBFloat16),
                              {2, 1}, at::TensorOptions(at::kBFloat16));
    detail::train::exchangeSparseGradient(table, *world, 1);
    EXPECT_EQ(table.parameter.grad().to(at::kFloat).to_dense()[0].item<float>(), 258);
  });
}

TEST(SparseGradients, AreMadeDenseOnTheirWayIntoABucket) {
  runRanksShared(2, [](const World& world) {
    Slots slots = {slot("table", {8, 2}, 1)};
    Exchange exchange(slots, world);
    slots[0].parameter.mutable_grad() = embeddingGradient(world->rank());
    exchange();
    const at::Tensor mean = (embeddingGradient(0).to_dense() + embeddingGradient(1).to_dense()) / 2;
    EXPECT_FALSE(slots[0].parameter.grad().is_sparse());
    expectClose(slots[0].parameter.grad(), mean, 1e-6);
  });
}

}  // namespace
}  // namespace steptape
