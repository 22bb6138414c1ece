// SPDX-License-Identifier: Apache-2.0
//
// Measures Communicator::allreduce() against the bare call of MPI under mpiexec, or of LibTorch's
// gloo under torchrun. Every figure is a ratio of variants that ran alternately, on the slower
// rank; see harness.h.
//
//   mpiexec -n 2 --bind-to core build/release/bin/collectives_benchmark
//   torchrun --standalone --nproc-per-node=2 --no-python build/release/bin/collectives_benchmark
#include <chrono>
#include <cstddef>
#include <cstdio>
#include <exception>
#include <functional>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "steptape/environment.h"
#include "steptape/ranks/mpi_communicator.h"

#include "collectives_gloo.h"
#include "harness.h"

namespace {

using steptape::Communicator;
using Allreduce = std::function<void(std::vector<float>& data)>;

struct Engine {
  std::string name;
  Allreduce allreduce;
  bool isBare;
};

constexpr int kRounds = 21;

/// Returns the microseconds of one call on the slower rank: the median of several.
double medianMicros(Communicator& world, int repeats, const std::function<void()>& timed) {
  benchmark::Costs costs;
  for (int i = 0; i < repeats; ++i) {
    world.barrier();
    const double start = benchmark::nowNanos();
    timed();
    costs.push_back((benchmark::nowNanos() - start) * 1e-3);
  }
  std::vector<double> slowest{benchmark::median(costs)};
  world.allreduce(slowest, steptape::ReduceOp::kMax);
  return slowest.front();
}

Allreduce through(const std::shared_ptr<Communicator>& communicator) {
  return [communicator](std::vector<float>& data) {
    communicator->allreduce(data, steptape::ReduceOp::kSum);
  };
}

std::vector<Engine> enginesOf(const std::shared_ptr<Communicator>& world, bool isMpi) {
  if (isMpi) {
    const Allreduce bare = [](std::vector<float>& data) {
      MPI_Allreduce(MPI_IN_PLACE, data.data(), static_cast<int>(data.size()), MPI_FLOAT, MPI_SUM,
                    MPI_COMM_WORLD);
    };
    return {{"MPI_Allreduce", bare, true},
            {"the same again (A/A)", bare, true},
            {"Communicator::allreduce", through(world), false}};
  }
  const Allreduce bare = benchmark::bareGloo();
  return {{"ProcessGroupGloo::allreduce", bare, true},
          {"the same again (A/A)", bare, true},
          {"Communicator::allreduce, shared memory", through(world), false},
          {"Communicator::allreduce, gloo", through(benchmark::communicatorOverGloo()), false}};
}

void race(Communicator& world, const std::vector<Engine>& engines, std::size_t bytes) {
  std::vector<float> data(bytes / sizeof(float), 0.0F);
  const int repeats = bytes <= 4096 ? 500 : bytes <= (std::size_t{4} << 20) ? 11 : 3;
  std::vector<benchmark::Variant> variants;
  for (const Engine& engine : engines) {
    variants.push_back({engine.name, [&world, &engine, &data, repeats] {
                          return medianMicros(world, repeats, [&] { engine.allreduce(data); });
                        }});
  }
  const auto costs = benchmark::takeTurns(variants, kRounds);
  if (!world.isRoot()) {
    return;
  }
  benchmark::printTitle("allreduce of " + std::to_string(bytes) + " bytes, us");
  for (std::size_t i = 0; i < variants.size(); ++i) {
    benchmark::printCosts(variants[i].name, costs[i], "us");
  }
  benchmark::printControl("bare / again", benchmark::ratio(costs[0], costs[1]), 0.1);
  for (std::size_t i = 2; i < variants.size(); ++i) {
    benchmark::printAtMost(engines[i].name + " / bare", benchmark::ratio(costs[i], costs[0]), 1.03);
  }
}

}  // namespace

int main(int argc, char** argv) {
  const steptape::Environment environment(argc, argv);
  try {
    const std::shared_ptr<Communicator> world = steptape::world();
    if (world->isRoot()) {
      std::printf("%s\n", environment.describe().c_str());
    }
    if (world->size() < 2) {
      throw std::invalid_argument("one rank exchanges nothing; start it by mpiexec or torchrun");
    }
    const bool isMpi = environment.describe().rfind("MPI", 0) == 0;
    const std::vector<Engine> engines = enginesOf(world, isMpi);
    for (const std::size_t bytes :
         {std::size_t{4}, std::size_t{4096}, std::size_t{65536}, std::size_t{1} << 20,
          std::size_t{4} << 20, std::size_t{64} << 20}) {
      race(*world, engines, bytes);
    }
  } catch (const std::exception& error) {
    environment.abort(error.what());
  }
}
