// SPDX-License-Identifier: Apache-2.0
#include "steptape/ranks/environment.h"

#include <cstdio>
#include <cstdlib>
#include <utility>

#include "steptape/base/status.h"

#include "process/blackbox/state_page.h"
#include "ranks/communicator/launch.h"

namespace steptape {
namespace {

detail::ranks::JobMaker makeMpiJob = nullptr;
detail::ranks::JobMaker makeStoreJob = nullptr;

/// The job of the Environment whose scope is open; null: none.
detail::ranks::Job* openJob = nullptr;

/// A process that no launcher has started.
class LoneJob final : public detail::ranks::Job {
 public:
  std::shared_ptr<Communicator> world() const override { return world_; }
  [[noreturn]] void abort(const std::string& why) const override {
    detail::process::noteError(why);
    std::fprintf(stderr, "steptape: the program ends: %s\n", why.c_str());
    std::fflush(stderr);
    std::_Exit(1);
  }
  std::string describe() const override { return "one rank, without a launcher"; }

 private:
  std::shared_ptr<Communicator> world_ = std::make_shared<Communicator>();
};

[[noreturn]] void throwNotLinked(const detail::ranks::Launch& launch, const char* component,
                                 const char* header) {
  throw Error(ErrorCode::kFailedPrecondition,
              "Environment: " + launch.launcher + " has started this process as rank " +
                  std::to_string(launch.rank) +
                  (launch.size > 1 ? " of " + std::to_string(launch.size) : "") +
                  ", and the program does not include <" + header +
                  ">; expected it, and a link to " + component);
}

std::unique_ptr<detail::ranks::Job> joinJob(int* argc, char*** argv,
                                            const EnvironmentOptions& options) {
  detail::ranks::LaunchSupport support;
  support.hasMpi = makeMpiJob != nullptr;
  support.hasStore = makeStoreJob != nullptr;
  const detail::ranks::Launch launch = detail::ranks::findLaunch(support);
  switch (launch.kind) {
    case detail::ranks::LaunchKind::kMpi:
      if (makeMpiJob != nullptr) {
        return makeMpiJob(argc, argv, options);
      }
      if (launch.size != 1) {
        throwNotLinked(launch, "steptape::mpi", "steptape/mpi.h");
      }
      break;
    case detail::ranks::LaunchKind::kStore:
      if (makeStoreJob != nullptr) {
        return makeStoreJob(argc, argv, options);
      }
      if (launch.size != 1) {
        throwNotLinked(launch, "steptape::c10d", "steptape/c10d.h");
      }
      break;
    case detail::ranks::LaunchKind::kAlone:
      detail::ranks::warnIfAloneInAllocation();
      break;
  }
  return std::make_unique<LoneJob>();
}

}  // namespace

detail::ranks::Job::~Job() = default;

bool detail::ranks::provideMpi(JobMaker make) noexcept {
  makeMpiJob = make;
  return true;
}

bool detail::ranks::provideStore(JobMaker make) noexcept {
  makeStoreJob = make;
  return true;
}

Environment::Environment(int& argc, char**& argv, const EnvironmentOptions& options) {
  join(&argc, &argv, options);
}

Environment::Environment(const EnvironmentOptions& options) {
  join(nullptr, nullptr, options);
}

void Environment::join(int* argc, char*** argv, const EnvironmentOptions& options) {
  if (openJob != nullptr) {
    throw Error(ErrorCode::kFailedPrecondition,
                "Environment: another one is alive; expected one, in main()");
  }
  job_ = joinJob(argc, argv, options);
  openJob = job_.get();
}

Environment::~Environment() {
  openJob = nullptr;
}

void Environment::abort(const std::string& why) const {
  job_->abort(why);
  std::abort();  // Not reached; compilers do not see that a virtual function does not return.
}

std::string Environment::describe() const {
  return job_->describe();
}

std::shared_ptr<Communicator> world() {
  if (openJob == nullptr) {
    throw Error(ErrorCode::kFailedPrecondition,
                "world: no steptape::Environment is alive; keep one in main()");
  }
  return openJob->world();
}

}  // namespace steptape
