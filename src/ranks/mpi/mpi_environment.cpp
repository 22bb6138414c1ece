// SPDX-License-Identifier: Apache-2.0
#include "ranks/mpi/mpi_environment.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <string>
#include <thread>

#include "steptape/base/status.h"
#include "steptape/ranks/mpi_job.h"

#include "process/blackbox/state_page.h"
#include "ranks/communicator/launch.h"
#include "ranks/engine/stuck.h"
#include "ranks/mpi/job_state.h"

namespace steptape::mpi {
namespace {

int toMpi(MpiThreadLevel level) {
  switch (level) {
    case MpiThreadLevel::kSingle:
      return MPI_THREAD_SINGLE;
    case MpiThreadLevel::kFunneled:
      return MPI_THREAD_FUNNELED;
    case MpiThreadLevel::kSerialized:
      return MPI_THREAD_SERIALIZED;
    case MpiThreadLevel::kMultiple:
      return MPI_THREAD_MULTIPLE;
  }
  return MPI_THREAD_MULTIPLE;
}

MpiThreadLevel fromMpi(int level) {
  // MPI defines the order of these constants, but not their values.
  if (level >= MPI_THREAD_MULTIPLE) {
    return MpiThreadLevel::kMultiple;
  }
  if (level >= MPI_THREAD_SERIALIZED) {
    return MpiThreadLevel::kSerialized;
  }
  return level >= MPI_THREAD_FUNNELED ? MpiThreadLevel::kFunneled : MpiThreadLevel::kSingle;
}

const char* nameOf(MpiThreadLevel level) {
  switch (level) {
    case MpiThreadLevel::kSingle:
      return "MPI_THREAD_SINGLE";
    case MpiThreadLevel::kFunneled:
      return "MPI_THREAD_FUNNELED";
    case MpiThreadLevel::kSerialized:
      return "MPI_THREAD_SERIALIZED";
    case MpiThreadLevel::kMultiple:
      return "MPI_THREAD_MULTIPLE";
  }
  return "an unknown thread level";
}

/// Keeps the state of this process, with its rank.
void keepState() noexcept {
  using steptape::detail::process::StatePage;
  StatePage::keep();
  StatePage* const page = StatePage::current();
  int rank = -1;
  int size = -1;
  if (page != nullptr && MPI_Comm_rank(MPI_COMM_WORLD, &rank) == MPI_SUCCESS &&
      MPI_Comm_size(MPI_COMM_WORLD, &size) == MPI_SUCCESS) {
    constexpr int kUnknown = -1;  // unless the launcher's variables tell it
    page->noteRank(rank, size, kUnknown);
  }
}

void abortJob(const char* why) noexcept {
  steptape::detail::process::noteEndOfJob(why);
  int rank = -1;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  // printf-style, because a destructor that runs during unwinding must not throw.
  std::fprintf(stderr, "steptape: rank %d ends the job: %s\n", rank, why);
  std::fflush(stderr);
  // MPICH's launcher may drop what a rank has printed just before (24 of 60 jobs of MPICH 4.0.2).
  std::this_thread::sleep_for(std::chrono::milliseconds(100));
  MPI_Abort(MPI_COMM_WORLD, 1);
}

}  // namespace

Environment::Environment(int& argc, char**& argv, const EnvironmentOptions& options) {
  initialize(&argc, &argv, options);
}

Environment::Environment(const EnvironmentOptions& options) {
  initialize(nullptr, nullptr, options);
}

void Environment::initialize(int* argc, char*** argv, const EnvironmentOptions& options) {
  exceptionsAtStart_ = std::uncaught_exceptions();
  int isFinalized = 0;
  MPI_Finalized(&isFinalized);
  if (isFinalized != 0) {
    throw Error(ErrorCode::kFailedPrecondition,
                "Environment: MPI was finalized already and cannot be initialized again");
  }
  int isInitialized = 0;
  MPI_Initialized(&isInitialized);
  int provided = MPI_THREAD_SINGLE;
  if (isInitialized == 0) {
    steptape::detail::ranks::noteIfPmixIsMissing(detail::libraryVersion());
    const MpiThreadLevel asked =
        std::max(options.mpi.threadLevel, options.mpi.preferredThreadLevel);
    MPI_Init_thread(argc, argv, toMpi(asked), &provided);
    ownsMpi_ = true;
  } else {
    MPI_Query_thread(&provided);
  }
  const auto refuse = [this](const std::string& because) {
    if (ownsMpi_) {
      MPI_Finalize();
    }
    throw Error(ErrorCode::kFailedPrecondition, "Environment: " + because);
  };
  // Before anything is kept or written: N programs of one rank would write the same files.
  if (const std::string because = detail::foreignLauncherBecause(); !because.empty()) {
    refuse(because);
  }
  steptape::detail::ranks::warnIfAloneInAllocation();
  // After MPI_Init(), whose handlers of fatal signals are then called after ours.
  keepState();
  threadLevel_ = fromMpi(provided);
  // A program that called MPI_Init() got kSingle. That is sufficient: only one thread calls MPI.
  const bool isEnough = threadLevel_ >= options.mpi.threadLevel ||
                        (!ownsMpi_ && options.mpi.threadLevel == MpiThreadLevel::kFunneled);
  if (!isEnough) {
    refuse(std::string("got thread level ") + nameOf(threadLevel_) + " from MPI; expected " +
           nameOf(options.mpi.threadLevel));
  }
  int size = 1;
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  isJobOpen_ = size > 1;
  if (isJobOpen_) {
    steptape::detail::process::noteJobIsOpen(true);
  }
}

void Environment::abort(const std::string& why) const {
  abortJob(why.c_str());
  std::abort();  // MPI_Abort does not return, but its declaration does not say so.
}

Environment::~Environment() {
  if (isJobOpen_) {
    steptape::detail::process::noteJobIsOpen(false);
  }
  if (!ownsMpi_ || !detail::isMpiRunning()) {
    return;
  }
  const std::string stuck = steptape::detail::ranks::stuckBecause();
  if (!stuck.empty()) {
    abortJob(stuck.c_str());
  }
  if (std::uncaught_exceptions() > exceptionsAtStart_) {
    abortJob("an exception leaves the scope of Environment");
  }
  detail::forgetWorld();
  MPI_Finalize();
}

namespace {

class MpiJob final : public steptape::detail::ranks::Job {
 public:
  explicit MpiJob(const EnvironmentOptions& options) : environment_(options), options_(options) {}
  MpiJob(int& argc, char**& argv, const EnvironmentOptions& options)
      : environment_(argc, argv, options), options_(options) {}

  std::shared_ptr<Communicator> world() const override {
    MpiCommunicatorOptions options;
    options.timeout = options_.timeout;
    options.maxCount = options_.mpi.maxCount;
    options.ranksPerNode = options_.ranksPerNode;
    options.useNodeMemory = options_.useNodeMemory;
    options.assumeGpuAware = options_.mpi.assumeGpuAware;
    return mpi::world(options);
  }
  [[noreturn]] void abort(const std::string& why) const override { environment_.abort(why); }
  std::string describe() const override {
    int size = 1;
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    return "MPI, " + std::to_string(size) + (size == 1 ? " rank, " : " ranks, ") +
           steptape::detail::ranks::nameOfMpiLibrary(detail::libraryVersion());
  }

 private:
  Environment environment_;
  const EnvironmentOptions options_;
};

}  // namespace

std::unique_ptr<steptape::detail::ranks::Job> detail::joinJob(int* argc, char*** argv,
                                                              const EnvironmentOptions& options) {
  return argc == nullptr ? std::make_unique<MpiJob>(options)
                         : std::make_unique<MpiJob>(*argc, *argv, options);
}

}  // namespace steptape::mpi
