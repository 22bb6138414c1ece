// SPDX-License-Identifier: Apache-2.0
#include "ranks/mpi/job_state.h"

#include <array>
#include <atomic>
#include <mutex>
#include <thread>

#include "steptape/base/status.h"
#include "steptape/ranks/mpi_communicator.h"

#include "ranks/communicator/launch.h"

namespace steptape::mpi::detail {
namespace {

std::atomic<int> users{0};
std::atomic<bool> isEnding{false};

int endAllUse(MPI_Comm /*self*/, int /*key*/, void* /*value*/, void* /*state*/) {
  isEnding = true;
  while (users != 0) {
    std::this_thread::yield();
  }
  return MPI_SUCCESS;
}

}  // namespace

bool isMpiRunning() {
  int isInitialized = 0;
  int isFinalized = 0;
  MPI_Initialized(&isInitialized);
  MPI_Finalized(&isFinalized);
  return isInitialized != 0 && isFinalized == 0 && !isEnding;
}

// A thread that begins and MPI_Finalize() write and read the counters in opposite orders, so that
// at least one sees the other.
bool beginMpiUse() {
  ++users;
  return !isEnding;
}

void endMpiUse() {
  --users;
}

void watchForFinalize() {
  static std::once_flag once;
  std::call_once(once, [] {
    // MPI 3.1, 8.7.1: MPI_Finalize() first deletes the attributes of MPI_COMM_SELF.
    int key = MPI_KEYVAL_INVALID;
    MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, &endAllUse, &key, nullptr);
    MPI_Comm_set_attr(MPI_COMM_SELF, key, nullptr);
    MPI_Comm_free_keyval(&key);
  });
}

std::string noMpiBecause() {
  return isMpiRunning() ? ""
                        : "MPI is not initialized, or finalized already; keep a "
                          "steptape::Environment alive in main()";
}

void requireMpi(const char* caller) {
  const std::string why = noMpiBecause();
  if (!why.empty()) {
    throw Error(ErrorCode::kFailedPrecondition, std::string(caller) + ": " + why);
  }
}

std::string libraryVersion() {
  std::array<char, MPI_MAX_LIBRARY_VERSION_STRING> version{};
  int length = 0;
  MPI_Get_library_version(version.data(), &length);
  return {version.data(), static_cast<std::size_t>(length)};
}

std::string foreignLauncherBecause() {
  steptape::detail::ranks::MpiWorld world;
  world.mpiVersion = libraryVersion();
  MPI_Comm_size(MPI_COMM_WORLD, &world.size);
  return steptape::detail::ranks::foreignLauncherBecause(world);
}

}  // namespace steptape::mpi::detail
