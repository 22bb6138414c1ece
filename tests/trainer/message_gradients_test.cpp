// SPDX-License-Identifier: Apache-2.0
// Everything about gradients that travel as messages, in one translation unit: see CMakeLists.txt.
#include "trainer/message_gradients.h"

#include <chrono>
#include <cmath>
#include <limits>
#include <thread>

#include "steptape/testing/thread_communicator.h"

#include "distributed/collective_call.h"
#include "distributed/expect_error.h"
#include "trainer/adasum.h"
#include "trainer/exchange_fixture.h"
#include "trainer/gradient_hooks.h"
#include "trainer/power_sgd.h"
#include "trainer/sparse_gradients.h"

namespace steptape {

std::unique_ptr<detail::PendingCollective> test::NamingCommunicator::start(
    const detail::CollectiveCall& call) {
  names_->add(call.name);
  return startOn(*inner_, call);
}

namespace {

using detail::GradientState;
using test::Exchange;
using test::expectClose;
using test::expectError;
using test::expectSameOnAllRanks;
using test::NamingCommunicator;
using test::Net;
using test::numbers;
using test::samplesOf;
using test::slot;
using test::Slots;
using test::World;
using test::zeroGradients;
using ::testing::HasSubstr;
using testing::runRanksShared;

GradientSyncOptions oneGradientABucket() {
  GradientSyncOptions options;
  options.firstBucketBytes = 1;
  options.bucketBytes = 1;
  return options;
}

/// As after a few steps of gradient descent on all ranks' samples in one process.
Slots trainedAlone(int ranks, int steps) {
  Net net;
  for (int step = 0; step < steps; ++step) {
    zeroGradients(net.slots);
    std::vector<at::Tensor> samples;
    for (int rank = 0; rank < ranks; ++rank) {
      samples.push_back(samplesOf(rank, step));
    }
    net.backward(at::cat(samples));
    const at::NoGradGuard noGradients;
    for (const detail::GradientSlot& slot : net.slots) {
      at::Tensor(slot.parameter).sub_(slot.parameter.grad(), 0.1);
    }
  }
  return net.slots;
}

void train(Net& net, const World& world, const GradientSyncOptions& options, int steps) {
  Exchange exchange(net.slots, world, options);
  for (int step = 0; step < steps; ++step) {
    zeroGradients(net.slots);
    net.backward(samplesOf(world->rank(), step));
    exchange();
    expectSameOnAllRanks(net.slots, *world);
    const at::NoGradGuard noGradients;
    for (const detail::GradientSlot& slot : net.slots) {
      at::Tensor(slot.parameter).sub_(slot.parameter.grad(), 0.1);
    }
  }
}

class MessageGradientsOnRanks : public ::testing::TestWithParam<int> {
 protected:
  /// Expects that three steps end where one process with all samples ends.
  static void expectAsAlone(const GradientSyncOptions& options, bool worksOnAnyThread) {
    const Slots wanted = trainedAlone(GetParam(), 3);
    runRanksShared(GetParam(), [&](const World& ranks) {
      const auto world = std::make_shared<NamingCommunicator>(ranks, worksOnAnyThread);
      Net net;
      train(net, world, options, 3);
      for (std::size_t slot = 0; slot < wanted.size(); ++slot) {
        // float32 keeps 24 bits; the samples are added up in another order.
        expectClose(net.slots[slot].parameter, wanted[slot].parameter, 1e-6);
      }
    });
  }
};
INSTANTIATE_TEST_SUITE_P(Ranks, MessageGradientsOnRanks, ::testing::Values(1, 2, 3, 7));

TEST_P(MessageGradientsOnRanks, AverageAsOneLargeBatch) {
  expectAsAlone({}, true);
}

TEST_P(MessageGradientsOnRanks, AverageInManyBuckets) {
  expectAsAlone(oneGradientABucket(), true);
}

TEST_P(MessageGradientsOnRanks, AverageWithoutAThreadOfTheirOwn) {
  expectAsAlone(oneGradientABucket(), false);
}

TEST_P(MessageGradientsOnRanks, AverageWithoutOverlap) {
  GradientSyncOptions options = oneGradientABucket();
  options.overlap = false;
  expectAsAlone(options, true);
}

TEST_P(MessageGradientsOnRanks, AverageDividedBeforeAsWell) {
  GradientSyncOptions options;
  options.predivideFactor = 2;
  expectAsAlone(options, true);
}

TEST(MessageGradients, FillsBucketsInTheOrderInWhichGradientsGetReady) {
  runRanksShared(2, [](const World& world) {
    Net net;
    Exchange exchange(net.slots, world, oneGradientABucket());
    net.backward(samplesOf(world->rank()));
    exchange();
    // The net registers its last layer first.
    for (const int ofLast : {0, 1}) {
      for (const int ofFirst : {2, 3}) {
        EXPECT_LT(net.slots[ofLast].array, net.slots[ofFirst].array);
      }
    }
  });
}

TEST(MessageGradients, FillsBucketsInReverseOrderOfRegistrationWithoutHooks) {
  runRanksShared(2, [](const World& world) {
    GradientSyncOptions options = oneGradientABucket();
    options.overlap = false;
    Net net;
    Exchange exchange(net.slots, world, options);
    net.backward(samplesOf(world->rank()));
    exchange();
    for (std::size_t slot = 0; slot < net.slots.size(); ++slot) {
      EXPECT_EQ(net.slots[slot].array, net.slots.size() - 1 - slot);
    }
  });
}

TEST(MessageGradients, TakeTheRootsOrderOnEveryRank) {
  runRanksShared(3, [](const World& world) {
    Slots slots = {slot("a", {4}, 1), slot("b", {4}, 2), slot("c", {4}, 3)};
    Exchange exchange(slots, world, oneGradientABucket());
    const std::vector<int> order =
        world->isRoot() ? std::vector<int>{1, 0, 2} : std::vector<int>{2, 0, 1};
    for (const int index : order) {
      slots[index].parameter.sum().backward();
    }
    exchange();
    EXPECT_EQ(slots[1].array, 0U);
    EXPECT_EQ(slots[0].array, 1U);
    EXPECT_EQ(slots[2].array, 2U);
  });
}

TEST(MessageGradients, KeepsTheFirstBucketSmall) {
  GradientSyncOptions options;
  options.overlap = false;
  options.firstBucketBytes = 16;
  options.bucketBytes = 48;
  Slots slots;
  for (int i = 0; i < 7; ++i) {
    slots.push_back(slot("p" + std::to_string(i), {4}, i));  // 16 bytes each.
  }
  Exchange exchange(slots, std::make_shared<Communicator>(), options);
  exchange();
  std::vector<std::size_t> buckets;
  for (const detail::GradientSlot& slot : slots) {
    buckets.push_back(slot.array);
  }
  EXPECT_EQ(buckets, (std::vector<std::size_t>{2, 2, 2, 1, 1, 1, 0}));
}

/// Whether the first bucket is under way before backward() has come to the first layer.
bool startsEarly(const NamingCommunicator& world, Net& net, std::chrono::seconds patience) {
  const at::Tensor hidden = net.hidden(samplesOf(world.rank()));
  const auto isUnderWay = [&] { return world.names().contain("gradients of bucket 0 (second."); };
  bool isEarly = false;
  hidden.register_hook([&](const at::Tensor&) {
    const auto deadline = std::chrono::steady_clock::now() + patience;
    while (!isUnderWay() && std::chrono::steady_clock::now() < deadline) {
      std::this_thread::yield();
    }
    isEarly = isUnderWay();
  });
  world.names().clear();
  net.loss(hidden).backward();
  return isEarly;
}

/// Makes the first exchange, after which buckets overlap.
void exchangeFirst(Exchange& exchange, const Net& net, int rank) {
  net.backward(samplesOf(rank));
  exchange();
  zeroGradients(net.slots);
}

TEST(MessageGradients, StartBucketsWhileBackwardRuns) {
  runRanksShared(2, [](const World& ranks) {
    const auto world = std::make_shared<NamingCommunicator>(ranks, true);
    Net net;
    Exchange exchange(net.slots, world, oneGradientABucket());
    exchangeFirst(exchange, net, world->rank());
    EXPECT_TRUE(startsEarly(*world, net, std::chrono::seconds(20)));
    exchange();
    EXPECT_THAT(exchange.messages().describe(), HasSubstr("overlapped by a thread of its own"));
  });
}

TEST(MessageGradients, StartBucketsInHooksWhereNoOtherThreadMay) {
  runRanksShared(2, [](const World& ranks) {
    const auto world = std::make_shared<NamingCommunicator>(ranks, false);
    Net net;
    Exchange exchange(net.slots, world, oneGradientABucket());
    exchangeFirst(exchange, net, world->rank());
    EXPECT_TRUE(startsEarly(*world, net, std::chrono::seconds(0)));
    exchange();
    EXPECT_THAT(exchange.messages().describe(),
                HasSubstr("when a hook runs, since MPI_THREAD_MULTIPLE is missing"));
  });
}

TEST(MessageGradients, LeaveBucketsToTheExchangeIfBackwardRunsOnAnotherThread) {
  runRanksShared(2, [](const World& ranks) {
    const auto world = std::make_shared<NamingCommunicator>(ranks, false);
    Net net;
    Exchange exchange(net.slots, world, oneGradientABucket());
    exchangeFirst(exchange, net, world->rank());
    world->names().clear();
    std::thread([&] { net.backward(samplesOf(world->rank())); }).join();
    EXPECT_FALSE(world->names().contain("gradients"));
    exchange();
    EXPECT_TRUE(world->names().contain("gradients of bucket 3"));
  });
}

TEST(MessageGradients, SendNothingUntilTheLastPass) {
  runRanksShared(2, [](const World& ranks) {
    const auto world = std::make_shared<NamingCommunicator>(ranks, false);
    Net net;
    Exchange exchange(net.slots, world, oneGradientABucket());
    exchangeFirst(exchange, net, world->rank());
    exchange.messages().setOverlapping(false);
    world->names().clear();
    net.backward(samplesOf(world->rank(), 0));
    EXPECT_FALSE(world->names().contain("gradients"));
    exchange.messages().setOverlapping(true);
    net.backward(samplesOf(world->rank(), 1));
    EXPECT_TRUE(world->names().contain("gradients of bucket 0"));
    exchange();

    Net alone;
    for (const int rank : {0, 1}) {
      alone.backward(samplesOf(rank, 0));
      alone.backward(samplesOf(rank, 1));
    }
    for (std::size_t slot = 0; slot < net.slots.size(); ++slot) {
      expectClose(net.slots[slot].parameter.grad(), alone.slots[slot].parameter.grad() / 2, 1e-6);
    }
  });
}

TEST(MessageGradients, RejectASecondBackward) {
  runRanksShared(2, [](const World& world) {
    Net net;
    Exchange exchange(net.slots, world);
    exchangeFirst(exchange, net, world->rank());
    net.backward(samplesOf(world->rank()));
    expectError(ErrorCode::kFailedPrecondition, "changed after it had been sent",
                [&] { net.backward(samplesOf(world->rank())); });
    // The ranks that wait for this one get what it sent before; only then it is told again.
    expectError(ErrorCode::kFailedPrecondition, "belong under noSync()", [&] { exchange(); });
    zeroGradients(net.slots);
    net.backward(samplesOf(world->rank()));
    exchange();
    expectSameOnAllRanks(net.slots, *world);
  });
}

TEST(MessageGradients, SendWhatAPassUnderNoSyncAddsBeforeItsBucketStarts) {
  runRanksShared(2, [](const World& world) {
    Net net;
    Exchange exchange(net.slots, world);
    exchangeFirst(exchange, net, world->rank());
    // Only the last layer takes part: its bucket holds the first one too, and waits.
    net.loss(numbers({4, 5}, 1).to(at::kFloat)).backward();
    exchange.messages().setOverlapping(false);
    net.loss(numbers({4, 5}, 1).to(at::kFloat)).backward();
    const at::Tensor twice = net.slots[0].parameter.grad().clone();
    exchange();
    expectClose(net.slots[0].parameter.grad(), twice, 1e-6);
  });
}

TEST(MessageGradients, KeepAGradientUndefinedThatNoRankHas) {
  runRanksShared(3, [](const World& world) {
    Slots slots = {slot("used", {4}, 1), slot("unused", {4}, 2), slot("usedByOne", {4}, 3)};
    Exchange exchange(slots, world, oneGradientABucket());
    for (int step = 0; step < 2; ++step) {
      zeroGradients(slots);
      slots[0].parameter.sum().backward();
      if (world->rank() == 1) {
        (slots[2].parameter * 3).sum().backward();
      }
      exchange();
      EXPECT_EQ(exchange.messages().stateOf(0), GradientState::kDense);
      EXPECT_EQ(exchange.messages().stateOf(1), GradientState::kNone);
      EXPECT_EQ(exchange.messages().stateOf(2), GradientState::kDense);
      EXPECT_FALSE(slots[1].parameter.grad().defined());
      expectClose(slots[2].parameter.grad(), at::ones({4}), 1e-6);
    }
  });
}

TEST(MessageGradients, AverageEachElementTypeInItsOwn) {
  runRanksShared(3, [](const World& world) {
    Slots slots;
    for (const at::ScalarType type : {at::kFloat, at::kHalf, at::kDouble, at::kBFloat16}) {
      slots.push_back(slot(at::toString(type), {5}, 1, type));
    }
    Exchange exchange(slots, world);
    // 256 + 1 + 1: bfloat16 has 8 bits, so that only a sum in float32 comes to 258.
    const double factor = world->rank() == 0 ? 256 : 1;
    for (const detail::GradientSlot& slot : slots) {
      (slot.parameter * factor).sum().backward();
    }
    exchange();
    for (const detail::GradientSlot& slot : slots) {
      EXPECT_EQ(slot.parameter.grad().scalar_type(), slot.parameter.scalar_type());
      expectClose(slot.parameter.grad(), at::full({5}, 86), 0);
    }
  });
}

TEST(MessageGradients, AverageNearlyInSixteenBits) {
  for (const auto& [compression, bits] :
       {std::pair{Compression::kFp16, 11}, std::pair{Compression::kBf16, 8}}) {
    GradientSyncOptions options;
    options.compression = compression;
    runRanksShared(3, [&, bits = bits](const World& world) {
      Slots slots = {slot("weight", {64}, 1)};
      Exchange exchange(slots, world, options);
      at::Tensor mean = at::zeros({64});
      for (int rank = 0; rank < 3; ++rank) {
        mean += numbers({64}, rank).to(at::kFloat) / 3;
      }
      (slots[0].parameter * numbers({64}, world->rank()).to(at::kFloat)).sum().backward();
      exchange();
      // Numbers up to 1 and sums up to 3, each rounded once to half a unit of its last bit.
      expectClose(slots[0].parameter.grad(), mean, 2.0 * std::ldexp(1.0, -bits));
      EXPECT_GT((slots[0].parameter.grad() - mean).abs().max().item<double>(), 0);
      expectSameOnAllRanks(slots, *world);
    });
  }
}

TEST(MessageGradients, KeepFloat16SumsInRangeByDividingBefore) {
  for (const double factor : {1.0, 4.0}) {
    GradientSyncOptions options;
    options.compression = Compression::kFp16;
    options.predivideFactor = factor;
    runRanksShared(4, [&](const World& world) {
      Slots slots = {slot("weight", {8}, 1)};
      Exchange exchange(slots, world, options);
      (slots[0].parameter * 32768).sum().backward();
      exchange();
      EXPECT_EQ(slots[0].parameter.grad()[0].item<float>(),
                factor == 1 ? std::numeric_limits<float>::infinity() : 32768);
    });
  }
}

TEST(MessageGradients, EndWithinTheTimeoutWhenAnotherRankIsGone) {
  expectError(ErrorCode::kDeadlineExceeded, "rank 1", [] {
    runRanksShared(2, [](const World& world) {
      Net net;
      Exchange exchange(net.slots, world);
      exchangeFirst(exchange, net, world->rank());
      if (world->rank() == 0) {
        net.backward(samplesOf(0));
        exchange();
      }
    });
  });
}

TEST(MessageGradients, EndInTheirDestructorWhenAnotherRankIsGone) {
  bool hasEnded = false;
  runRanksShared(2, [&](const World& world) {
    Net net;
    Exchange exchange(net.slots, world);
    exchangeFirst(exchange, net, world->rank());
    if (world->rank() == 0) {
      net.backward(samplesOf(0));
      hasEnded = true;
    }
  });
  EXPECT_TRUE(hasEnded);
}

TEST(MessageGradients, LeaveNoHooksBehind) {
  runRanksShared(2, [](const World& world) {
    Net net;
    {
      Exchange exchange(net.slots, world);
      exchangeFirst(exchange, net, world->rank());
    }
    net.backward(samplesOf(world->rank()));
    net.backward(samplesOf(world->rank()));
    EXPECT_TRUE(net.slots[0].parameter.grad().defined());
  });
}

TEST(MessageGradients, RejectAdasumWithPowerSgd) {
  GradientSyncOptions options;
  options.reduction = GradientReduction::kAdasum;
  options.compression = Compression::kPowerSgd;
  Net net;
  expectError(ErrorCode::kInvalidArgument, "Adasum with PowerSGD", [&] {
    const Exchange exchange(net.slots, std::make_shared<Communicator>(), options);
  });
}

TEST(MessageGradients, DescribeBucketsAndCompression) {
  GradientSyncOptions options;
  options.overlap = false;
  options.compression = Compression::kFp16;
  Net net;
  Exchange exchange(net.slots, std::make_shared<Communicator>(), options);
  EXPECT_EQ(exchange.messages().describe(), "25 MiB buckets, float16, not overlapped");
  exchange();
  EXPECT_EQ(exchange.messages().describe(), "25 MiB buckets, 1 of them, float16, not overlapped");
}

TEST(GradientHooks, TellOfEachGradientWhileTheyLive) {
  Net net;
  std::vector<std::size_t> told;
  {
    const detail::GradientHooks hooks(net.slots, [&](std::size_t slot) {
      EXPECT_TRUE(net.slots[slot].parameter.grad().defined());
      told.push_back(slot);
    });
    net.backward(samplesOf(0));
  }
  EXPECT_THAT(told, ::testing::UnorderedElementsAre(0, 1, 2, 3));
  net.backward(samplesOf(0));
  EXPECT_EQ(told.size(), 4U);
}

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

TEST(PowerSgd, CatchesUpWithWhatItLeftOut) {
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

TEST(PowerSgd, ForgetsAStepThatWasNotFinite) {
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
  EXPECT_TRUE(detail::orthogonalize(static_cast<double*>(matrix.data_ptr()), 9, 3));
  expectClose(at::mm(matrix.t(), matrix), at::eye(3), 1e-12);
  expectClose(matrix.select(1, 0), first, 1e-12);
}

at::Tensor adasumOf(const at::Tensor& a, const at::Tensor& b) {
  at::Tensor result = at::empty_like(a);
  detail::adasum(static_cast<const float*>(a.data_ptr()), static_cast<const float*>(b.data_ptr()),
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

TEST(Adasum, KeepsTheOtherGradientWhereOneIsZero) {
  const at::Tensor a = numbers({21}, 1).to(at::kFloat);
  expectClose(adasumOf(a, at::zeros({21})), a, 0);
}

/// The pairs of the ranks, in one process: see AdasumGroups.
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
        for (const detail::GradientSlot& slot : slots) {
          slot.parameter.mutable_grad() = gradientOf(slot.parameter.numel(), world->rank());
        }
        exchange();
        for (const detail::GradientSlot& slot : slots) {
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
    // Numbers below 4 with 11 bits, rounded at each of two levels and to begin with.
    expectClose(slots[0].parameter.grad(),
                adasumOfAll({gradientOf(0), gradientOf(1), gradientOf(2)}), 8e-3);
    expectSameOnAllRanks(slots, *world);
  });
}

/// An embedding's gradient: rows that repeat, and other ones for each rank.
at::Tensor embeddingGradient(int rank, at::ScalarType type = at::kFloat) {
  const at::Tensor rows = at::tensor({1, 4, 1}, at::kLong) + rank;
  const at::Tensor values = numbers({3, 2}, rank).to(type);
  return at::sparse_coo_tensor(rows.view({1, 3}), values, {8, 2}, at::TensorOptions(type));
}

void expectSparseMean(const detail::GradientSlot& slot, Communicator& world, int ranks) {
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
      const detail::GradientSlot table = slot("table", {8, 2}, 1);
      const int last = std::min(ranks, 4);
      if (world->rank() < last) {
        table.parameter.mutable_grad() = embeddingGradient(world->rank());
      }
      detail::exchangeSparseGradient(table, *world, 1.0 / ranks);
      expectSparseMean(table, *world, last);
    });
  }
}

TEST(SparseGradients, TakeADenseOneAsSparse) {
  runRanksShared(2, [](const World& world) {
    const detail::GradientSlot table = slot("table", {8, 2}, 1);
    const at::Tensor gradient = embeddingGradient(world->rank());
    table.parameter.mutable_grad() = world->rank() == 0 ? gradient : gradient.to_dense();
    detail::exchangeSparseGradient(table, *world, 0.5);
    expectSparseMean(table, *world, 2);
  });
}

TEST(SparseGradients, StayUndefinedWhereNoRankHasOne) {
  runRanksShared(2, [](const World& world) {
    const detail::GradientSlot table = slot("table", {8, 2}, 1);
    detail::exchangeSparseGradient(table, *world, 0.5);
    EXPECT_FALSE(table.parameter.grad().defined());
  });
}

TEST(SparseGradients, AreAddedUpInFloat32) {
  runRanksShared(3, [](const World& world) {
    const detail::GradientSlot table = slot("table", {2, 1}, 1, at::kBFloat16);
    // 256 + 1 + 1 needs more than the 8 bits of bfloat16 on the way.
    const double value = world->rank() == 0 ? 256 : 1;
    table.parameter.mutable_grad() =
        at::sparse_coo_tensor(at::zeros({1, 1}, at::kLong), at::full({1, 1}, value, at::kBFloat16),
                              {2, 1}, at::TensorOptions(at::kBFloat16));
    detail::exchangeSparseGradient(table, *world, 1);
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
