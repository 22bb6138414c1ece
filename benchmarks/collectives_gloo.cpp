// SPDX-License-Identifier: Apache-2.0
#include "collectives_gloo.h"

#include <chrono>
#include <memory>
#include <numeric>
#include <string>

#include "ranks/c10d/c10d_communicator.h"
#include "ranks/c10d/rendezvous.h"
#include "ranks/c10d/tcp_store.h"
#include "ranks/c10d/tcp_store_connection.h"
#include "ranks/communicator/launch.h"

#include <torch/csrc/distributed/c10d/PrefixStore.hpp>
#include <torch/csrc/distributed/c10d/ProcessGroupGloo.hpp>

namespace benchmark {
namespace {

namespace detail = steptape::c10d::detail;
constexpr std::chrono::seconds kTimeout{30};

steptape::detail::ranks::Launch launch() {
  steptape::detail::ranks::LaunchSupport support;
  support.hasStore = true;
  steptape::detail::ranks::Launch found = steptape::detail::ranks::findLaunch(support);
  found.isServedByAgent = true;  // the environment of main() serves the store, or the agent
  return found;
}

std::shared_ptr<detail::TcpStore> store() {
  static const auto kStore = std::make_shared<detail::TcpStore>(launch(), kTimeout);
  return kStore;
}

/// One start for each kind: rank 0 answers no rank after its start.
detail::Meeting meetFor(const char* kind) {
  const auto keys = std::make_shared<detail::PrefixedStore>(store(), std::string(kind) + "/");
  return detail::meet(keys, store()->address(), launch(), 0, kTimeout);
}

}  // namespace

std::function<void(std::vector<float>& data)> bareGloo() {
  auto options = ::c10d::ProcessGroupGloo::Options::create(kTimeout);
  options->devices.push_back(::c10d::ProcessGroupGloo::createDefaultDevice());
  // The launcher's store outlives a run: a name of this run only.
  const detail::Meeting meeting = meetFor("bare");
  const auto prefix = c10::make_intrusive<::c10d::PrefixStore>(meeting.prefix + "bare",
                                                               store()->connection().store);
  const auto group =
      c10::make_intrusive<::c10d::ProcessGroupGloo>(prefix, launch().rank, launch().size, options);
  return [group](std::vector<float>& data) {
    std::vector<at::Tensor> tensors{
        at::from_blob(data.data(), {static_cast<std::int64_t>(data.size())}, at::kFloat)};
    group->allreduce(tensors)->wait();
  };
}

std::shared_ptr<steptape::Communicator> communicatorOverGloo() {
  const detail::Meeting meeting = meetFor("steptape");
  steptape::EnvironmentOptions options;
  options.useNodeMemory = false;
  std::vector<int> ranks(static_cast<std::size_t>(launch().size));
  std::iota(ranks.begin(), ranks.end(), 0);
  return detail::C10dCommunicator::make({store(), options}, meeting.store, meeting.prefix,
                                        meeting.map, ranks, kTimeout);
}

}  // namespace benchmark
