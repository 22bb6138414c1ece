// SPDX-License-Identifier: Apache-2.0
// Measures what a mirror in a bucket costs a training whose network is dead: steps of arithmetic
// that log scalars, without a mirror, with one to a port where nobody listens, and with one to a
// server that takes connections and never answers.
//
//   mirror_benchmark [rounds]
//
// Steps of each kind alternate in one process.
#include <arpa/inet.h>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <netinet/in.h>
#include <string>
#include <sys/socket.h>
#include <unistd.h>
#include <vector>

#include "steptape/log/summary_writer.h"
#include "steptape/ranks/testing.h"

#include "base/file_descriptor.h"
#include "harness.h"

namespace {

using benchmark::Costs;
using benchmark::nowNanos;
using benchmark::ratio;

constexpr int kStepsPerRound = 200;  // of each kind
constexpr int kScalars = 20;

/// A socket of this machine: one that listens takes connections, and answers none.
class Port {
 public:
  explicit Port(bool listens) : socket_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t bytes = sizeof address;
    auto* const any = reinterpret_cast<sockaddr*>(&address);
    if (::bind(socket_.number(), any, bytes) != 0 ||
        ::getsockname(socket_.number(), any, &bytes) != 0 ||
        (listens && ::listen(socket_.number(), 16) != 0)) {
      std::perror("mirror_benchmark: no port");
      std::exit(1);
    }
    number_ = ntohs(address.sin_port);
  }
  std::string url() const { return "http://127.0.0.1:" + std::to_string(number_); }

 private:
  steptape::detail::base::FileDescriptor socket_;
  int number_ = 0;
};

/// Some tenths of a millisecond of arithmetic.
double work() {
  double sum = 0;
  for (int i = 1; i < 300'000; ++i) {
    sum += 1.0 / i;
    benchmark::keep(sum);
  }
  return sum;
}

class Training {
 public:
  /// @param endpoint Of the mirror; empty: none.
  Training(const std::string& directory, const std::string& endpoint)
      : writer_(directory, optionsFor(endpoint)) {
    for (int i = 0; i < kScalars; ++i) {
      tags_.push_back(writer_.scalarTag("loss/" + std::to_string(i)));
    }
  }

  double step() {
    const double start = nowNanos();
    const double loss = work();
    for (const steptape::ScalarTag tag : tags_) {
      writer_.addScalar(tag, loss, step_);
    }
    ++step_;
    return (nowNanos() - start) / 1e6;
  }

 private:
  static steptape::WriterOptions optionsFor(const std::string& endpoint) {
    steptape::WriterOptions options;
    options.onError = [](const steptape::Status&) {};  // that it is late is known
    options.mirrorTimeout = std::chrono::milliseconds(100);
    if (!endpoint.empty()) {
      ::setenv("AWS_ENDPOINT_URL", endpoint.c_str(), 1);
      options.mirror = "s3://bucket/runs/exp";
      options.mirrorPeriod = std::chrono::seconds(1);
    }
    return options;
  }

  steptape::SummaryWriter writer_;
  std::vector<steptape::ScalarTag> tags_;
  std::int64_t step_ = 0;
};

}  // namespace

int main(int argc, char** argv) {
  const int rounds = argc > 1 ? std::atoi(argv[1]) : 41;
  ::setenv("AWS_ACCESS_KEY_ID", "nobody", 1);
  ::setenv("AWS_SECRET_ACCESS_KEY", "nothing", 1);
  const Port closed(/*listens=*/false);
  const Port silent(/*listens=*/true);
  const steptape::testing::TempDir directory;
  std::vector<std::unique_ptr<Training>> trainings;
  for (const std::string& endpoint : {std::string(), std::string(), closed.url(), silent.url()}) {
    const std::string name = "run" + std::to_string(trainings.size());
    trainings.push_back(std::make_unique<Training>(directory.string() + '/' + name, endpoint));
  }
  std::vector<Costs> costs(trainings.size());
  for (int round = -1; round < rounds; ++round) {  // the first round warms up
    std::vector<Costs> steps(trainings.size());
    for (int i = 0; i < kStepsPerRound; ++i) {
      for (std::size_t kind = 0; kind < trainings.size(); ++kind) {
        steps[kind].push_back(trainings[kind]->step());
      }
    }
    for (std::size_t kind = 0; kind < trainings.size() && round >= 0; ++kind) {
      costs[kind].push_back(benchmark::median(steps[kind]));
    }
  }
  benchmark::printTitle("A step that logs 20 scalars, with a mirror whose network is dead");
  benchmark::printCosts("no mirror", costs[0], "ms");
  benchmark::printCosts("nobody listens", costs[2], "ms");
  benchmark::printCosts("nobody answers", costs[3], "ms");
  benchmark::printControl("none / none", ratio(costs[1], costs[0]), 0.005);
  benchmark::printAtMost("nobody listens / none", ratio(costs[2], costs[0]), 1.01);
  benchmark::printAtMost("nobody answers / none", ratio(costs[3], costs[0]), 1.01);
}
