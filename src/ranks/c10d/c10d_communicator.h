// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "steptape/ranks/environment.h"

#include "ranks/c10d/key_store.h"
#include "ranks/c10d/tcp_store.h"
#include "ranks/engine/engine_communicator.h"

namespace steptape::c10d::detail {

/// What all groups of a job share.
struct JobStore {
  std::shared_ptr<TcpStore> tcp;
  EnvironmentOptions options;
};

/// A group of ranks that met at a store.
class C10dCommunicator final : public steptape::detail::ranks::EngineCommunicator {
 public:
  /// Makes a group of the ranks in `map`. All of them call it.
  ///
  /// @param keys     Keys of this group only.
  /// @param prefix   The name of these keys in the store of the job.
  /// @param jobRanks The group's ranks, as numbered in the job.
  static std::shared_ptr<C10dCommunicator> make(const JobStore& job,
                                                const std::shared_ptr<KeyStore>& keys,
                                                const std::string& prefix,
                                                const steptape::detail::ranks::GroupMap& map,
                                                std::vector<int> jobRanks,
                                                std::chrono::milliseconds timeout);

  C10dCommunicator(JobStore job, std::shared_ptr<KeyStore> keys, std::string prefix,
                   std::vector<int> jobRanks,
                   const std::shared_ptr<steptape::detail::ranks::Transport>& transport,
                   std::string medium);

  std::shared_ptr<Communicator> split(int color, int key) override;
  std::shared_ptr<NodeMemory> allocateNodeMemory(std::size_t bytes, std::string* why) override;

  /// Returns what moves the data, for a log: "shared memory".
  const std::string& medium() const { return medium_; }

 private:
  JobStore job_;
  std::shared_ptr<KeyStore> keys_;
  std::string prefix_;
  std::vector<int> jobRanks_;
  std::string medium_;
  unsigned splits_ = 0;
};

}  // namespace steptape::c10d::detail
