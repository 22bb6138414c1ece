// SPDX-License-Identifier: Apache-2.0
#include "ranks/engine/engine_communicator.h"

namespace steptape::detail::ranks {

EngineCommunicator::EngineCommunicator(const std::shared_ptr<Transport>& transport)
    : engine_(std::make_shared<Engine>(transport)) {}

EngineCommunicator::~EngineCommunicator() = default;

std::unique_ptr<PendingCollective> EngineCommunicator::start(const CollectiveCall& call) {
  return ranks::startOn(engine_, call,
                        {timeout(), stallWarningAfter(),
                         [this](const std::string& warning) { warnOfStall(warning); }});
}

}  // namespace steptape::detail::ranks
