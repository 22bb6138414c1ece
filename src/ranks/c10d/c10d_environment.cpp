// SPDX-License-Identifier: Apache-2.0
#include "ranks/c10d/c10d_environment.h"

#include <exception>
#include <numeric>
#include <thread>
#include <utility>
#include <vector>

#include "steptape/base/status.h"
#include "steptape/ranks/c10d_job.h"

#include "process/blackbox/state_page.h"
#include "ranks/c10d/c10d_communicator.h"
#include "ranks/c10d/end_process.h"
#include "ranks/c10d/rendezvous.h"
#include "ranks/c10d/tcp_store.h"
#include "ranks/communicator/launch.h"
#include "ranks/engine/stuck.h"

namespace steptape::c10d {

struct Environment::Job {
  steptape::detail::ranks::Launch launch;
  std::string description;
  std::shared_ptr<detail::KeyStore> keys;
  std::shared_ptr<Communicator> world;
};

namespace {

using steptape::detail::process::StatePage;
using steptape::detail::ranks::Launch;
using steptape::detail::ranks::LaunchKind;

/// The one whose scope is open; null: none.
Environment* openEnvironment = nullptr;

void keepState(const Launch& launch) noexcept {
  StatePage::keep();
  if (StatePage* const page = StatePage::current()) {
    constexpr int kUnknown = -1;  // unless the launcher's variables tell it
    page->noteRank(launch.rank, launch.size, kUnknown);
  }
}

/// Notes that the processes of `world` belong together, for readers of their states. Collective.
void noteLaunch(Communicator& world) {
  StatePage* const page = StatePage::current();
  std::uint64_t number = page == nullptr ? 0 : page->box().number;
  world.broadcast(&number, sizeof number, 0);
  if (page != nullptr) {
    page->noteLaunch(number);
  }
}

/// Waits until no other rank needs the store in this process any more, but not for long.
void waitForOthers(detail::KeyStore& keys, const Launch& launch) {
  constexpr std::chrono::seconds kLongest{10};
  constexpr std::chrono::milliseconds kPause{2};
  const auto end = std::chrono::steady_clock::now() + kLongest;
  for (int rank = 1; rank < launch.size; ++rank) {
    std::string value;
    while (!keys.tryGet("end/" + std::to_string(rank), value)) {
      if (std::chrono::steady_clock::now() > end) {
        return;
      }
      std::this_thread::sleep_for(kPause);
    }
  }
}

}  // namespace

Environment::Environment(const EnvironmentOptions& options)
    : job_(std::make_unique<Job>()), exceptionsAtStart_(std::uncaught_exceptions()) {
  if (openEnvironment != nullptr) {
    throw Error(ErrorCode::kFailedPrecondition,
                "Environment: another one is alive; expected one, in main()");
  }
  steptape::detail::ranks::LaunchSupport support;
  support.hasStore = true;
  Launch& launch = job_->launch;
  launch = steptape::detail::ranks::findLaunch(support);
  if (launch.kind == LaunchKind::kMpi && launch.size != 1) {
    throw Error(ErrorCode::kFailedPrecondition,
                "Environment: MPI's launcher has started this process, and RANK, WORLD_SIZE, "
                "MASTER_ADDR and MASTER_PORT are not set; expected a launch by torchrun or srun. "
                "For mpiexec, link steptape::mpi and include <steptape/mpi.h>");
  }
  keepState(launch);
  if (launch.size == 1) {
    job_->world = std::make_shared<Communicator>();
    job_->description = launch.launcher.empty() ? "one rank, without a launcher"
                                                : "one rank, started by " + launch.launcher;
  } else {
    auto tcp = std::make_shared<detail::TcpStore>(launch, options.timeout);
    const detail::Meeting meeting =
        detail::meet(tcp, tcp->address(), launch, options.ranksPerNode, options.timeout);
    job_->keys = meeting.store;
    std::vector<int> ranks(static_cast<std::size_t>(launch.size));
    std::iota(ranks.begin(), ranks.end(), 0);
    const auto world =
        detail::C10dCommunicator::make({tcp, options}, meeting.store, meeting.prefix, meeting.map,
                                       std::move(ranks), options.timeout);
    noteLaunch(*world);
    job_->world = world;
    job_->description = launch.launcher + ", " + std::to_string(launch.size) + " ranks on " +
                        std::to_string(world->crossSize()) +
                        (world->crossSize() == 1 ? " node" : " nodes") + " by " + world->medium() +
                        ", store at " + tcp->address();
  }
  openEnvironment = this;
  if (launch.size > 1) {
    steptape::detail::process::noteJobIsOpen(true);
  }
}

void Environment::abort(const std::string& why) const {
  detail::endProcess(job_->launch.rank, why);
}

const std::string& Environment::describe() const {
  return job_->description;
}

Environment::~Environment() {
  if (openEnvironment != this) {
    return;
  }
  openEnvironment = nullptr;
  const Launch& launch = job_->launch;
  if (launch.size == 1) {
    return;
  }
  steptape::detail::process::noteJobIsOpen(false);
  const std::string stuck = steptape::detail::ranks::stuckBecause();
  if (!stuck.empty()) {
    detail::endProcess(launch.rank, stuck);
  }
  if (std::uncaught_exceptions() > exceptionsAtStart_) {
    detail::endProcess(launch.rank, "an exception leaves the scope of Environment");
  }
  try {
    if (launch.rank != 0) {
      job_->keys->set("end/" + std::to_string(launch.rank), "");
    } else if (!launch.isServedByAgent) {
      waitForOthers(*job_->keys, launch);
    }
  } catch (const std::exception&) {
    // The store is gone, and nobody needs it any more.
  }
}

std::shared_ptr<Communicator> world() {
  if (openEnvironment == nullptr) {
    throw Error(ErrorCode::kFailedPrecondition,
                "world: no steptape::Environment is alive; keep one in main()");
  }
  return openEnvironment->job_->world;
}

namespace {

class StoreJob final : public steptape::detail::ranks::Job {
 public:
  explicit StoreJob(const EnvironmentOptions& options) : environment_(options) {}

  std::shared_ptr<Communicator> world() const override { return c10d::world(); }
  [[noreturn]] void abort(const std::string& why) const override { environment_.abort(why); }
  std::string describe() const override { return environment_.describe(); }

 private:
  Environment environment_;
};

}  // namespace

std::unique_ptr<steptape::detail::ranks::Job> detail::joinJob(int* /*argc*/, char*** /*argv*/,
                                                              const EnvironmentOptions& options) {
  return std::make_unique<StoreJob>(options);
}

}  // namespace steptape::c10d
