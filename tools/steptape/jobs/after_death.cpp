// SPDX-License-Identifier: Apache-2.0
#include "tools/steptape/jobs/after_death.h"

#include <cstdint>
#include <fmt/format.h>
#include <optional>

#include "tools/steptape/jobs/run_progress.h"
#include "tools/steptape/terminal/standard_streams.h"

namespace steptape::tools {

void afterDeath(const std::string& run) {
  if (run.empty()) {
    return;
  }
  const std::optional<std::int64_t> step = newestCheckpoint(run);
  printMessage(fmt::format("  {}: {}", run,
                           step ? fmt::format("newest checkpoint at step {}", *step)
                                : "no checkpoint checkpoint_<step>.pt"));
}

}  // namespace steptape::tools
