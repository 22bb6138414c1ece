// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "tools/steptape/states/rank_view.h"
#include "tools/steptape/states/verdict.h"

namespace steptape::tools {

/// A part of the report about a job.
struct AutopsySection {
  std::string title;
  std::vector<std::string> lines;
  bool isCode = false;  ///< Lines keep their spaces.
};

/// Returns what names the job.
std::string autopsyTitle(const Job& job);

/// Returns the sentences that come first.
std::vector<std::string> autopsyHeadline(const Job& job, const Verdict& verdict);

/// Returns the sections that have lines, the most important first.
std::vector<AutopsySection> autopsySections(const Job& job, const Verdict& verdict);

}  // namespace steptape::tools
