// SPDX-License-Identifier: Apache-2.0
//
// Measures the cost of averaging metrics over ranks: one batched DistributedWriter::reduce()
// compared with one allreduce per metric, and the cost of the non-blocking mode on the training
// thread compared with starting one MPI_Iallreduce. Every figure is a ratio of variants that ran
// alternately, on the slower rank; see harness.h. All figures depend on the cores of the two
// processes: run it at least five times.
//
//   mpiexec -n 2 --bind-to core build/release/bin/metrics_benchmark
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "steptape/mpi.h"
#include "steptape/ranks/testing.h"

#include "harness.h"

#include <mpi.h>

namespace {

using steptape::DistributedWriter;

constexpr int kMetrics = 1000;
constexpr int kRounds = 21;

std::vector<std::string> namesOf(int count) {
  std::vector<std::string> names;
  names.reserve(count);
  for (int i = 0; i < count; ++i) {
    names.push_back("metric/" + std::to_string(i));
  }
  return names;
}

/// Returns how many doubles reduce() sends for this many metrics: two per place, of which there are
/// 15, 31, 63, ..., and eight before them.
std::size_t doublesSent(int metrics) {
  std::size_t capacity = 16;
  while (static_cast<std::size_t>(metrics) >= capacity) {
    capacity *= 2;
  }
  return 8 + 2 * (capacity - 1);
}

/// Returns the larger of the ranks' numbers, for which the job waits.
double ofSlowestRank(double mine) {
  MPI_Allreduce(MPI_IN_PLACE, &mine, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
  return mine;
}

/// Returns the median over `repeats` of the microseconds that `timed` takes once all ranks have
/// met. `prepare` runs before that.
double medianMicros(int repeats, const std::function<void()>& prepare,
                    const std::function<void()>& timed) {
  benchmark::Costs costs;
  for (int i = 0; i < repeats; ++i) {
    prepare();
    MPI_Barrier(MPI_COMM_WORLD);
    const double start = benchmark::nowNanos();
    timed();
    costs.push_back((benchmark::nowNanos() - start) * 1e-3);
  }
  return ofSlowestRank(benchmark::median(costs));
}

/// A writer on every rank, into a directory of the root.
class Job {
 public:
  explicit Job(steptape::ReduceMode mode) : world_(steptape::world()) {
    if (world_->isRoot()) {
      directory_.emplace();
    }
    steptape::DistributedWriterOptions options;
    options.reduceMode = mode;
    writer_.emplace(directory_ ? directory_->string() : "the root's counts", world_, options);
  }

  void add(const std::vector<std::string>& names) {
    ++step_;
    for (const std::string& name : names) {
      writer_->addReduced(name, 0.5, step_);
    }
  }
  void reduce() { writer_->reduce(step_); }
  /// Reduces each metric in a separate step.
  void reduceOneByOne(const std::vector<std::string>& names) {
    for (const std::string& name : names) {
      writer_->addReduced(name, 0.5, ++step_);
      writer_->reduce(step_);
    }
  }

 private:
  std::shared_ptr<steptape::Communicator> world_;
  std::optional<steptape::testing::TempDir> directory_;
  std::optional<DistributedWriter> writer_;
  std::int64_t step_ = 0;
};

void print(const std::vector<benchmark::Variant>& variants,
           const std::vector<benchmark::Costs>& costs) {
  for (std::size_t i = 0; i < variants.size(); ++i) {
    benchmark::printCosts(variants[i].name, costs[i], "us");
  }
}

void barrierFloor(bool isRoot) {
  const double micros = medianMicros(
      1000, [] {}, [] { MPI_Barrier(MPI_COMM_WORLD); });
  if (isRoot) {
    std::printf("MPI_Barrier: %.2f us (%s)\n", micros, micros < 0.4 ? "near cores" : "far cores");
  }
}

void batchedAgainstOneByOne(bool isRoot) {
  Job batched(steptape::ReduceMode::kBlocking);
  Job single(steptape::ReduceMode::kBlocking);
  const std::shared_ptr<steptape::Communicator> world = steptape::world();
  const std::vector<std::string> names = namesOf(kMetrics);
  std::vector<double> together(doublesSent(kMetrics), 0.0);
  const auto nothing = [] {};
  const auto plain = [&] {
    return medianMicros(5, nothing, [] {
      for (int i = 0; i < kMetrics; ++i) {
        double value = 0.5;
        MPI_Allreduce(MPI_IN_PLACE, &value, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
        benchmark::keep(value);
      }
    });
  };
  const std::vector<benchmark::Variant> variants = {
      {"1000 x MPI_Allreduce of one double", plain},
      {"the same again (A/A)", plain},
      {"one MPI_Allreduce of what reduce() sends",
       [&] {
         return medianMicros(25, nothing, [&] {
           MPI_Allreduce(MPI_IN_PLACE, together.data(), static_cast<int>(together.size()),
                         MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
         });
       }},
      {"1000 x Communicator::allreduce of one double",
       [&] {
         return medianMicros(5, nothing, [&] {
           for (int i = 0; i < kMetrics; ++i) {
             std::vector<double> value{0.5};
             world->allreduce(value, steptape::ReduceOp::kAverage);
             benchmark::keep(value[0]);
           }
         });
       }},
      {"1000 x (addReduced(), reduce())",
       [&] { return medianMicros(5, nothing, [&] { single.reduceOneByOne(names); }); }},
      {"1000 x addReduced(), one reduce()",
       [&] {
         return medianMicros(25, nothing, [&] {
           batched.add(names);
           batched.reduce();
         });
       }},
      {"one reduce() of 1000 metrics", [&] {
         return medianMicros(
             25, [&] { batched.add(names); }, [&] { batched.reduce(); });
       }}};
  const auto costs = benchmark::takeTurns(variants, kRounds);
  if (!isRoot) {
    return;
  }
  benchmark::printTitle("1000 metrics of a step, averaged over the ranks and written, us");
  print(variants, costs);
  // Between two processes; see benchmarks/harness.h.
  benchmark::printControl("MPI_Allreduce / again", benchmark::ratio(costs[0], costs[1]), 0.33);
  benchmark::printAtLeast("1000 x (add, reduce) / (1000 x add, one reduce)",
                          benchmark::ratio(costs[4], costs[5]), 80);
  benchmark::printAtLeast("1000 x Communicator::allreduce / one reduce()",
                          benchmark::ratio(costs[3], costs[6]), 80);
  benchmark::printAtLeast("1000 x MPI_Allreduce / one reduce()",
                          benchmark::ratio(costs[0], costs[6]), 80);
  // The minimum cost of sending these bytes through MPI.
  benchmark::printAtLeast("1000 x MPI_Allreduce / one MPI_Allreduce",
                          benchmark::ratio(costs[0], costs[2]), 80);
}

/// One MPI_Iallreduce per step, completed when the next one is posted.
class PlainExchange {
 public:
  explicit PlainExchange(std::size_t doubles) : from_(doubles, 0.5), to_(doubles) {}
  ~PlainExchange() { MPI_Wait(&request_, MPI_STATUS_IGNORE); }
  PlainExchange(const PlainExchange&) = delete;
  PlainExchange& operator=(const PlainExchange&) = delete;

  void step() {
    for (int isDone = 0; isDone == 0;) {
      MPI_Test(&request_, &isDone, MPI_STATUS_IGNORE);
    }
    MPI_Iallreduce(from_.data(), to_.data(), static_cast<int>(to_.size()), MPI_DOUBLE, MPI_SUM,
                   MPI_COMM_WORLD, &request_);
  }

 private:
  std::vector<double> from_;
  std::vector<double> to_;
  MPI_Request request_ = MPI_REQUEST_NULL;
};

void exposedWithoutBlocking(int metrics, bool isRoot) {
  Job job(steptape::ReduceMode::kNonBlocking);
  PlainExchange exchange(doublesSent(metrics));
  const std::vector<std::string> names = namesOf(metrics);
  constexpr int kSteps = 200;
  // The message of the previous step arrives at the barrier before each measurement, as it does in
  // the exchange of the gradients.
  const auto floor = [&] {
    return medianMicros(
        kSteps, [] {}, [&] { exchange.step(); });
  };
  const std::vector<benchmark::Variant> variants = {{"MPI_Test until done, MPI_Iallreduce", floor},
                                                    {"the same again (A/A)", floor},
                                                    {"reduce(), non-blocking", [&] {
                                                       return medianMicros(
                                                           kSteps, [&] { job.add(names); },
                                                           [&] { job.reduce(); });
                                                     }}};
  const auto costs = benchmark::takeTurns(variants, kRounds);
  if (!isRoot) {
    return;
  }
  benchmark::printTitle("The training thread, " + std::to_string(metrics) +
                        " metrics a step, non-blocking, us a step");
  print(variants, costs);
  benchmark::printControl("floor / floor again", benchmark::ratio(costs[0], costs[1]), 0.33);
  benchmark::Costs exposed;
  for (std::size_t i = 0; i < costs[2].size(); ++i) {
    exposed.push_back(costs[2][i] - costs[0][i]);
  }
  benchmark::printAtMost("reduce() beyond the floor, us",
                         benchmark::ratio(exposed, benchmark::Costs(exposed.size(), 1.0)), 1);
}

}  // namespace

int main(int argc, char** argv) {
  const steptape::Environment environment(argc, argv);
  const bool isRoot = steptape::world()->isRoot();
  barrierFloor(isRoot);
  batchedAgainstOneByOne(isRoot);
  for (const int metrics : {16, 100, 1000}) {
    exposedWithoutBlocking(metrics, isRoot);
  }
  return 0;
}
