// SPDX-License-Identifier: Apache-2.0
// A solver in plain MPI, without LibTorch, that logs metrics over all ranks. It shows how to add
// Steptape to a simulation.
//
//   mpiexec -n 4 metric_averaging --cells 512 --iterations 2000
//   tensorboard --logdir runs
//
// TensorBoard then shows:
//
// - `residual` with its band over the ranks, on the page Custom Scalars;
// - `iteration_ms` with the slowest rank, and `straggler/*`;
// - the temperature of the plate, as an image.
#include <chrono>
#include <cmath>
#include <cstring>
#include <iostream>
#include <string>
#include <vector>

#include <steptape/metrics/straggler_report.h>
#include <steptape/mpi.h>
#include <steptape/ranks/mpi_communicator.h>
#include <steptape/steptape.h>

#include "command_line.h"
#include "heat_solver.h"
#include "on_ranks.h"

namespace {

using example::World;
using steptape::StepPart;
using SteadyClock = std::chrono::steady_clock;

struct Options {
  std::int64_t cells = 256;
  std::int64_t iterations = 1000;
  double tolerance = 1e-6;
  std::int64_t logEvery = 10;
  std::string logDir = "runs/metric_averaging";
};

double secondsSince(SteadyClock::time_point start) {
  return std::chrono::duration<double>(SteadyClock::now() - start).count();
}

/// Gathers the rows of all ranks on the root, which writes them as one image.
void logField(steptape::DistributedWriter& writer, const HeatSolver& solver,
              steptape::Communicator& world, std::int64_t step) {
  const std::vector<float> own = solver.field();
  const std::string_view bytes(reinterpret_cast<const char*>(own.data()),
                               own.size() * sizeof(float));
  std::vector<float> whole;
  for (const std::string& rows : world.gatherObject(bytes, 0)) {
    const std::size_t before = whole.size();
    whole.resize(before + rows.size() / sizeof(float));
    std::memcpy(whole.data() + before, rows.data(), rows.size());
  }
  if (world.isRoot()) {
    steptape::ImageOptions image;
    image.dataFormat = "HW";
    writer.addImage("temperature", {whole.data(), {solver.cells(), solver.cells()}}, step, image);
  }
}

/// Logs an iteration, except the times of its parts.
void logIteration(steptape::DistributedWriter& writer, const HeatSolver& solver, double squares,
                  double milliseconds, std::int64_t step) {
  const double cells = static_cast<double>(solver.rows() * solver.cells());
  steptape::ReducedOptions residual;
  residual.weight = cells;  // Ranks may have different numbers of rows.
  residual.band = true;
  residual.sum = true;
  writer.addReduced("residual", squares / cells, step, residual);
  steptape::ReducedOptions time;
  time.min = time.max = time.std = time.argmaxRank = true;
  writer.addReduced("iteration_ms", milliseconds, step, time);
  writer.reduce(step);  // One allreduce, during the next iterations.
}

void run(const Options& options, const World& world) {
  if (options.cells < world->size()) {
    throw example::UsageError("--cells: got " + std::to_string(options.cells) +
                              "; expected at least " + std::to_string(world->size()) +
                              ", one row for each rank");
  }
  steptape::DistributedWriterOptions writerOptions;
  writerOptions.reduceMode = steptape::ReduceMode::kNonBlocking;
  steptape::DistributedWriter writer(options.logDir, world, writerOptions);
  steptape::StragglerReportOptions stragglerOptions;
  stragglerOptions.everySteps = options.logEvery;
  stragglerOptions.mode = steptape::ReduceMode::kNonBlocking;
  stragglerOptions.detailScalars = true;  // scaling_study reads them.
  steptape::StragglerReport straggler(writer, stragglerOptions);

  HeatSolver solver(options.cells, MPI_COMM_WORLD);
  const double allCells = static_cast<double>(options.cells * options.cells);
  const auto start = SteadyClock::now();
  double residual = 0;
  std::int64_t step = 0;
  while (step < options.iterations) {
    const auto begin = SteadyClock::now();
    double squares = 0;
    {
      const auto timer = straggler.time(StepPart::kWait);
      solver.exchangeHalo();
    }
    {
      const auto timer = straggler.time(StepPart::kForward);
      squares = solver.relax();
    }
    ++step;
    straggler.endStep(step);
    if (step % options.logEvery != 0 && step != options.iterations) {
      continue;
    }
    logIteration(writer, solver, squares, 1e3 * secondsSince(begin), step);
    // Equal on all ranks, so all of them stop at the same iteration.
    const auto timer = straggler.time(StepPart::kWait);
    residual = std::sqrt(steptape::metricAverage(
        *world, squares, static_cast<double>(solver.rows() * solver.cells())));
    if (residual < options.tolerance) {
      break;
    }
  }
  const double seconds = secondsSince(start);
  writer.finishReduce();
  straggler.finish();
  writer.addScalar("cell_updates_per_second", allCells * static_cast<double>(step) / seconds, step);
  logField(writer, solver, *world, step);
  writer.close().throwIfError();
  steptape::logFromRoot(*world,
                        "ranks " + std::to_string(world->size()) + ", iterations " +
                            std::to_string(step) + ", residual " + std::to_string(residual) +
                            ", seconds " + std::to_string(seconds) + "; tensorboard --logdir " +
                            writer.logDir() + "\n",
                        std::cout);
}

}  // namespace

int main(int argc, char** argv) {
  Options options;
  example::CommandLine line(
      "Solves Laplace's equation on all ranks of an MPI job and logs metrics over the ranks.\n\n"
      "  mpiexec -n 4 metric_averaging [options]\n");
  line.add("cells", options.cells, "N", "cells on each side of the plate", 1);
  line.add("iterations", options.iterations, "N", "maximum number of iterations", 1);
  line.add("tolerance", options.tolerance, "X",
           "stop when the root mean square of the residuals is smaller");
  line.add("log-every", options.logEvery, "N", "iterations between logged steps", 1);
  line.add("log-dir", options.logDir, "DIR", "log directory for TensorBoard");
  return example::runOnRanks(argc, argv, line, [&](const World& world) { run(options, world); });
}
