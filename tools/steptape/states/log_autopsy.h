// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "tools/steptape/states/rank_view.h"

namespace steptape::tools {

/// Puts a report about a job into the text page of its run, at the last step of the job, as the tag
/// "autopsy".
///
/// @param run The run directory. The processes that logged there must have ended.
/// @throws Error(kIoError) if it cannot be written.
void logAutopsy(const std::string& run, const Job& job, const std::string& markdown);

}  // namespace steptape::tools
