// SPDX-License-Identifier: Apache-2.0
#include "ranks/mpi/mpi_device_exchange.h"

#include <algorithm>
#include <cstddef>
#include <set>
#include <string>
#include <utility>

#include "steptape/base/status.h"

#include "ranks/communicator/group_messages.h"
#include "ranks/communicator/poll_pause.h"
#include "ranks/mpi/job_state.h"
#include "ranks/mpi/mpi_transport.h"

#ifdef OPEN_MPI
#include <mpi-ext.h>
#endif

namespace steptape::mpi::detail {
namespace {

using steptape::detail::ranks::GroupMap;
using steptape::detail::ranks::PendingCollective;
using steptape::detail::ranks::Transport;
using steptape::detail::ranks::TransportUse;

constexpr int kTag = 3;

/// The messages of one exchange.
class Messages final : public PendingCollective {
 public:
  Messages(std::string name, std::shared_ptr<Transport> transport,
           std::chrono::milliseconds timeout)
      : name_(std::move(name)), transport_(std::move(transport)), timeout_(timeout) {}

  /// Messages have at most Transport::maxCount() bytes.
  template <typename Post>
  void add(int rank, const steptape::detail::ranks::DeviceExchange::Part& part, const Post& post) {
    auto* const data = static_cast<std::byte*>(part.data);
    for (std::size_t begin = 0; begin < part.bytes; begin += transport_->maxCount()) {
      const std::size_t bytes = std::min(part.bytes - begin, transport_->maxCount());
      ranks_.push_back(rank);
      require(post(data + begin, static_cast<int>(bytes), &requests_.emplace_back()));
    }
  }

  bool poll() override {
    const TransportUse use(*transport_);
    if (!use) {
      throw Error(ErrorCode::kFailedPrecondition, name_ + ": " + transport_->endedBecause());
    }
    int haveEnded = 0;
    require(MPI_Testall(static_cast<int>(requests_.size()), requests_.data(), &haveEnded,
                        MPI_STATUSES_IGNORE));
    return haveEnded != 0;
  }

  void wait() override {
    steptape::detail::ranks::PollPause pause(timeout_);
    while (!poll()) {
      if (!pause.next()) {
        fail(ErrorCode::kDeadlineExceeded,
             steptape::detail::ranks::deadlineText(
                 name_, timeout_, "no message of " + missingRanks(), transport_->map()));
      }
      if (pause.hasNapped()) {
        const std::string lost = transport_->lostBecause();
        // Checks again: a rank may end as soon as it has sent its part.
        if (!lost.empty() && !poll()) {
          fail(ErrorCode::kDeadlineExceeded, name_ + " is not waited for, since " + lost);
        }
      }
    }
  }

 private:
  void require(int result) {
    if (result != MPI_SUCCESS) {
      const GroupMap& map = transport_->map();
      fail(ErrorCode::kIoError,
           name_ + " failed on " + map.nameOf(map.rank()) + ": " + errorText(result));
    }
  }

  [[noreturn]] void fail(ErrorCode code, const std::string& text) {
    // The caller may free the memory: nothing may arrive in it any more.
    for (MPI_Request& request : requests_) {
      if (request != MPI_REQUEST_NULL) {
        MPI_Cancel(&request);
        MPI_Request_free(&request);
      }
    }
    transport_->markBroken(text);
    throw Error(code, text);
  }

  std::string missingRanks() {
    std::set<int> missing;
    for (std::size_t i = 0; i < requests_.size(); ++i) {
      int hasEnded = 0;
      MPI_Test(&requests_[i], &hasEnded, MPI_STATUS_IGNORE);
      if (hasEnded == 0) {
        missing.insert(ranks_[i]);
      }
    }
    std::string text;
    for (const int rank : missing) {
      text += (text.empty() ? "" : ", ") + transport_->map().nameOf(rank);
    }
    return text;
  }

  std::string name_;
  std::shared_ptr<Transport> transport_;
  std::chrono::milliseconds timeout_;
  std::vector<MPI_Request> requests_;
  std::vector<int> ranks_;  // by request: the other rank
};

}  // namespace

bool reportsGpuSupport() {
#if defined(OMPI_HAVE_MPI_EXT_CUDA) && OMPI_HAVE_MPI_EXT_CUDA
  return MPIX_Query_cuda_support() != 0;
#elif defined(MPIX_GPU_SUPPORT_CUDA)
  int isSupported = 0;
  return MPIX_GPU_query_support(MPIX_GPU_SUPPORT_CUDA, &isSupported) == MPI_SUCCESS &&
         isSupported != 0;
#else
  return false;
#endif
}

MpiDeviceExchange::~MpiDeviceExchange() {
  // Freeing what an unfinished message uses may block.
  if (!transport_->isBroken() && isMpiRunning()) {
    MPI_Comm_free(&communicator_);
  }
}

std::unique_ptr<PendingCollective> MpiDeviceExchange::start(const std::string& name,
                                                            const std::vector<Part>& sent,
                                                            const std::vector<Part>& received) {
  transport_->requireUsable(name);
  auto messages = std::make_unique<Messages>(name, transport_, timeout_);
  const int own = transport_->map().rank();
  for (int rank = 0; rank < transport_->map().size(); ++rank) {
    if (rank == own) {
      continue;
    }
    const auto index = static_cast<std::size_t>(rank);
    messages->add(rank, received[index], [&](void* data, int bytes, MPI_Request* request) {
      return MPI_Irecv(data, bytes, MPI_BYTE, rank, kTag, communicator_, request);
    });
    messages->add(rank, sent[index], [&](const void* data, int bytes, MPI_Request* request) {
      return MPI_Isend(data, bytes, MPI_BYTE, rank, kTag, communicator_, request);
    });
  }
  return messages;
}

}  // namespace steptape::mpi::detail
