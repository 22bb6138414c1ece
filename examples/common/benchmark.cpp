// SPDX-License-Identifier: Apache-2.0
#include "benchmark.h"

#include <chrono>
#include <iostream>
#include <utility>
#include <vector>

#include <steptape/metrics/straggler_report.h>
#include <steptape/steptape.h>
#include <steptape/torch.h>
#include <steptape/trainer.h>

#include "benchmark_result.h"
#include "training_step.h"

namespace example {
namespace {

using steptape::StepPart;
using steptape::StepTimes;
using PartTimes = decltype(StepDetails::parts);

constexpr std::size_t kShownOperators = 12;

std::int64_t countParameters(const torch::nn::Module& network) {
  std::int64_t count = 0;
  for (const torch::Tensor& parameter : network.parameters()) {
    count += parameter.numel();
  }
  return count;
}

/// Measures one job, and logs what it measures.
class Measurement {
 public:
  Measurement(const BenchmarkOptions& options, const World& world, BenchmarkTask& task)
      : options_(options),
        world_(world),
        task_(task),
        writer_(options.logDir, world),
        training_(task, options, world) {}

  BenchmarkResult run() {
    BenchmarkResult result;
    result.model = task_.model;
    result.samples = task_.samples;
    result.ranks = world_->size();
    result.parameters = countParameters(*task_.network.ptr());
    describe(result.parameters);
    for (std::int64_t i = 0; i < options_.warmup; ++i) {
      training_.run();
    }
    measureRates(result);
    if (options_.profileSteps > 0) {
      result.details = profile();
    }
    writer_.close().throwIfError();
    return result;
  }

 private:
  std::int64_t lastStep() const { return options_.iterations * options_.steps; }

  void describe(std::int64_t parameters) {
    steptape::DescriptionRows rows = steptape::describeRun(*world_);
    rows.emplace_back("model", task_.model);
    rows.emplace_back("parameters", std::to_string(parameters));
    rows.emplace_back("batch size per rank", std::to_string(options_.batchSize));
    rows.insert(rows.end(), task_.settings.begin(), task_.settings.end());
    rows.emplace_back("gradients", training_.describe());
    writer_.addText("configuration", steptape::markdownTable(rows), 0);
  }

  void measureRates(BenchmarkResult& result) {
    steptape::StragglerReportOptions stragglerOptions;
    stragglerOptions.everySteps = options_.steps;
    stragglerOptions.detailScalars = true;  // scaling_study reads them.
    steptape::StragglerReport straggler(writer_, stragglerOptions);
    std::vector<double> perRank;
    std::vector<double> total;
    for (std::int64_t i = 1; i <= options_.iterations; ++i) {
      const double seconds = timeIteration(straggler, (i - 1) * options_.steps);
      total.push_back(logRate(seconds, i * options_.steps));
      perRank.push_back(total.back() / world_->size());
      if (!options_.json) {
        steptape::logFromRoot(*world_,
                              "iteration " + std::to_string(i) + ": " +
                                  std::to_string(perRank.back()) + " " + task_.samples +
                                  " per second on each rank\n",
                              std::cout);
      }
    }
    straggler.finish();
    result.perRank = meanAndStd(perRank);
    result.total = meanAndStd(total);
  }

  /// @return the seconds that this rank needed.
  double timeIteration(steptape::StragglerReport& straggler, std::int64_t stepsBefore) {
    const auto start = std::chrono::steady_clock::now();
    for (std::int64_t step = stepsBefore + 1; step <= stepsBefore + options_.steps; ++step) {
      const StepTimes::Nanos nanos = training_.run();
      for (std::size_t part = 0; part < nanos.size(); ++part) {
        straggler.add(static_cast<StepPart>(part), 1e-9 * static_cast<double>(nanos[part]));
      }
      straggler.endStep(step);
    }
    waitForDevice(training_.loss());
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  }

  /// @return the samples per second of all ranks together.
  double logRate(double seconds, std::int64_t step) {
    double rate[] = {static_cast<double>(options_.batchSize * options_.steps) / seconds};
    steptape::ReducedOptions spread;
    spread.min = spread.max = true;
    const std::string tag = task_.samples + "_per_second";
    writer_.addReduced(tag + "_per_rank", rate[0], step, spread);
    writer_.addReduced("loss", training_.loss(), step);
    writer_.reduce(step);
    world_->allreduce(rate, steptape::ReduceOp::kSum);
    writer_.addScalar(tag, rate[0], step);
    return rate[0];
  }

  StepDetails profile() {
    steptape::OpProfiler profiler(profilerOptions());
    profiler.watch(*task_.network.ptr());
    training_.run(/*synchronize=*/true);  // The profiler's warm-up.
    profiler.step();
    PartTimes sums{};
    for (std::int64_t i = 0; i < options_.profileSteps; ++i) {
      const StepTimes::Nanos nanos = training_.run(/*synchronize=*/true);
      profiler.step();
      for (std::size_t part = 0; part < nanos.size(); ++part) {
        sums[part] += 1e-6 * static_cast<double>(nanos[part]);
      }
    }
    profiler.flush().throwIfError();
    steptape::OpTableOptions shown;
    shown.maxRows = kShownOperators;
    return {options_.profileSteps, logParts(sums),
            steptape::opTableForConsole(profiler.profile(), shown)};
  }

  steptape::OpProfilerOptions profilerOptions() {
    steptape::OpProfilerOptions profiling;
    profiling.schedule.warmup = 1;
    profiling.schedule.active = options_.profileSteps;
    profiling.schedule.repeat = 1;
    profiling.firstStep = lastStep();
    profiling.logDir = options_.logDir;
    profiling.shapes = true;
    if (world_->isRoot()) {
      profiling.writer = &writer_.localWriter();
    }
    if (world_->size() > 1) {
      profiling.communicator = world_;
    }
    return profiling;
  }

  /// @return the mean over the ranks, for one step.
  PartTimes logParts(PartTimes sums) {
    world_->allreduce(sums, steptape::ReduceOp::kSum);
    for (std::size_t part = 0; part < sums.size(); ++part) {
      sums[part] /= static_cast<double>(options_.profileSteps * world_->size());
      writer_.addScalar(std::string("step_ms/") + stepPartName(static_cast<StepPart>(part)),
                        sums[part], lastStep());
    }
    return sums;
  }

  const BenchmarkOptions& options_;
  World world_;
  BenchmarkTask& task_;
  steptape::DistributedWriter writer_;
  TrainingStep training_;
};

}  // namespace

void addOptions(CommandLine& line, BenchmarkOptions& options, const std::string& samples) {
  line.add("batch-size", options.batchSize, "N", samples + " per step on each rank", 1);
  line.add("warmup", options.warmup, "N", "steps before the measurement");
  line.add("iterations", options.iterations, "N", "number of measurements", 1);
  line.add("steps", options.steps, "N", "steps per iteration", 1);
  line.add("profile-steps", options.profileSteps, "N",
           "steps profiled after the measurement; 0: none");
  line.add("fp16-allreduce", options.fp16Allreduce, "send gradients as float16");
  line.add("threads", options.threads, "N",
           "LibTorch's threads per rank; 0: this rank's share of the cores");
  line.add("log-dir", options.logDir, "DIR", "log directory for TensorBoard");
  line.add("json", options.json, "print the result as one line of JSON");
}

torch::Device prepareRank(const BenchmarkOptions& options, const World& world) {
  steptape::ThreadOptions threads;
  threads.intraOp = static_cast<int>(options.threads);
  steptape::setThreads(threads, *world);
  steptape::keepFreedMemory();
  return steptape::deviceForLocalRank(*world);
}

void runBenchmark(const BenchmarkOptions& options, const World& world, BenchmarkTask task) {
  const BenchmarkResult result = Measurement(options, world, task).run();
  steptape::logFromRoot(*world, options.json ? jsonLine(result) : plainText(result), std::cout);
}

}  // namespace example
