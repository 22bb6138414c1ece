// SPDX-License-Identifier: Apache-2.0
#include "faults/fault.h"

#include <chrono>
#include <csignal>
#include <cstdlib>
#include <stdexcept>
#include <thread>

namespace steptape::test {
namespace {

constexpr int kExitCode = 3;
constexpr std::chrono::milliseconds kOthersAreLate{300};
constexpr std::chrono::milliseconds kWaitsForThem{100};
/// Far longer than the others wait; the end of the job ends it.
constexpr std::chrono::seconds kForEver{60};

Place placeNamed(const std::string& name) {
  return name == "backward"   ? Place::kBackward
         : name == "exchange" ? Place::kExchange
         : name == "callback" ? Place::kCallback
                              : Place::kForward;
}

}  // namespace

Fault::Fault(const Arguments& arguments, int rank)
    : kind_(arguments.text("fault", "none")),
      place_(placeNamed(arguments.text("at"))),
      step_(arguments.number("in", 10)),
      isOwn_(arguments.number("by", 1) == rank) {}

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
        std::this_thread::sleep_for(kWaitsForThem);
        fail();
      }).detach();
    } else {
      std::this_thread::sleep_for(kOthersAreLate);
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
