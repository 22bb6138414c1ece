// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "tools/steptape/states/rank_view.h"
#include "tools/steptape/states/verdict.h"
#include "tools/steptape/terminal/terminal.h"

namespace steptape::tools {

/// Returns the report about a job for people, the most important first.
std::string autopsyText(const Job& job, const Verdict& verdict, const Terminal& terminal);

/// Returns the same report as a page of Markdown.
std::string autopsyMarkdown(const Job& job, const Verdict& verdict);

}  // namespace steptape::tools
