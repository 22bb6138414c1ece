// SPDX-License-Identifier: Apache-2.0
#include "tools/steptape/tables/signal_name.h"

#include <array>
#include <csignal>
#include <fmt/format.h>
#include <utility>

namespace steptape::tools {

std::string signalName(int signal) {
  constexpr std::array<std::pair<int, const char*>, 16> kNames{{{SIGHUP, "SIGHUP"},
                                                                {SIGINT, "SIGINT"},
                                                                {SIGQUIT, "SIGQUIT"},
                                                                {SIGILL, "SIGILL"},
                                                                {SIGTRAP, "SIGTRAP"},
                                                                {SIGABRT, "SIGABRT"},
                                                                {SIGBUS, "SIGBUS"},
                                                                {SIGFPE, "SIGFPE"},
                                                                {SIGKILL, "SIGKILL"},
                                                                {SIGUSR1, "SIGUSR1"},
                                                                {SIGSEGV, "SIGSEGV"},
                                                                {SIGUSR2, "SIGUSR2"},
                                                                {SIGPIPE, "SIGPIPE"},
                                                                {SIGTERM, "SIGTERM"},
                                                                {SIGXCPU, "SIGXCPU"},
                                                                {SIGSYS, "SIGSYS"}}};
  for (const auto& [number, name] : kNames) {
    if (number == signal) {
      return name;
    }
  }
  return fmt::format("signal {}", signal);
}

}  // namespace steptape::tools
