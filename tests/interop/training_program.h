// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

namespace steptape::test {

// The commands of training_program, one file each. One program, because LibTorch's headers take
// longer to compile than both. The caller has checked the number of arguments.

/// Trains a task of ddp_tasks.py like ddp_peer.py. Arguments: <task> <result> shared|messages.
void trainAsDdp(const std::vector<std::string>& arguments);

/// Trains with Trainer on ranks of which one is slow, for all_ranks_test.py: a run for each part in
/// which it may be slow and each way of the gradients. Arguments: <folder> <slow rank>.
void trainWithASlowRank(const std::vector<std::string>& arguments);

/// Prints the operations of each model of flop_test.py. No arguments.
void countFlops();

}  // namespace steptape::test
