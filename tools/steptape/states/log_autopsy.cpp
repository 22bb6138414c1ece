// SPDX-License-Identifier: Apache-2.0
#include "tools/steptape/states/log_autopsy.h"

#include <algorithm>
#include <cstdint>

#include "steptape/log/summary_writer.h"

namespace steptape::tools {

void logAutopsy(const std::string& run, const Job& job, const std::string& markdown) {
  std::int64_t step = 0;
  for (const RankView& rank : job.ranks) {
    step = std::max(step, rank.state.hasStep ? rank.state.step : 0);
  }
  SummaryWriter writer(run);
  writer.addText("autopsy", markdown, step);
  writer.close().throwIfError();
}

}  // namespace steptape::tools
