// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <memory>
#include <string>
#include <vector>

#include "ranks/communicator/device_exchange.h"
#include "ranks/engine/transport.h"

#include <mpi.h>

namespace steptape::mpi::detail {

/// Returns whether MPI reports that it is GPU-aware.
bool reportsGpuSupport();

/// Exchanges GPU memory by a GPU-aware MPI, in messages from rank to rank.
///
/// @source https://www.open-mpi.org/faq/?category=runcuda: Open MPI accepts GPU memory in sends,
///         receives and blocking collectives, not in non-blocking collectives.
class MpiDeviceExchange final : public steptape::detail::ranks::DeviceExchange {
 public:
  /// @param communicator Taken over.
  /// @param transport    Of the same ranks, for what it knows of them.
  MpiDeviceExchange(MPI_Comm communicator,
                    std::shared_ptr<steptape::detail::ranks::Transport> transport,
                    std::chrono::milliseconds timeout)
      : communicator_(communicator), transport_(std::move(transport)), timeout_(timeout) {}
  ~MpiDeviceExchange() override;

  std::unique_ptr<steptape::detail::ranks::PendingCollective> start(
      const std::string& name, const std::vector<Part>& sent,
      const std::vector<Part>& received) override;

 private:
  MPI_Comm communicator_;
  std::shared_ptr<steptape::detail::ranks::Transport> transport_;
  std::chrono::milliseconds timeout_;
};

}  // namespace steptape::mpi::detail
