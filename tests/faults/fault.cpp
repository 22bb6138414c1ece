// SPDX-License-Identifier: Apache-2.0
#include "faults/fault.h"

#include <chrono>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <string>
#include <thread>
#include <unistd.h>

#include "base/process_stat.h"

namespace steptape::test {
namespace {

constexpr int kExitCode = 3;
constexpr std::chrono::milliseconds kWaitsForOthers{100};
/// Far longer than the others wait; the end of the job ends it.
constexpr std::chrono::seconds kForEver{60};

Place placeNamed(const std::string& name) {
  return name == "backward"   ? Place::kBackward
         : name == "exchange" ? Place::kExchange
         : name == "callback" ? Place::kCallback
                              : Place::kForward;
}

/// Whether a process of this machine has ended or stopped.
bool isHalted(const std::string& pid) {
  const auto stat = detail::base::readProcessStat(pid);
  return !stat || stat->hasEnded() || stat->isStopped();
}

/// Waits until the process whose number a file will hold has ended or stopped.
void waitForEndOf(const std::string& path) {
  const auto bound = std::chrono::steady_clock::now() + std::chrono::seconds(30);
  std::string pid;
  while ((pid.empty() || !isHalted(pid)) && std::chrono::steady_clock::now() < bound) {
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
    std::ifstream file(path);
    std::getline(file, pid);
  }
}

}  // namespace

Fault::Fault(const Arguments& arguments, int rank)
    : kind_(arguments.text("fault", "none")),
      place_(placeNamed(arguments.text("at"))),
      step_(arguments.number("in", 10)),
      isOwn_(arguments.number("by", 1) == rank),
      pidFile_(arguments.text("dir") + "/failing_process") {}

void Fault::pass(Place place, std::int64_t step) const {
  if (kind_ == "none" || step != step_) {
    return;
  }
  if (isOwn_ && place == place_) {
    fail();
  }
  // In the exchange: the rank has provided its gradients and waits for the others, who arrive after
  // its end.
  if (place_ == Place::kExchange && place == Place::kForward) {
    if (isOwn_) {
      std::thread([this] {
        std::this_thread::sleep_for(kWaitsForOthers);
        std::ofstream(pidFile_ + "_") << ::getpid() << '\n';
        std::filesystem::rename(pidFile_ + "_", pidFile_);
        fail();
      }).detach();
    } else {
      waitForEndOf(pidFile_);
    }
  }
}

void Fault::fail() const {
  if (kind_ == "killed") {
    std::raise(SIGKILL);
  } else if (kind_ == "stops") {
    std::raise(SIGSTOP);
  } else if (kind_ == "exits") {
    std::exit(kExitCode);
  } else if (kind_ == "vanishes") {
    std::_Exit(kExitCode);
  } else if (kind_ == "throws") {
    throw std::runtime_error("this rank fails");
  } else if (kind_ == "sleeps") {
    std::this_thread::sleep_for(kForEver);
  }
}

}  // namespace steptape::test
