// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "tools/steptape/states/rank_view.h"
#include "tools/steptape/states/verdict.h"

namespace steptape::tools {

/// Returns the report about a job as one JSON object, with the states of its ranks.
std::string autopsyJson(const Job& job, const Verdict& verdict);

}  // namespace steptape::tools
