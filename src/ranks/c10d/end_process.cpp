// SPDX-License-Identifier: Apache-2.0
#include "ranks/c10d/end_process.h"

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <exception>

#include "steptape/base/clock.h"
#include "steptape/base/json.h"

#include "base/whole_file.h"
#include "process/blackbox/state_page.h"

namespace steptape::c10d::detail {
namespace {

void tellTorchrun(const std::string& why) {
  const char* const path = std::getenv("TORCHELASTIC_ERROR_FILE");
  if (path == nullptr || *path == '\0') {
    return;
  }
  const auto now = static_cast<std::int64_t>(Clock::system().wallSeconds());
  std::string text = R"({"message": )";
  appendJsonString(&text, why);
  text += R"(, "timestamp": )" + std::to_string(now) + "}";
  static_cast<void>(steptape::detail::base::replaceFile(path, text));
}

}  // namespace

void endProcess(int rank, const std::string& why) noexcept {
  steptape::detail::process::noteEndOfJob(why);
  std::fprintf(stderr, "steptape: rank %d ends: %s\n", rank, why.c_str());
  std::fflush(stderr);
  try {
    tellTorchrun(why);
  } catch (const std::exception&) {
    // The text is on stderr.
  }
  // Without the destructors of static objects: threads of groups may still use what they free.
  std::_Exit(1);
}

}  // namespace steptape::c10d::detail
