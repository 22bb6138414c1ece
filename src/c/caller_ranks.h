// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>

#include "steptape/base/status.h"
#include "steptape/c/steptape.h"

#include "ranks/engine/gather_transport.h"

namespace steptape::detail::c {

/// A caller's communicator, whose context is released with this object.
class CallerRanks final : public ranks::GatheringRanks {
 public:
  /// @param calls REQUIRES: start_gather and test are set
  explicit CallerRanks(const steptape_communicator& calls) : calls_(calls) {}
  ~CallerRanks() override {
    if (calls_.release != nullptr) {
      calls_.release(calls_.context);
    }
  }

  int rank() const override { return calls_.rank; }
  std::size_t ranks() const override { return static_cast<std::size_t>(calls_.ranks); }
  bool isUsable() const override {
    return calls_.is_usable == nullptr || calls_.is_usable(calls_.context);
  }
  std::string endedBecause() const override { return "MPI was finalized"; }
  void* startGather(Lane lane, void* all, std::size_t bytes) const override {
    void* operation = nullptr;
    if (calls_.start_gather(calls_.context, lane, all, bytes, &operation) != 0) {
      throw ranks::TransportFailure(ErrorCode::kIoError,
                                    "start_gather() of the steptape_communicator has failed");
    }
    return operation;
  }
  bool hasEnded(void* operation) const override {
    int isDone = 0;
    if (calls_.test(calls_.context, operation, &isDone) != 0) {
      throw ranks::TransportFailure(ErrorCode::kIoError,
                                    "test() of the steptape_communicator has failed");
    }
    return isDone != 0;
  }
  bool canSend() const override {
    return calls_.start_send != nullptr && calls_.receive != nullptr;
  }
  void* startSend(int rank, const void* data, std::size_t bytes) const override {
    void* operation = nullptr;
    if (calls_.start_send(calls_.context, rank, data, bytes, &operation) != 0) {
      throw ranks::TransportFailure(ErrorCode::kIoError,
                                    "start_send() of the steptape_communicator has failed");
    }
    return operation;
  }
  int receive(void* data, std::size_t bytes) const override {
    int rank = -1;
    if (calls_.receive(calls_.context, data, bytes, &rank) != 0) {
      throw ranks::TransportFailure(ErrorCode::kIoError,
                                    "receive() of the steptape_communicator has failed");
    }
    return rank;
  }

 private:
  const steptape_communicator calls_;
};

}  // namespace steptape::detail::c
