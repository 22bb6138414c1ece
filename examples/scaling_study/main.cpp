// SPDX-License-Identifier: Apache-2.0
// Runs a program on 1, 2, 4, ... ranks and shows how it scales: speed-up, efficiency, and where the
// time goes.
//
//   scaling_study --ranks 1,2,4                        # ResNet-50 of imagenet_benchmark
//   scaling_study --ranks 1,2,4 --scaling strong --work 64
//   scaling_study --ranks 1,2,4 --epochs 3             # time of 3 epochs of fashion_mnist
//   scaling_study --rate-tag cell_updates_per_second --
//       ./metric_averaging --log-dir {log_dir} --tolerance 0
//   salloc -n 16 scaling_study --ranks 1,2,4,8,16 --launcher "srun -n {ranks}"
//   tensorboard --logdir runs
//
// It needs neither MPI nor LibTorch, because it only starts jobs and reads their event files.
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

struct Options {
  std::string ranks;
  std::string scaling = "weak";
  std::int64_t work = 8;
  std::int64_t rounds = 1;
  std::int64_t threads = 1;
  std::int64_t epochs = 0;
  std::string rateTag = "images_per_second";
  std::string launcher = "mpiexec -n {ranks}";
  std::string logDir = "runs/scaling_study";
  std::int64_t timeLimit = 3600;
  bool json = false;
  std::vector<std::string> program;
};

/// Returns 1, 2, 4, ... up to the tasks of the Slurm job, or else up to the cores of this machine.
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
    throw example::UsageError("--ranks: got '" + text + "'; expected increasing numbers");
  }
  return counts.empty() ? defaultRanks() : counts;
}

/// Returns the path of an example in the directory of this program.
std::string neighbor(const std::string& name) {
  const auto folder = std::filesystem::read_symlink("/proc/self/exe").parent_path();
  std::string path = folder / name;
  if (!std::filesystem::exists(path)) {
    throw example::UsageError("PROGRAM: got none, and there is no " + path +
                              "; expected a program after --");
  }
  return path;
}

std::vector<std::string> defaultProgram(const Options& options) {
  if (options.epochs > 0) {
    return {neighbor("fashion_mnist"),
            "--epochs",
            "{epochs}",
            "--detail-scalars",
            "--progress",
            "none",
            "--log-dir",
            "{log_dir}"};
  }
  return {neighbor("imagenet_benchmark"),
          "--model",
          "resnet50",
          "--image-size",
          "64",
          "--batch-size",
          "{work}",
          "--warmup",
          "3",
          "--iterations",
          "5",
          "--steps",
          "3",
          "--profile-steps",
          "0",
          "--log-dir",
          "{log_dir}"};
}

bool programTakes(const Options& options, const std::string& placeholder) {
  return std::any_of(
      options.program.begin(), options.program.end(),
      [&](const std::string& argument) { return argument.find(placeholder) != std::string::npos; });
}

void check(const Options& options) {
  if (options.scaling != "weak" && options.scaling != "strong") {
    throw example::UsageError("--scaling: got '" + options.scaling + "'; expected weak or strong");
  }
  if (!programTakes(options, "{log_dir}")) {
    throw example::UsageError(
        "PROGRAM: got no {log_dir} in its arguments; expected one, as its log directory");
  }
}

/// Returns the value of {work} for this number of ranks.
std::int64_t workOfRank(const Options& options, int ranks) {
  if (options.scaling == "weak") {
    return options.work;
  }
  if (options.work % ranks != 0) {
    throw example::UsageError("--work: got " + std::to_string(options.work) +
                              "; expected a multiple of " + std::to_string(ranks) +
                              ", the number of ranks");
  }
  return options.work / ranks;
}

std::string rateName(const Options& options) {
  return options.epochs > 0 ? "epochs per second" : options.rateTag;
}

std::vector<Measurement> measure(const Options& options, const std::vector<int>& counts) {
  JobTemplate job;
  job.launcher = example::splitList(options.launcher, ' ');
  job.program = options.program;
  job.rateTag = options.rateTag;
  job.epochs = options.epochs;
  job.timeLimit = std::chrono::seconds(options.timeLimit);
  for (const int ranks : counts) {
    workOfRank(options, ranks);  // Checks the options before the first job.
  }
  // Each round runs all numbers of ranks, so a machine that gets slower affects all of them.
  std::vector<std::vector<Measurement>> jobs(counts.size());
  for (std::int64_t round = 1; round <= options.rounds; ++round) {
    for (std::size_t i = 0; i < counts.size(); ++i) {
      const std::string logDir = options.logDir + "/ranks_" + std::to_string(counts[i]) +
                                 "/round_" + std::to_string(round);
      jobs[i].push_back(runJob(job, counts[i], workOfRank(options, counts[i]), logDir));
      std::cerr << "round " << round << " of " << options.rounds << ", ranks " << counts[i] << ": "
                << jobs[i].back().rate << " " << rateName(options) << ", " << jobs[i].back().seconds
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

std::string titleOf(const Options& options) {
  if (options.epochs > 0) {
    return "Time of " + std::to_string(options.epochs) +
           (options.epochs == 1 ? " epoch" : " epochs");
  }
  return options.scaling == "weak" ? "Weak scaling" : "Strong scaling";
}

std::string settingOf(const Options& options) {
  std::string threads = "threads per rank: " + std::to_string(options.threads);
  if (options.epochs > 0 && !programTakes(options, "{work}")) {
    return threads;
  }
  return std::string("work ") + (options.scaling == "weak" ? "per rank: " : "in total: ") +
         std::to_string(options.work) + ", " + threads;
}

void run(Options& options) {
  if (options.program.empty()) {
    options.program = defaultProgram(options);
  }
  check(options);
  const std::vector<int> counts = parseRanks(options.ranks);
  // The same number of threads in every rank; LibTorch would give a single rank all cores.
  setenv("OMP_NUM_THREADS", std::to_string(options.threads).c_str(), 1);

  const std::vector<Scaling> study = compare(measure(options, counts));
  const std::string title = titleOf(options);
  const std::string setting = settingOf(options);
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
      "The arguments of PROGRAM may contain {log_dir}, its log directory, {work}, the work of a\n"
      "rank, {ranks}, the number of ranks, and {epochs}. {log_dir} is required. PROGRAM must log\n"
      "its work per second as a scalar, or with --epochs the scalar epoch_seconds. If it also "
      "logs\n"
      "the straggler/ scalars, the table shows where the time goes. The default is\n"
      "imagenet_benchmark with ResNet-50, and fashion_mnist with --epochs.\n");
  line.add("ranks", options.ranks, "LIST",
           "such as 1,2,4; empty: 1, 2, 4, ... up to the number of cores");
  line.add("scaling", options.scaling, "KIND",
           "weak: --work is for each rank; strong: --work is for all");
  line.add("work", options.work, "N", "the work, such as a batch size", 1);
  line.add("rounds", options.rounds, "N", "jobs for each number of ranks; the median is shown", 1);
  line.add("threads", options.threads, "N", "OMP_NUM_THREADS of each rank", 1);
  line.add("rate-tag", options.rateTag, "TAG", "tag of the scalar with the work per second");
  line.add("epochs", options.epochs, "N",
           "measure the time of N epochs in place of the rate; 0: off");
  line.add("launcher", options.launcher, "COMMAND", "command that starts a job");
  line.add("log-dir", options.logDir, "DIR", "log directory for TensorBoard");
  line.add("time-limit", options.timeLimit, "SECONDS", "time limit for one job", 1);
  line.add("json", options.json, "print the table as one line of JSON");
  line.addRest(options.program);
  return example::runProgram(argc, argv, line, [&] { run(options); });
}
