// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "steptape/ranks/communicator.h"

namespace steptape::test {

// Functions that need MPI's header, separate from code that needs LibTorch's headers.

/// Returns all ranks of the job; `ranksPerNode` as MpiCommunicatorOptions::ranksPerNode.
std::shared_ptr<Communicator> makeWorld(int ranksPerNode);

void initializeMpi();
void finalizeMpi();

}  // namespace steptape::test
