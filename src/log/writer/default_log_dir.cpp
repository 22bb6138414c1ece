// SPDX-License-Identifier: Apache-2.0
#include "log/writer/default_log_dir.h"

#include <ctime>

#include "base/host_name.h"
#include "process/blackbox/job_identity.h"

namespace steptape::detail::log {

std::string defaultLogDir(const WriterOptions& options) {
  const Clock& clock = options.clock ? *options.clock : Clock::system();
  const auto seconds = static_cast<std::time_t>(clock.wallSeconds());
  std::tm local{};
  localtime_r(&seconds, &local);
  char stamp[32];
  std::strftime(stamp, sizeof(stamp), "%b%d_%H-%M-%S", &local);
  const std::string job = process::schedulerJobLabel();
  return "runs/" + std::string(stamp) + "_" + base::hostName() + (job.empty() ? "" : "_job" + job) +
         options.comment;
}

}  // namespace steptape::detail::log
