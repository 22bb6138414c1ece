// SPDX-License-Identifier: Apache-2.0
#include "train/replicas/messages/adasum.h"

#include <memory>
#include <utility>
#include <vector>

#include "steptape/ranks/testing.h"

#include "train/replicas/exchange_fixture.h"

namespace steptape {
namespace {

using test::Exchange;
using test::expectClose;
using test::expectSameOnAllRanks;
using test::NamingCommunicator;
using test::numbers;
using test::slot;
using test::Slots;
using test::World;
using testing::runRanksShared;

at::Tensor adasumOf(const at::Tensor& a, const at::Tensor& b) {
  at::Tensor result = at::empty_like(a);
  detail::train::adasum(
      static_cast<const float*>(a.data_ptr()), static_cast<const float*>(b.data_ptr()),
      static_cast<float*>(result.data_ptr()), static_cast<std::size_t>(a.numel()));
  return result;
}

TEST(Adasum, AddsUpOrthogonalGradients) {
  const at::Tensor a = at::tensor({1.0F, 2.0F, 0.0F, 0.0F});
  const at::Tensor b = at::tensor({0.0F, 0.0F, 3.0F, 4.0F});
  expectClose(adasumOf(a, b), a + b, 0);
}

TEST(Adasum, AveragesParallelGradients) {
  const at::Tensor a = numbers({21}, 1).to(at::kFloat);
  expectClose(adasumOf(a, a), a, 0);
  expectClose(adasumOf(a, a * 3), a * 2, 1e-6);
}

TEST(Adasum, KeepsTheOtherGradientIfOneIsZero) {
  const at::Tensor a = numbers({21}, 1).to(at::kFloat);
  expectClose(adasumOf(a, at::zeros({21})), a, 0);
}

/// Combines all pairs of ranks in one process: see AdasumGroups.
at::Tensor adasumOfAll(std::vector<at::Tensor> gradients) {
  std::size_t power = 1;
  while (power * 2 <= gradients.size()) {
    power *= 2;
  }
  for (std::size_t extra = power; extra < gradients.size(); ++extra) {
    gradients[extra - power] = adasumOf(gradients[extra - power], gradients[extra]);
  }
  for (gradients.resize(power); gradients.size() > 1;) {
    std::vector<at::Tensor> pairs;
    for (std::size_t first = 0; first < gradients.size(); first += 2) {
      pairs.push_back(adasumOf(gradients[first], gradients[first + 1]));
    }
    gradients = std::move(pairs);
  }
  return gradients.front();
}

TEST(Adasum, CombinesEachParameterOverAllRanks) {
  for (const int ranks : {1, 2, 3, 4, 7}) {
    for (const bool worksOnAnyThread : {true, false}) {
      runRanksShared(ranks, [&](const World& inner) {
        const auto world = std::make_shared<NamingCommunicator>(inner, worksOnAnyThread);
        GradientSyncOptions options;
        options.reduction = GradientReduction::kAdasum;
        Slots slots = {slot("a", {21}, 1), slot("b", {3}, 1)};
        Exchange exchange(slots, world, options);
        const auto gradientOf = [](std::int64_t size, int rank) {
          return numbers({size}, 0.4 * rank).to(at::kFloat);
        };
        for (const detail::train::GradientSlot& slot : slots) {
          slot.parameter.mutable_grad() = gradientOf(slot.parameter.numel(), world->rank());
        }
        exchange();
        for (const detail::train::GradientSlot& slot : slots) {
          std::vector<at::Tensor> all;
          for (int rank = 0; rank < ranks; ++rank) {
            all.push_back(gradientOf(slot.parameter.numel(), rank));
          }
          expectClose(slot.parameter.grad(), adasumOfAll(all), 1e-6);
        }
        expectSameOnAllRanks(slots, *world);
      });
    }
  }
}

TEST(Adasum, CombinesNearlyTheSameInFloat16) {
  runRanksShared(3, [](const World& world) {
    GradientSyncOptions options;
    options.reduction = GradientReduction::kAdasum;
    options.compression = Compression::kFp16;
    Slots slots = {slot("a", {21}, 1)};
    Exchange exchange(slots, world, options);
    const auto gradientOf = [](int rank) { return numbers({21}, 0.4 * rank).to(at::kFloat); };
    slots[0].parameter.mutable_grad() = gradientOf(world->rank());
    exchange();
    // Numbers below 4 with 11 bits, rounded initially and at each of two levels.
    expectClose(slots[0].parameter.grad(),
                adasumOfAll({gradientOf(0), gradientOf(1), gradientOf(2)}), 8e-3);
    expectSameOnAllRanks(slots, *world);
  });
}

TEST(Adasum, DividesByThePassesThatWereAddedUp) {
  runRanksShared(2, [](const World& world) {
    GradientSyncOptions options;
    options.reduction = GradientReduction::kAdasum;
    options.accumulationSteps = 4;
    Slots slots = {slot("a", {21}, 1)};
    Exchange exchange(slots, world, options);
    const at::Tensor gradient = numbers({21}, 1).to(at::kFloat);
    slots[0].parameter.mutable_grad() = gradient * 4;
    exchange();
    expectClose(slots[0].parameter.grad(), gradient, 1e-6);
  });
}

}  // namespace
}  // namespace steptape
