// SPDX-License-Identifier: Apache-2.0
// A job that logs until one of its ranks is killed. Arguments: the file for the notes, the log
// directory, the rank, and after how many microseconds. killed_ranks_test.cpp starts it.

#include <chrono>
#include <csignal>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <thread>

#include "steptape/mpi.h"

#include "ranks/mpi/killed_rank_notes.h"

int main(int argc, char** argv) {
  const steptape::Environment environment(argc, argv);
  if (argc < 5) {
    return 2;
  }
  auto* const notes = steptape::test::KilledRankNotes::map(argv[1]);
  const auto world = steptape::world();
  const int rank = world->rank();
  steptape::DistributedWriterOptions options;
  options.rankPolicy = steptape::RankPolicy::kPerRank;
  steptape::DistributedWriter writer(argv[2], world, options);
  for (std::int64_t step = 0; notes != nullptr; ++step) {
    writer.localWriter().addScalar("own", rank, step);
    notes->own[rank] = step + 1;
    writer.addReduced("loss", rank, step);
    writer.reduce(step);
    notes->reduced[rank] = step + 1;
    if (step == 0 && rank == std::atoi(argv[3])) {
      std::thread([delay = std::chrono::microseconds(std::atoi(argv[4]))] {
        std::this_thread::sleep_for(delay);
        std::raise(SIGKILL);
      }).detach();
    }
  }
  return 3;
}
