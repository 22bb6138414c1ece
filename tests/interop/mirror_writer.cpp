// SPDX-License-Identifier: Apache-2.0
// Writes a run with a mirror, as the lines of its standard input tell: `write N` logs N points,
// `flush` and `close` do that, `stats` prints a line of JSON. Answers each with a line; "ok" or
// what is wrong. Arguments: the run's directory, the mirror, and its period in milliseconds. The
// variable CLOCK_SECONDS_AHEAD sets this process's clock wrong.

#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <ctime>
#include <iostream>
#include <sstream>
#include <string>
#include <sys/syscall.h>
#include <unistd.h>

#include "steptape/log/summary_writer.h"

/// Instead of the C library's, also for other libraries.
extern "C" int clock_gettime(clockid_t clock, timespec* time) {
  static const char* const kAhead = std::getenv("CLOCK_SECONDS_AHEAD");
  const long result = ::syscall(SYS_clock_gettime, clock, time);
  if (kAhead != nullptr && (clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE)) {
    time->tv_sec += std::strtol(kAhead, nullptr, 10);
  }
  return static_cast<int>(result);
}

int main(int argc, char** argv) {
  if (argc != 4) {
    std::cerr << "mirror_writer: got " << argc - 1 << " arguments; expected 3\n";
    return 1;
  }
  steptape::WriterOptions options;
  options.mirror = argv[2];
  options.mirrorPeriod = std::chrono::milliseconds(std::stoi(argv[3]));
  options.flushPeriod = std::chrono::milliseconds(5);
  options.onError = [](const steptape::Status& problem) {
    std::cerr << problem.message() + '\n' << std::flush;
  };
  try {
    steptape::SummaryWriter writer(argv[1], options);
    std::cout << "ok\n" << std::flush;
    std::int64_t step = 0;
    for (std::string line; std::getline(std::cin, line);) {
      std::istringstream words(line);
      std::string what;
      std::int64_t points = 0;
      words >> what >> points;
      steptape::Status status;
      if (what == "write") {
        for (const std::int64_t end = step + points; step < end; ++step) {
          writer.addScalar("loss", std::exp(-0.001 * static_cast<double>(step)), step);
        }
      } else if (what == "flush") {
        status = writer.flush();
      } else if (what == "close") {
        status = writer.close();
      } else if (what == "stats") {
        const steptape::WriterStats stats = writer.stats();
        std::cout << "{\"written\": " << stats.bytesWritten << ", \"sent\": " << stats.mirrorBytes
                  << ", \"late\": " << stats.mirrorLateFiles << "}\n"
                  << std::flush;
        continue;
      }
      std::cout << (status.ok() ? "ok" : status.message()) << '\n' << std::flush;
    }
  } catch (const steptape::Error& error) {
    std::cout << error.what() << '\n' << std::flush;
    return 1;
  }
}
