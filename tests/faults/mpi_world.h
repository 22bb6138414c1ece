// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "steptape/comm/communicator.h"

namespace steptape::test {

// What needs MPI's header, apart from what needs LibTorch's.

/// All ranks of the job; `ranksPerNode` as MpiCommunicatorOptions::ranksPerNode.
std::shared_ptr<Communicator> makeWorld(int ranksPerNode);

void initializeMpi();
void finalizeMpi();

}  // namespace steptape::test
