// SPDX-License-Identifier: Apache-2.0
#include "steptape/ranks/mpi_communicator.h"

#include <chrono>
#include <climits>
#include <cstdint>
#include <utility>
#include <vector>

#include "steptape/base/status.h"

#include "process/blackbox/state_page.h"
#include "ranks/communicator/group_split.h"
#include "ranks/communicator/posix_node_memory.h"
#include "ranks/engine/engine.h"
#include "ranks/engine/stuck.h"
#include "ranks/mpi/find_nodes.h"
#include "ranks/mpi/job_state.h"
#include "ranks/mpi/mpi_device_exchange.h"
#include "ranks/mpi/mpi_node_transport.h"
#include "ranks/mpi/mpi_transport.h"

namespace steptape {
namespace {

void checkOptions(const MpiCommunicatorOptions& options, int size) {
  if (options.maxCount < size || options.maxCount > INT_MAX) {
    throw Error(ErrorCode::kInvalidArgument,
                "MpiCommunicator: got maxCount = " + std::to_string(options.maxCount) +
                    "; expected " + std::to_string(size) + " (one per rank) to " +
                    std::to_string(INT_MAX));
  }
  if (options.ranksPerNode < 0) {
    throw Error(ErrorCode::kInvalidArgument,
                "MpiCommunicator: got ranksPerNode = " + std::to_string(options.ranksPerNode) +
                    "; expected 1 or more, or 0 for MPI's answer");
  }
}

/// Notes that the processes of `world` belong together, for readers of their states. Collective.
void noteLaunch(MPI_Comm world) {
  detail::process::StatePage* const page = detail::process::StatePage::current();
  std::uint64_t number = page == nullptr ? 0 : page->box().number;
  MPI_Bcast(&number, 1, MPI_UINT64_T, 0, world);
  if (page != nullptr) {
    page->noteLaunch(number);
  }
}

std::shared_ptr<mpi::detail::MpiTransport> makeTransport(MPI_Comm parent,
                                                         const MpiCommunicatorOptions& options) {
  mpi::detail::requireMpi("MpiCommunicator");
  if (const std::string because = mpi::detail::foreignLauncherBecause(); !because.empty()) {
    throw Error(ErrorCode::kFailedPrecondition, "MpiCommunicator: " + because);
  }
  mpi::detail::watchForFinalize();
  int size = 0;
  MPI_Comm_size(parent, &size);
  checkOptions(options, size);
  const MPI_Comm data = mpi::detail::duplicate(parent, options.timeout);
  int worldSize = 0;
  MPI_Comm_size(MPI_COMM_WORLD, &worldSize);
  if (size == worldSize) {
    noteLaunch(data);
  }
  return std::make_shared<mpi::detail::MpiTransport>(
      data, mpi::detail::findNodes(data, options.ranksPerNode), options);
}

/// Returns a transport in the memory of the node if that is possible, else `transport`. Collective.
std::shared_ptr<detail::ranks::Transport> withinNode(
    const std::shared_ptr<mpi::detail::MpiTransport>& transport,
    std::chrono::milliseconds timeout) {
  std::shared_ptr<NodeMemory> memory =
      detail::ranks::NodeTransport::tryMakeMemory(transport, timeout);
  if (!memory) {
    return transport;
  }
  return std::make_shared<mpi::detail::MpiNodeTransport>(std::move(memory), transport->map(),
                                                         transport->comparisons());
}

}  // namespace

MpiCommunicator::MpiCommunicator(MPI_Comm parent, const MpiCommunicatorOptions& options)
    : MpiCommunicator(makeTransport(parent, options), options) {
  setTimeout(options.timeout);
}

MpiCommunicator::MpiCommunicator(std::shared_ptr<mpi::detail::MpiTransport> transport,
                                 const MpiCommunicatorOptions& options)
    : transport_(std::move(transport)),
      useNodeMemory_(options.useNodeMemory),
      isGpuAware_(options.assumeGpuAware.value_or(mpi::detail::reportsGpuSupport())),
      engine_(std::make_shared<detail::ranks::Engine>(
          useNodeMemory_ ? withinNode(transport_, options.timeout) : transport_)) {
  setJobRanks(mpi::detail::worldRanksOf(transport_->data()));
}

MpiCommunicator::~MpiCommunicator() = default;

int MpiCommunicator::rank() const {
  return transport_->map().rank();
}
int MpiCommunicator::size() const {
  return transport_->map().size();
}
int MpiCommunicator::localRank() const {
  return transport_->map().localRank();
}
int MpiCommunicator::localSize() const {
  return transport_->map().localSize();
}
int MpiCommunicator::crossRank() const {
  return transport_->map().crossRank();
}
int MpiCommunicator::crossSize() const {
  return transport_->map().crossSize();
}
const std::string& MpiCommunicator::nodeName() const {
  return transport_->map().nodeName();
}
MPI_Comm MpiCommunicator::handle() const {
  return transport_->data();
}

bool MpiCommunicator::worksOnAnyThread() const {
  int level = MPI_THREAD_SINGLE;
  if (mpi::detail::isMpiRunning()) {
    MPI_Query_thread(&level);
  }
  return level >= MPI_THREAD_MULTIPLE;
}

std::shared_ptr<Communicator> MpiCommunicator::split(int color, int key) {
  const std::vector<int> ranks = detail::ranks::ranksOfColor(*this, color, key);
  mpi::detail::requireMpi("split");
  // Blocking, because MPI has no other form; all ranks have just met. Uses the communicator for
  // comparisons, because calls on the other one wait for collectives in flight.
  MPI_Comm part = MPI_COMM_NULL;
  MPI_Comm_split(transport_->comparisons(), ranks.empty() ? MPI_UNDEFINED : color, key, &part);
  if (ranks.empty()) {
    return nullptr;
  }
  MPI_Comm_set_errhandler(part, MPI_ERRORS_RETURN);
  MpiCommunicatorOptions options;
  options.timeout = timeout();
  options.maxCount = static_cast<std::int64_t>(transport_->maxCount());
  options.useNodeMemory = useNodeMemory_;
  options.assumeGpuAware = isGpuAware_;
  const std::shared_ptr<MpiCommunicator> communicator(new MpiCommunicator(
      std::make_shared<mpi::detail::MpiTransport>(part, transport_->map().part(ranks), options),
      options));
  shareSettings(*communicator);
  return communicator;
}

std::shared_ptr<NodeMemory> MpiCommunicator::allocateNodeMemory(std::size_t bytes,
                                                                std::string* why) {
  std::shared_ptr<NodeMemory> memory = detail::ranks::PosixNodeMemory::tryMake(
      *this, transport_->map(), bytes, why, &detail::ranks::markStuck);
  if (memory) {
    shareSettings(*memory);
  }
  return memory;
}

std::unique_ptr<detail::ranks::DeviceExchange> MpiCommunicator::makeDeviceExchange() {
  std::int32_t isGpuAware = isGpuAware_ ? 1 : 0;
  CollectiveOptions options;
  options.name = "whether MPI is GPU-aware";
  allreduce(ArrayView<std::int32_t>(&isGpuAware, 1), ReduceOp::kMin, options);
  if (isGpuAware == 0 || size() == 1) {
    return nullptr;
  }
  return std::make_unique<mpi::detail::MpiDeviceExchange>(
      mpi::detail::duplicate(transport_->comparisons(), timeout()), engine_->transport, timeout());
}

std::unique_ptr<detail::ranks::PendingCollective> MpiCommunicator::start(
    const detail::ranks::CollectiveCall& call) {
  return detail::ranks::startOn(engine_, call,
                                {timeout(), stallWarningAfter(),
                                 [this](const std::string& warning) { warnOfStall(warning); }});
}

}  // namespace steptape
