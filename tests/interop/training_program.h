// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

namespace steptape::test {

// What training_program does, each in a file of its own. One program, because LibTorch's headers
// take longer to compile than both. Arguments are counted before these are called.

/// A task of ddp_tasks.py, as ddp_peer.py trains it. Arguments: <task> <result> shared|messages.
void trainAsDdp(const std::vector<std::string>& arguments);

/// With Trainer, on ranks of which one is slow, for all_ranks_test.py.
/// Arguments: <run> <slow rank> input|forward shared|messages.
void trainWithASlowRank(const std::vector<std::string>& arguments);

/// Prints the operations of each model of flop_test.py. No arguments.
void countFlops();

}  // namespace steptape::test
