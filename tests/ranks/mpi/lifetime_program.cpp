// SPDX-License-Identifier: Apache-2.0
// Runs the scenario named by the first argument: a program whose objects and whose MPI begin and
// end in an unusual order. Prints "rank <r> of <n> is done". lifetime_test.cpp starts it.

#include <iostream>
#include <memory>
#include <string>

#include "steptape/base/status.h"
#include "steptape/mpi.h"
#include "steptape/ranks/mpi_communicator.h"

namespace {

using steptape::Communicator;

/// Prints the sum of 1 over all ranks.
void work(Communicator& world) {
  int ones[] = {1};
  world.allreduce(ones, steptape::ReduceOp::kSum);
  // In one piece: another rank prints at the same time.
  std::cout << "rank " + std::to_string(world.rank()) + " of " + std::to_string(ones[0]) +
                   " is done\n"
            << std::flush;
}

/// Communicators, memory and handles that are destroyed after MPI is finalized.
struct Survivors {
  std::shared_ptr<Communicator> world;
  std::shared_ptr<Communicator> part;
  std::shared_ptr<steptape::NodeMemory> memory;
  steptape::CollectiveHandle handle;

  explicit Survivors(std::shared_ptr<Communicator> group)
      : world(std::move(group)),
        part(world->duplicate()),
        memory(world->allocateNodeMemory(1000)) {}
};

void useAfterTheEnd(Survivors& survivors) {
  survivors.memory->data()[999] = std::byte{1};
  if (survivors.world->size() == 1) {
    return;
  }
  try {
    survivors.world->barrier();
  } catch (const steptape::Error& error) {
    std::cout << std::string("refused: ") + error.what() + '\n' << std::flush;
  }
}

void foreignInit(int& argc, char**& argv) {
  MPI_Init(&argc, &argv);
  std::unique_ptr<Survivors> survivors;
  {
    const steptape::Environment environment(argc, argv);
    survivors = std::make_unique<Survivors>(steptape::world());
  }
  int isFinalized = 0;
  MPI_Finalized(&isFinalized);
  std::cout << (isFinalized != 0 ? "ends MPI" : "leaves MPI alone") << std::endl;
  work(*survivors->world);
  MPI_Finalize();
  useAfterTheEnd(*survivors);
}

void outlivesMpi(int& argc, char**& argv) {
  std::unique_ptr<Survivors> survivors;
  {
    const steptape::Environment environment(argc, argv);
    survivors = std::make_unique<Survivors>(steptape::world());
    work(*survivors->world);
  }
  useAfterTheEnd(*survivors);
}

}  // namespace

int main(int argc, char** argv) {
  const std::string kind = argc > 1 ? argv[1] : "";
  if (kind == "foreign init") {
    foreignInit(argc, argv);
  } else {
    outlivesMpi(argc, argv);
  }
  return 0;
}
