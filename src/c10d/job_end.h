// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace steptape::c10d::detail {

/// Records that no operation of a group can succeed any more: this process has to end.
///
/// @threads Thread-safe.
void markStuck(const std::string& why);
/// Returns the first reason passed to markStuck(); empty if there is none.
std::string stuckBecause();

/// Prints why this rank ends, tells torchrun, and ends the process with exit code 1.
///
/// @source The file of `TORCHELASTIC_ERROR_FILE`: torch/distributed/elastic/multiprocessing/errors
///         of PyTorch 2.13.
[[noreturn]] void endProcess(int rank, const std::string& why) noexcept;

}  // namespace steptape::c10d::detail
