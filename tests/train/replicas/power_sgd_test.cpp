// SPDX-License-Identifier: Apache-2.0
#include "train/replicas/messages/power_sgd.h"

#include <limits>

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
using test::zeroGradients;
using testing::runRanksShared;

GradientSyncOptions powerSgd(std::int64_t rank, std::int64_t startAfterSteps = 0) {
  GradientSyncOptions options;
  options.compression = Compression::kPowerSgd;
  options.powerSgd.rank = rank;
  options.powerSgd.startAfterSteps = startAfterSteps;
  return options;
}

/// Gives the parameter a gradient and returns the ranks' average of them.
at::Tensor averageOf(const at::Tensor& gradient, Slots& slots, Exchange& exchange) {
  slots[0].parameter.mutable_grad() = gradient.to(at::kFloat).clone();
  exchange();
  return slots[0].parameter.grad().clone();
}

TEST(PowerSgd, IsExactForAGradientOfItsRank) {
  runRanksShared(3, [](const World& world) {
    Slots slots = {slot("weight", {16, 12}, 1), slot("bias", {16}, 1)};
    Exchange exchange(slots, world, powerSgd(2));
    const at::Tensor rows = numbers({16, 1}, 1);
    const at::Tensor mean =
        at::mm(rows, numbers({1, 12}, 0) + numbers({1, 12}, 1) + numbers({1, 12}, 2)) / 3;
    slots[1].parameter.mutable_grad() = numbers({16}, world->rank()).to(at::kFloat);
    const at::Tensor got =
        averageOf(at::mm(rows, numbers({1, 12}, world->rank())), slots, exchange);
    expectClose(got, mean, 1e-5);
    expectClose(slots[1].parameter.grad(),
                (numbers({16}, 0) + numbers({16}, 1) + numbers({16}, 2)) / 3, 1e-6);
    expectSameOnAllRanks(slots, *world);
  });
}

TEST(PowerSgd, AddsEarlierErrorsLater) {
  runRanksShared(2, [](const World& world) {
    Slots slots = {slot("weight", {12, 16}, 1)};
    Exchange exchange(slots, world, powerSgd(1));
    const auto gradient = [](int rank) { return numbers({12, 16}, rank).pow(3); };
    const at::Tensor mean = (gradient(0) + gradient(1)) / 2;
    at::Tensor sum = at::zeros({12, 16});
    constexpr int kSteps = 100;
    for (int step = 0; step < kSteps; ++step) {
      const at::Tensor got = averageOf(gradient(world->rank()), slots, exchange);
      if (step == 0) {
        EXPECT_GT((got - mean).norm().item<double>(), 0.3 * mean.norm().item<double>());
      }
      sum += got;
    }
    EXPECT_LT((sum / kSteps - mean).norm().item<double>(), 0.1 * mean.norm().item<double>());
    expectSameOnAllRanks(slots, *world);
  });
}

TEST(PowerSgd, StartsAfterTheFirstSteps) {
  runRanksShared(2, [](const World& world) {
    Slots slots = {slot("weight", {12, 16}, 1)};
    Exchange exchange(slots, world, powerSgd(1, 2));
    const at::Tensor gradient = numbers({12, 16}, 0).pow(3);
    for (const bool isExact : {true, true, false}) {
      const at::Tensor got = averageOf(gradient, slots, exchange);
      EXPECT_EQ(at::allclose(got.to(at::kDouble), gradient, 0, 1e-6), isExact);
    }
  });
}

TEST(PowerSgd, DiscardsAStepThatWasNotFinite) {
  runRanksShared(2, [](const World& world) {
    Slots slots = {slot("weight", {12, 16}, 1)};
    Exchange exchange(slots, world, powerSgd(1));
    const at::Tensor product = at::mm(numbers({12, 1}, 1), numbers({1, 16}, 2));
    at::Tensor overflown = product.clone();
    overflown[3][4] = std::numeric_limits<double>::infinity();
    averageOf(world->rank() == 0 ? overflown : product, slots, exchange);
    EXPECT_FALSE(at::isfinite(slots[0].parameter.grad()).all().item<bool>());
    expectClose(averageOf(product, slots, exchange), product, 1e-5);
  });
}

TEST(PowerSgd, TrainsToNearlyTheSameLoss) {
  const auto lossAfterTraining = [](const GradientSyncOptions& options) {
    double loss = 0;
    runRanksShared(2, [&](const World& world) {
      Slots slots = {slot("weight", {16, 24}, 1)};
      Exchange exchange(slots, world, options);
      const at::Tensor wanted = numbers({16, 24}, 5).to(at::kFloat);
      for (int step = 0; step < 200; ++step) {
        const at::Tensor x = numbers({32, 24}, 100 * world->rank() + step).to(at::kFloat);
        zeroGradients(slots);
        const at::Tensor lossNow =
            (at::linear(x, slots[0].parameter) - at::linear(x, wanted)).pow(2).mean();
        lossNow.backward();
        exchange();
        const at::NoGradGuard noGradients;
        at::Tensor(slots[0].parameter).sub_(slots[0].parameter.grad(), 0.5);
        if (world->rank() == 0) {
          loss = lossNow.item<double>();
        }
      }
    });
    return loss;
  };
  const double exact = lossAfterTraining({});
  EXPECT_LT(lossAfterTraining(powerSgd(2)), 1.2 * exact + 1e-3);
}

TEST(Orthogonalize, MakesColumnsOrthonormalAndReplacesThoseThatDepend) {
  at::Tensor matrix = numbers({9, 3}, 1);
  matrix.select(1, 1).copy_(matrix.select(1, 0) * 2);
  const at::Tensor first = matrix.select(1, 0) / matrix.select(1, 0).norm();
  EXPECT_TRUE(detail::train::orthogonalize(static_cast<double*>(matrix.data_ptr()), 9, 3));
  expectClose(at::mm(matrix.t(), matrix), at::eye(3), 1e-12);
  expectClose(matrix.select(1, 0), first, 1e-12);
}

}  // namespace
}  // namespace steptape
