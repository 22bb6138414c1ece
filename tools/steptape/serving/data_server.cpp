// SPDX-License-Identifier: Apache-2.0
#include "tools/steptape/serving/data_server.h"

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cmath>
#include <csignal>
#include <cstdio>
#include <malloc.h>
#include <sched.h>
#include <system_error>

#include "base/got_expected.h"
#include "server/provider/data_provider.h"
#include "tools/steptape/serving/bucket_follower.h"

namespace steptape::tools {
namespace {

using steptape::detail::server::DataProvider;
using steptape::detail::server::GrpcServer;
using steptape::detail::server::LogStore;
using steptape::detail::server::LogStoreOptions;

GrpcServer* servedNow = nullptr;

void stopServing(int /*signal*/) {
  servedNow->stop();
}

/// Lets SIGINT and SIGTERM end a server while this exists.
class StopOnSignals {
 public:
  explicit StopOnSignals(GrpcServer* server) {
    servedNow = server;
    struct sigaction action {};
    action.sa_handler = &stopServing;
    action.sa_flags = SA_RESTART;
    for (const int signal : {SIGINT, SIGTERM}) {
      sigaction(signal, &action, nullptr);
    }
  }
  StopOnSignals(const StopOnSignals&) = delete;
  StopOnSignals& operator=(const StopOnSignals&) = delete;
  ~StopOnSignals() {
    for (const int signal : {SIGINT, SIGTERM}) {
      std::signal(signal, SIG_DFL);
    }
  }
};

/// Writes the port: whole, or not at all.
void writePort(const std::string& path, std::uint16_t port) {
  const std::string temporary = path + ".new";
  const std::string text = std::to_string(port) + "\n";
  std::FILE* const file = std::fopen(temporary.c_str(), "we");
  const bool isWritten = file != nullptr && std::fputs(text.c_str(), file) >= 0;
  const bool isClosed = file != nullptr && std::fclose(file) == 0;
  if (!isWritten || !isClosed || std::rename(temporary.c_str(), path.c_str()) != 0) {
    const std::string reason = std::generic_category().message(errno);
    static_cast<void>(std::remove(temporary.c_str()));
    throw PortFileError("cannot write the port file " + path + ": " + reason);
  }
}

/// Keeps memory that answers have used for the next ones: getting it from the system again took a
/// third of the time of an answer of 7 MB. Columns that are larger still grow without being copied.
void keepMemoryOfAnswers() {
#ifdef __GLIBC__
  ::mallopt(M_TRIM_THRESHOLD, 32 << 20);
  ::mallopt(M_MMAP_THRESHOLD, 8 << 20);
#endif
}

}  // namespace

std::chrono::milliseconds reloadPeriod(const std::string& text) {
  double seconds = 0;
  const char* const end = text.data() + text.size();
  const auto [next, error] = std::from_chars(text.data(), end, seconds);
  constexpr double kLongest = 86400;
  if (error != std::errc() || next != end || !(seconds > 0) || seconds > kLongest) {
    steptape::detail::base::reject("\"" + text + "\"",
                                   "seconds, from above 0 to 86400, or \"once\"", "reload");
  }
  constexpr double kMillis = 1e3;
  return std::chrono::milliseconds(std::max<std::int64_t>(1, std::llround(seconds * kMillis)));
}

int readingThreads() {
  constexpr int kMost = 8;
  cpu_set_t cores;
  const bool isKnown = ::sched_getaffinity(0, sizeof cores, &cores) == 0;
  return std::clamp(isKnown ? CPU_COUNT(&cores) : 2, 1, kMost);
}

void runDataServer(const DataServerOptions& options,
                   const std::function<void(std::uint16_t port)>& started) {
  keepMemoryOfAnswers();
  GrpcServer server(options.listen);
  const StopOnSignals stopper(&server);
  if (!options.portFile.empty()) {
    writePort(options.portFile, server.port());
  }
  if (started) {
    started(server.port());
  }
  LogStoreOptions followed = options.store;
  const BucketFollower buckets(&followed);
  LogStore store(followed);
  DataProvider provider(&store, options.limits);
  server.run(&provider);
}

}  // namespace steptape::tools
