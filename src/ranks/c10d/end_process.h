// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace steptape::c10d::detail {

/// Prints why this rank ends, tells torchrun, and ends the process with exit code 1.
///
/// @source The file of `TORCHELASTIC_ERROR_FILE`: torch/distributed/elastic/multiprocessing/errors
///         of PyTorch 2.13.
[[noreturn]] void endProcess(int rank, const std::string& why) noexcept;

}  // namespace steptape::c10d::detail
