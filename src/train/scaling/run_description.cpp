// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <array>
#include <cstdlib>
#include <map>
#include <sstream>

#include "steptape/base/version.h"
#include "steptape/train/recipe.h"

#include "process/blackbox/job_identity.h"

#include <ATen/CPUGeneratorImpl.h>
#include <ATen/Parallel.h>
#include <torch/version.h>

namespace steptape {
namespace {

/// Returns a text such as "alpha (2 ranks), beta (2 ranks)".
std::string hostList(const std::vector<std::string>& hostOfRank) {
  std::map<std::string, int> ranksOnHost;
  for (const std::string& host : hostOfRank) {
    ++ranksOnHost[host];
  }
  std::string text;
  for (const auto& [host, ranks] : ranksOnHost) {
    text += (text.empty() ? "" : ", ") + host + " (" + std::to_string(ranks) +
            (ranks == 1 ? " rank)" : " ranks)");
  }
  return text;
}

/// Variables that decide how threads are made, bound and wait, and what MPI and CUDA offer them.
constexpr std::array<const char*, 12> kLoggedVariables = {"OMP_NUM_THREADS",
                                                          "OMP_PROC_BIND",
                                                          "OMP_PLACES",
                                                          "OMP_WAIT_POLICY",
                                                          "OMP_DYNAMIC",
                                                          "KMP_AFFINITY",
                                                          "KMP_BLOCKTIME",
                                                          "KMP_HW_SUBSET",
                                                          "MKL_NUM_THREADS",
                                                          "OPENBLAS_NUM_THREADS",
                                                          "MPICH_MAX_THREAD_SAFETY",
                                                          "CUDA_VISIBLE_DEVICES"};

/// What a rank sends to the others, line by line; then the values of kLoggedVariables.
enum Fact : std::size_t {
  kHost,
  kThreads,
  kInterOpThreads,
  kCores,
  kDevice,
  kSeed,
  kTf32,
  kScheduler,
  kFixedFacts
};
using RankFacts = std::vector<std::string>;

std::string environment(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

std::string scheduler() {
  const std::string job = detail::process::schedulerJobText(detail::process::variableOfProcess);
  return job.empty() ? "none" : job;
}

std::string ownFacts(const Communicator& world) {
  RankFacts facts(kFixedFacts);
  facts[kHost] = world.nodeName();
  facts[kThreads] = std::to_string(at::get_num_threads());
  facts[kInterOpThreads] = std::to_string(at::get_num_interop_threads());
  facts[kCores] = boundCores();
  facts[kDevice] = deviceForLocalRank(world).str();
  facts[kSeed] = std::to_string(at::detail::getDefaultCPUGenerator().current_seed());
  facts[kTf32] = describeTf32();
  facts[kScheduler] = scheduler();
  for (const char* variable : kLoggedVariables) {
    facts.push_back(environment(variable));
  }
  std::string lines;
  for (std::string& fact : facts) {
    std::replace(fact.begin(), fact.end(), '\n', ' ');
    lines += fact + '\n';
  }
  return lines;
}

RankFacts linesOf(const std::string& text) {
  RankFacts lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) {
    lines.push_back(line);
  }
  return lines;
}

std::vector<std::string> column(const std::vector<RankFacts>& ranks, Fact fact) {
  std::vector<std::string> values;
  values.reserve(ranks.size());
  for (const RankFacts& facts : ranks) {
    values.push_back(facts[fact]);
  }
  return values;
}

/// Returns the value if it is the same on all ranks; else "4 on rank 0, 2 on rank 1, ...".
std::string valuesByRank(const std::vector<std::string>& values) {
  constexpr std::size_t kMostRanks = 16;
  if (std::all_of(values.begin(), values.end(),
                  [&](const std::string& value) { return value == values.front(); })) {
    return values.front();
  }
  std::string text;
  for (std::size_t rank = 0; rank < std::min(values.size(), kMostRanks); ++rank) {
    text += (rank == 0 ? "" : ", ") + values[rank] + " on rank " + std::to_string(rank);
  }
  return values.size() > kMostRanks
             ? text + " and others on " + std::to_string(values.size() - kMostRanks) + " more"
             : text;
}

std::string escaped(const std::string& text) {
  std::string result;
  for (const char c : text) {
    result += c == '|' ? "\\|" : c == '\n' ? " " : std::string(1, c);
  }
  return result;
}

}  // namespace

DescriptionRows describeRun(Communicator& world) {
  std::vector<RankFacts> ranks;
  for (const std::string& facts : world.allgather(ownFacts(world))) {
    ranks.push_back(linesOf(facts));
  }
  DescriptionRows rows = {
      {"ranks", std::to_string(world.size())},
      {"hosts", hostList(column(ranks, kHost))},
      {"threads per rank", valuesByRank(column(ranks, kThreads))},
      {"operators at once", valuesByRank(column(ranks, kInterOpThreads))},
      {"cores bound per rank", valuesByRank(column(ranks, kCores))},
      {"device per rank", valuesByRank(column(ranks, kDevice))},
      {"random seed per rank", valuesByRank(column(ranks, kSeed))},
      {"TF32", ranks.front()[kTf32]},
      {"scheduler", ranks.front()[kScheduler]},
  };
  // The root's, so that all ranks return the same rows.
  for (std::size_t i = 0; i < kLoggedVariables.size(); ++i) {
    if (const std::string& value = ranks.front()[kFixedFacts + i]; !value.empty()) {
      rows.emplace_back(kLoggedVariables[i], value);
    }
  }
  rows.emplace_back("LibTorch", TORCH_VERSION);
  rows.emplace_back("Steptape", STEPTAPE_VERSION);
  rows.emplace_back("compiler", __VERSION__);
  return rows;
}

std::string markdownTable(const DescriptionRows& rows) {
  std::string table = "| name | value |\n|---|---|\n";
  for (const auto& [name, value] : rows) {
    table += "| " + escaped(name) + " | " + escaped(value) + " |\n";
  }
  return table;
}

}  // namespace steptape
