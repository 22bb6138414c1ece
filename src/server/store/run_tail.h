// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "log/writer/unwritten.h"
#include "server/store/served_run.h"

namespace steptape::detail::server {

/// Makes the tail of a run of what its event files lack.
///
/// @param unwritten In the order of the files.
/// @param run       Knows the kinds of the tags.
std::shared_ptr<const RunTail> makeTail(const std::vector<const log::Unwritten*>& unwritten,
                                        const ServedRun& run);

}  // namespace steptape::detail::server
