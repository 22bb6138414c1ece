// SPDX-License-Identifier: Apache-2.0
#include <cstdio>
#include <ctime>

#include "profile/trace/xplane/xplane_trace.h"

namespace steptape {
namespace {

/// Makes a file name of a host's name. XProf splits lists of these names at commas.
std::string fileNameOf(const std::string& hostName) {
  std::string name = hostName.empty() ? "localhost" : hostName;
  for (char& c : name) {
    const bool isPlain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
                         (c >= '0' && c <= '9') || c == '.' || c == '-' || c == '_';
    c = isPlain ? c : '_';
  }
  return name;
}

}  // namespace

std::string detail::profile::xplanePath(const std::string& logDir, const std::string& session,
                                        const Trace& trace) {
  std::string name = fileNameOf(trace.hostName);
  if (trace.worldSize > 1) {
    char rank[32];
    std::snprintf(rank, sizeof rank, "_rank%05d", trace.rank);
    name += rank;
  }
  return logDir + "/plugins/profile/" + session + "/" + name + ".xplane.pb";
}

std::string detail::profile::profileSessionName(std::int64_t unixNanos) {
  const auto seconds = static_cast<std::time_t>(unixNanos / 1'000'000'000);
  std::tm local{};
  localtime_r(&seconds, &local);
  char name[32];
  std::strftime(name, sizeof name, "%Y_%m_%d_%H_%M_%S", &local);
  return name;
}

}  // namespace steptape
