// SPDX-License-Identifier: Apache-2.0
#include <chrono>
#include <cmath>
#include <limits>
#include <thread>

#include "steptape/ranks/testing.h"

#include "support/expect_error.h"
#include "train/replicas/exchange_fixture.h"
#include "train/replicas/gradients/gradient_exchange.h"
#include "train/replicas/messages/gradient_hooks.h"

namespace steptape {
namespace {

using detail::train::GradientState;
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

/// Returns the slots after a few steps of gradient descent on all ranks' samples in one process.
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
    for (const detail::train::GradientSlot& slot : net.slots) {
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
    for (const detail::train::GradientSlot& slot : net.slots) {
      at::Tensor(slot.parameter).sub_(slot.parameter.grad(), 0.1);
    }
  }
}

class MessageExchangeOnRanks : public ::testing::TestWithParam<int> {
 protected:
  /// Expects the same result of three steps as in one process with all samples.
  static void expectAsAlone(const GradientSyncOptions& options, bool worksOnAnyThread) {
    const Slots wanted = trainedAlone(GetParam(), 3);
    runRanksShared(GetParam(), [&](const World& ranks) {
      const auto world = std::make_shared<NamingCommunicator>(ranks, worksOnAnyThread);
      Net net;
      train(net, world, options, 3);
      for (std::size_t slot = 0; slot < wanted.size(); ++slot) {
        // float32 has 24 bits, and the samples are summed in another order.
        expectClose(net.slots[slot].parameter, wanted[slot].parameter, 1e-6);
      }
    });
  }
};
INSTANTIATE_TEST_SUITE_P(Ranks, MessageExchangeOnRanks, ::testing::Values(1, 2, 3, 7));

TEST_P(MessageExchangeOnRanks, AveragesAsOneLargeBatch) {
  expectAsAlone({}, true);
}

TEST_P(MessageExchangeOnRanks, AveragesInManyBuckets) {
  expectAsAlone(oneGradientABucket(), true);
}

TEST_P(MessageExchangeOnRanks, AveragesWithoutASeparateThread) {
  expectAsAlone(oneGradientABucket(), false);
}

TEST_P(MessageExchangeOnRanks, AveragesWithoutOverlap) {
  GradientSyncOptions options = oneGradientABucket();
  options.overlap = false;
  expectAsAlone(options, true);
}

TEST_P(MessageExchangeOnRanks, AveragesDividedBeforeAsWell) {
  GradientSyncOptions options;
  options.predivideFactor = 2;
  expectAsAlone(options, true);
}

TEST(MessageExchange, FillsBucketsInTheOrderInWhichGradientsGetReady) {
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

TEST(MessageExchange, FillsBucketsInReverseOrderOfRegistrationWithoutHooks) {
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

TEST(MessageExchange, TakesTheRootsOrderOnEveryRank) {
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

TEST(MessageExchange, KeepsTheFirstBucketSmall) {
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
  for (const detail::train::GradientSlot& slot : slots) {
    buckets.push_back(slot.array);
  }
  EXPECT_EQ(buckets, (std::vector<std::size_t>{2, 2, 2, 1, 1, 1, 0}));
}

/// Returns whether the first bucket is in flight before backward() has reached the first layer.
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

TEST(MessageExchange, StartsBucketsWhileBackwardRuns) {
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

TEST(MessageExchange, StartsBucketsInHooksIfNoOtherThreadMay) {
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

TEST(MessageExchange, LeavesBucketsToTheExchangeIfBackwardRunsOnAnotherThread) {
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

TEST(MessageExchange, SendsNothingUntilTheLastPass) {
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

TEST(MessageExchange, RejectsASecondBackward) {
  runRanksShared(2, [](const World& world) {
    Net net;
    Exchange exchange(net.slots, world);
    exchangeFirst(exchange, net, world->rank());
    net.backward(samplesOf(world->rank()));
    expectError(ErrorCode::kFailedPrecondition, "changed after it was sent",
                [&] { net.backward(samplesOf(world->rank())); });
    // The ranks that wait for this one receive what it sent before; only then, the error is thrown
    // again.
    expectError(ErrorCode::kFailedPrecondition, "Use noSync() or accumulationSteps",
                [&] { exchange(); });
    zeroGradients(net.slots);
    net.backward(samplesOf(world->rank()));
    exchange();
    expectSameOnAllRanks(net.slots, *world);
  });
}

TEST(MessageExchange, SendsWhatAPassUnderNoSyncAddsBeforeItsBucketStarts) {
  runRanksShared(2, [](const World& world) {
    Net net;
    Exchange exchange(net.slots, world);
    exchangeFirst(exchange, net, world->rank());
    // Only the last layer takes part: its bucket also holds the first one, and waits.
    net.loss(numbers({4, 5}, 1).to(at::kFloat)).backward();
    exchange.messages().setOverlapping(false);
    net.loss(numbers({4, 5}, 1).to(at::kFloat)).backward();
    const at::Tensor twice = net.slots[0].parameter.grad().clone();
    exchange();
    expectClose(net.slots[0].parameter.grad(), twice, 1e-6);
  });
}

TEST(MessageExchange, KeepsAGradientUndefinedThatNoRankHas) {
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

TEST(MessageExchange, AveragesEachElementTypeInItsOwn) {
  runRanksShared(3, [](const World& world) {
    Slots slots;
    for (const at::ScalarType type : {at::kFloat, at::kHalf, at::kDouble, at::kBFloat16}) {
      slots.push_back(slot(at::toString(type), {5}, 1, type));
    }
    Exchange exchange(slots, world);
    // 256 + 1 + 1: bfloat16 has 8 bits, so only a sum in float32 gives 258.
    const double factor = world->rank() == 0 ? 256 : 1;
    for (const detail::train::GradientSlot& slot : slots) {
      (slot.parameter * factor).sum().backward();
    }
    exchange();
    for (const detail::train::GradientSlot& slot : slots) {
      EXPECT_EQ(slot.parameter.grad().scalar_type(), slot.parameter.scalar_type());
      expectClose(slot.parameter.grad(), at::full({5}, 86), 0);
    }
  });
}

TEST(MessageExchange, AveragesNearlyInSixteenBits) {
  for (const auto& [compression, bits] :
       {std::pair{Compression::kFp16, 11}, std::pair{Compression::kBf16, 8}}) {
    GradientSyncOptions options;
    options.compression = compression;
    runRanksShared(3, [&, mantissa = bits](const World& world) {
      Slots slots = {slot("weight", {64}, 1)};
      Exchange exchange(slots, world, options);
      at::Tensor mean = at::zeros({64});
      for (int rank = 0; rank < 3; ++rank) {
        mean += numbers({64}, rank).to(at::kFloat) / 3;
      }
      (slots[0].parameter * numbers({64}, world->rank()).to(at::kFloat)).sum().backward();
      exchange();
      // Numbers up to 1 and sums up to 3, each rounded once to half a unit of the last bit.
      expectClose(slots[0].parameter.grad(), mean, 2.0 * std::ldexp(1.0, -mantissa));
      EXPECT_GT((slots[0].parameter.grad() - mean).abs().max().item<double>(), 0);
      expectSameOnAllRanks(slots, *world);
    });
  }
}

TEST(MessageExchange, KeepsFloat16SumsInRangeByDividingBefore) {
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

TEST(MessageExchange, EndsWithinTheTimeoutWhenAnotherRankIsGone) {
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

TEST(MessageExchange, EndsInItsDestructorWhenAnotherRankIsGone) {
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

TEST(MessageExchange, RemovesItsHooks) {
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

TEST(MessageExchange, RejectsAdasumWithPowerSgd) {
  GradientSyncOptions options;
  options.reduction = GradientReduction::kAdasum;
  options.compression = Compression::kPowerSgd;
  Net net;
  expectError(ErrorCode::kInvalidArgument, "Adasum with PowerSGD", [&] {
    const Exchange exchange(net.slots, std::make_shared<Communicator>(), options);
  });
}

TEST(MessageExchange, DescribesBucketsAndCompression) {
  GradientSyncOptions options;
  options.overlap = false;
  options.compression = Compression::kFp16;
  runRanksShared(2, [&](const World& world) {
    Net net;
    Exchange exchange(net.slots, world, options);
    EXPECT_EQ(exchange.messages().describe(),
              "messages between 2 ranks: 25 MiB buckets, float16, not overlapped");
    exchange();
    EXPECT_EQ(exchange.messages().describe(),
              "messages between 2 ranks: 25 MiB buckets, 1 of them, float16, not overlapped");
  });
}

TEST(GradientHooks, ReportEachGradientDuringTheirLifetime) {
  Net net;
  std::vector<std::size_t> told;
  {
    const detail::train::GradientHooks hooks(net.slots, [&](std::size_t slot) {
      EXPECT_TRUE(net.slots[slot].parameter.grad().defined());
      told.push_back(slot);
    });
    net.backward(samplesOf(0));
  }
  EXPECT_THAT(told, ::testing::UnorderedElementsAre(0, 1, 2, 3));
  net.backward(samplesOf(0));
  EXPECT_EQ(told.size(), 4U);
}

}  // namespace
}  // namespace steptape
