// SPDX-License-Identifier: Apache-2.0
// Runs a program on 1, 2, 4, ... ranks and shows how it scales: speed-up and efficiency, and where
// the time goes when the curve flattens.
//
//   scaling_study --ranks 1,2,4                        # ResNet-50 of imagenet_benchmark
//   scaling_study --ranks 1,2,4 --scaling strong --work 64
//   scaling_study --rate-tag cell_updates_per_second --
//       ./metric_averaging --log-dir {log_dir} --tolerance 0
//   salloc -n 16 scaling_study --ranks 1,2,4,8,16 --launcher "srun -n {ranks}"
//   tensorboard --logdir runs
//
// Needs neither MPI nor LibTorch itself: it starts the jobs and reads their event files.
#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <exception>
#include <filesystem>
#include <iostream>
#include <string>
#include <thread>
#include <vector>

#include <steptape/steptape.h>

#include "command_line.h"
#include "job.h"
#include "report.h"

namespace {

constexpr int kExitFailure = 1;
constexpr int kExitUsage = 2;

struct Options {
  std::string ranks;
  std::string scaling = "weak";
  std::int64_t work = 8;
  std::int64_t rounds = 1;
  std::int64_t threads = 1;
  std::string rateTag = "images_per_second";
  std::string launcher = "mpiexec -n {ranks}";
  std::string logDir = "runs/scaling_study";
  std::int64_t timeLimit = 3600;
  bool json = false;
  std::vector<std::string> program;
};

/// 1, 2, 4, ... as far as the job's allocation or, without one, this machine's cores go.
std::vector<int> defaultRanks() {
  int most = static_cast<int>(std::thread::hardware_concurrency());
  if (const char* tasks = std::getenv("SLURM_NTASKS"); tasks != nullptr) {
    most = std::atoi(tasks);
  }
  std::vector<int> counts = {1};
  while (counts.back() * 2 <= most) {
    counts.push_back(counts.back() * 2);
  }
  return counts;
}

std::vector<int> parseRanks(const std::string& text) {
  std::vector<int> counts;
  for (const std::string& part : example::splitList(text)) {
    counts.push_back(static_cast<int>(example::wholeNumber("--ranks", part, 1)));
  }
  if (!std::is_sorted(counts.begin(), counts.end(), std::less_equal<>())) {
    throw example::UsageError("--ranks: got '" + text + "', wanted numbers that ascend");
  }
  return counts.empty() ? defaultRanks() : counts;
}

/// The benchmark that is built beside this program.
std::vector<std::string> defaultProgram() {
  const auto folder = std::filesystem::read_symlink("/proc/self/exe").parent_path();
  const std::string benchmark = folder / "imagenet_benchmark";
  if (!std::filesystem::exists(benchmark)) {
    throw example::UsageError("no program to run, and no " + benchmark);
  }
  return {benchmark, "--model",   "resnet50", "--image-size", "64", "--batch-size",
          "{work}",  "--warmup",  "3",        "--iterations", "5",  "--steps",
          "3",       "--log-dir", "{log_dir}"};
}

void check(const Options& options) {
  if (options.scaling != "weak" && options.scaling != "strong") {
    throw example::UsageError("--scaling: got '" + options.scaling + "', wanted weak or strong");
  }
  const bool takesLogDir = std::any_of(
      options.program.begin(), options.program.end(),
      [](const std::string& argument) { return argument.find("{log_dir}") != std::string::npos; });
  if (!takesLogDir) {
    throw example::UsageError("the program's arguments need a {log_dir}, where it is to log");
  }
}

/// What {work} is on so many ranks.
std::int64_t workOfRank(const Options& options, int ranks) {
  if (options.scaling == "weak") {
    return options.work;
  }
  if (options.work % ranks != 0) {
    throw example::UsageError("--work: got " + std::to_string(options.work) +
                              ", which cannot be shared evenly by " + std::to_string(ranks) +
                              " ranks");
  }
  return options.work / ranks;
}

std::vector<Measurement> measure(const Options& options, const std::vector<int>& counts) {
  JobTemplate job;
  job.launcher = example::splitList(options.launcher, ' ');
  job.program = options.program;
  job.rateTag = options.rateTag;
  job.timeLimit = std::chrono::seconds(options.timeLimit);
  for (const int ranks : counts) {
    workOfRank(options, ranks);  // Before anything takes time.
  }
  // Round by round, so that a machine that gets slower meanwhile does so for all.
  std::vector<std::vector<Measurement>> jobs(counts.size());
  for (std::int64_t round = 1; round <= options.rounds; ++round) {
    for (std::size_t i = 0; i < counts.size(); ++i) {
      const std::string logDir = options.logDir + "/ranks_" + std::to_string(counts[i]) +
                                 "/round_" + std::to_string(round);
      jobs[i].push_back(runJob(job, counts[i], workOfRank(options, counts[i]), logDir));
      std::cerr << "round " << round << " of " << options.rounds << ", ranks " << counts[i] << ": "
                << jobs[i].back().rate << " " << options.rateTag << ", " << jobs[i].back().seconds
                << " s\n";
    }
  }
  std::vector<Measurement> medians;
  medians.reserve(jobs.size());
  for (const std::vector<Measurement>& ofCount : jobs) {
    medians.push_back(medianOf(ofCount));
  }
  return medians;
}

void run(Options& options) {
  if (options.program.empty()) {
    options.program = defaultProgram();
  }
  check(options);
  const std::vector<int> counts = parseRanks(options.ranks);
  // Equally many threads in every rank: LibTorch would give a single rank all cores.
  setenv("OMP_NUM_THREADS", std::to_string(options.threads).c_str(), 1);

  const std::vector<Scaling> study = compare(measure(options, counts));
  const std::string title = options.scaling == "weak" ? "Weak scaling" : "Strong scaling";
  const std::string setting =
      std::string("work ") + (options.scaling == "weak" ? "per rank: " : "in total: ") +
      std::to_string(options.work) + ", threads per rank: " + std::to_string(options.threads);
  steptape::SummaryWriter writer(options.logDir);
  logStudy(writer, study, options.rateTag, title, setting);
  writer.close().throwIfError();
  if (options.json) {
    std::cout << jsonLine(study) << "\n";
  } else {
    std::cout << title << ", " << setting << "\n\n"
              << consoleTable(study, options.rateTag) << "\n"
              << "tensorboard --logdir " << options.logDir << "\n";
  }
}

}  // namespace

int main(int argc, char** argv) {
  Options options;
  example::CommandLine line(
      "Runs a program on 1, 2, 4, ... ranks and shows speed-up, efficiency and lost time.\n\n"
      "  scaling_study [options] [-- PROGRAM ARGUMENT...]\n\n"
      "In PROGRAM's arguments {log_dir} is where it is to log, {work} the work of a rank, {ranks}\n"
      "the number of ranks. It logs its work per second as a scalar; where it also logs\n"
      "StragglerOptions::detailScalars, the shares of time are shown. By default:\n"
      "imagenet_benchmark with ResNet-50.\n");
  line.add("ranks", options.ranks, "LIST", "such as 1,2,4; by default up to the cores there are");
  line.add("scaling", options.scaling, "KIND", "weak: fixed work on each rank; strong: in total");
  line.add("work", options.work, "N", "that work, such as a batch size", 1);
  line.add("rounds", options.rounds, "N", "jobs for each number of ranks; the median counts", 1);
  line.add("threads", options.threads, "N", "OMP_NUM_THREADS of a rank", 1);
  line.add("rate-tag", options.rateTag, "TAG", "the program's scalar that has its work per second");
  line.add("launcher", options.launcher, "COMMAND", "how to start a job");
  line.add("log-dir", options.logDir, "DIR", "where TensorBoard is to look");
  line.add("time-limit", options.timeLimit, "SECONDS", "for one job", 1);
  line.add("json", options.json, "print the table as one line of JSON");
  line.addRest(options.program);
  try {
    if (!line.parse(argc, argv)) {
      std::cout << line.help();
      return 0;
    }
    run(options);
    return 0;
  } catch (const example::UsageError& error) {
    std::cerr << "scaling_study: " << error.what() << "; see --help\n";
    return kExitUsage;
  } catch (const std::exception& error) {
    std::cerr << "scaling_study: " << error.what() << "\n";
    return kExitFailure;
  }
}
