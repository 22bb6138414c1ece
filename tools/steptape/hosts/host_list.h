// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

namespace steptape::tools {

/// A machine that runs ranks of a job.
struct Host {
  std::string name;
  int slots = 0;  ///< How many ranks it takes.
};

/// Returns the hosts that `text` names: "node1,node2:4", or the path of a host file.
///
/// A host file has one host a line, in the form of Open MPI ("node1 slots=4"), of MPICH and Intel
/// MPI ("node1:4"), or a line for each slot, as $PBS_NODEFILE. '#' begins a comment. A host without
/// a number of slots, named once, takes its equal share of `ranks`.
///
/// @throws Error(kInvalidArgument) if a host or a number is missing, or if there are fewer slots
///         than ranks; Error(kIoError) if the file cannot be read.
std::vector<Host> hostsOf(const std::string& text, int ranks);

/// Returns the sum of the slots.
int slotsOf(const std::vector<Host>& hosts);

/// Returns the names, separated by commas.
std::string namesOf(const std::vector<Host>& hosts);

}  // namespace steptape::tools
