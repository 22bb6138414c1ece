// SPDX-License-Identifier: Apache-2.0
#include "steptape/mpi/mpi_communicator.h"

#include <algorithm>
#include <array>
#include <climits>
#include <sstream>
#include <type_traits>

#include "steptape/base/error.h"
#include "steptape/distributed/rank_log.h"

#include "mpi/chunks.h"
#include "mpi/job_state.h"
#include "mpi/poll_pause.h"

namespace steptape {
namespace {

constexpr int kMomentsDoubles = 6;
static_assert(std::is_standard_layout_v<MetricMoments> &&
                  sizeof(MetricMoments) == kMomentsDoubles * sizeof(double),
              "MetricMoments travels as contiguous doubles");

/// MPI_User_function: no exception may leave it, and merge() throws none.
void mergeMoments(void* from, void* into, int* count, MPI_Datatype* /*type*/) {
  const auto* source = static_cast<const MetricMoments*>(from);
  auto* target = static_cast<MetricMoments*>(into);
  for (int i = 0; i < *count; ++i) {
    target[i].merge(source[i]);
  }
}

MPI_Op toMpi(ReduceOp op) {
  switch (op) {
    case ReduceOp::kMin:
      return MPI_MIN;
    case ReduceOp::kMax:
      return MPI_MAX;
    case ReduceOp::kSum:
    case ReduceOp::kAverage:
      break;
  }
  return MPI_SUM;
}

std::string mpiText(int result) {
  std::array<char, MPI_MAX_ERROR_STRING> text{};
  int length = 0;
  MPI_Error_string(result, text.data(), &length);
  return std::string(text.data(), static_cast<std::size_t>(length));
}

bool tellsUnequalSizes(int result) {
  int errorClass = MPI_SUCCESS;
  MPI_Error_class(result, &errorClass);
  return errorClass == MPI_ERR_TRUNCATE;
}

template <typename T>
void divideBy(Span<T> data, int divisor) {
  for (T& value : data) {
    value /= static_cast<T>(divisor);
  }
}

}  // namespace

MpiCommunicator::MpiCommunicator(MPI_Comm parent, const MpiCommunicatorOptions& options)
    : maxCount_(options.maxCount) {
  mpi::detail::requireMpi("MpiCommunicator");
  setTimeout(options.timeout);
  MPI_Comm_rank(parent, &rank_);
  MPI_Comm_size(parent, &size_);
  if (maxCount_ < static_cast<std::size_t>(size_) || maxCount_ > INT_MAX) {
    throw Error(ErrorCode::kInvalidArgument,
                "MpiCommunicator: maxCount is " + std::to_string(maxCount_) + ", want " +
                    std::to_string(size_) + " (one per rank) to " + std::to_string(INT_MAX));
  }
  MPI_Request request = MPI_REQUEST_NULL;
  const Operation duplicate{"MPI_Comm_idup", 0};
  check(MPI_Comm_idup(parent, &communicator_, &request), duplicate);
  wait(request, duplicate);
  MPI_Comm_set_errhandler(communicator_, MPI_ERRORS_RETURN);
  findLocalRank();
  MPI_Type_contiguous(kMomentsDoubles, MPI_DOUBLE, &momentsType_);
  MPI_Type_commit(&momentsType_);
  MPI_Op_create(&mergeMoments, /*commute=*/1, &momentsOp_);
}

MpiCommunicator::~MpiCommunicator() {
  // Freeing what an unfinished operation still uses may wait for it, so that is left to the end of
  // the process.
  if (!brokenBecause_.empty() || !mpi::detail::isMpiRunning()) {
    return;
  }
  MPI_Op_free(&momentsOp_);
  MPI_Type_free(&momentsType_);
  MPI_Comm_free(&communicator_);
}

void MpiCommunicator::findLocalRank() {
  // Blocking, since MPI 3 has no other form; all ranks have just met in the duplication.
  MPI_Comm node = MPI_COMM_NULL;
  check(MPI_Comm_split_type(communicator_, MPI_COMM_TYPE_SHARED, rank_, MPI_INFO_NULL, &node),
        {"MPI_Comm_split_type", 0});
  MPI_Comm_rank(node, &localRank_);
  MPI_Comm_size(node, &localSize_);
  MPI_Comm_free(&node);
}

void MpiCommunicator::checkUsable(const Operation& operation) const {
  if (!brokenBecause_.empty()) {
    throw Error(
        ErrorCode::kFailedPrecondition,
        std::string(operation.name) + ": the communicator is out of step since " + brokenBecause_);
  }
  mpi::detail::requireMpi(operation.name);
}

void MpiCommunicator::check(int mpiResult, const Operation& operation) {
  if (mpiResult == MPI_SUCCESS) {
    return;
  }
  brokenBecause_ = std::string(operation.name) + " of " + std::to_string(operation.bytes) +
                   " bytes failed on " + rankAndNode(rank_, nodeName()) + ": " + mpiText(mpiResult);
  mpi::detail::markStuck(brokenBecause_);
  if (tellsUnequalSizes(mpiResult)) {
    throw Error(ErrorCode::kRankMismatch, brokenBecause_ + "; the ranks passed different sizes");
  }
  throw Error(ErrorCode::kIoError, brokenBecause_);
}

void MpiCommunicator::wait(MPI_Request& request, const Operation& operation) {
  mpi::detail::PollPause pause(timeout());
  int isDone = 0;
  while (true) {
    check(MPI_Test(&request, &isDone, MPI_STATUS_IGNORE), operation);
    if (isDone != 0) {
      return;
    }
    if (!pause.next()) {
      break;
    }
  }
  std::ostringstream what;
  what << operation.name << " of " << operation.bytes << " bytes did not end within "
       << std::chrono::duration<double>(timeout()).count() << " s on "
       << rankAndNode(rank_, nodeName()) << " of " << size_;
  brokenBecause_ = what.str();
  mpi::detail::markStuck(brokenBecause_);
  throw Error(ErrorCode::kDeadlineExceeded,
              brokenBecause_ + "; another rank has ended, hangs or is in another operation");
}

void MpiCommunicator::allreduceElements(void* data, std::size_t count, MPI_Datatype type,
                                        std::size_t typeBytes, MPI_Op op) {
  const Operation operation{"allreduce", count * typeBytes};
  checkUsable(operation);
  mpi::detail::forEachChunk(count, maxCount_, [&](std::size_t offset, int chunk) {
    MPI_Request request = MPI_REQUEST_NULL;
    void* at = static_cast<char*>(data) + offset * typeBytes;
    check(MPI_Iallreduce(MPI_IN_PLACE, at, chunk, type, op, communicator_, &request), operation);
    wait(request, operation);
  });
}

void MpiCommunicator::allreduce(Span<float> data, ReduceOp op) {
  allreduceElements(data.data(), data.size(), MPI_FLOAT, sizeof(float), toMpi(op));
  if (op == ReduceOp::kAverage) {
    divideBy(data, size_);
  }
}

void MpiCommunicator::allreduce(Span<double> data, ReduceOp op) {
  allreduceElements(data.data(), data.size(), MPI_DOUBLE, sizeof(double), toMpi(op));
  if (op == ReduceOp::kAverage) {
    divideBy(data, size_);
  }
}

void MpiCommunicator::allreduce(Span<MetricMoments> data) {
  allreduceElements(data.data(), data.size(), momentsType_, sizeof(MetricMoments), momentsOp_);
}

void MpiCommunicator::broadcast(void* data, std::size_t bytes, int root) {
  checkRoot(root);
  const Operation operation{"broadcast", bytes};
  checkUsable(operation);
  mpi::detail::forEachChunk(bytes, maxCount_, [&](std::size_t offset, int chunk) {
    MPI_Request request = MPI_REQUEST_NULL;
    check(MPI_Ibcast(static_cast<char*>(data) + offset, chunk, MPI_BYTE, root, communicator_,
                     &request),
          operation);
    wait(request, operation);
  });
}

std::vector<std::string> MpiCommunicator::allgather(std::string_view bytes) {
  const Operation operation{"allgather", bytes.size()};
  checkUsable(operation);
  gatherSizes_.assign(static_cast<std::size_t>(size_), 0);
  gatherSizes_[static_cast<std::size_t>(rank_)] = bytes.size();
  MPI_Request request = MPI_REQUEST_NULL;
  check(MPI_Iallgather(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, gatherSizes_.data(), 1, MPI_UINT64_T,
                       communicator_, &request),
        operation);
  wait(request, operation);

  std::vector<std::string> gathered(gatherSizes_.size());
  const std::size_t most = *std::max_element(gatherSizes_.begin(), gatherSizes_.end());
  const std::size_t bytesPerRank = maxCount_ / gatherSizes_.size();
  for (std::size_t offset = 0; offset < most; offset += bytesPerRank) {
    allgatherRound(bytes, offset, bytesPerRank, gathered);
  }
  return gathered;
}

void MpiCommunicator::allgatherRound(std::string_view mine, std::size_t offset,
                                     std::size_t bytesPerRank, std::vector<std::string>& gathered) {
  std::vector<int> counts;
  std::vector<int> starts;
  int total = 0;
  for (const std::size_t size : gatherSizes_) {
    const std::size_t left = size - std::min<std::size_t>(size, offset);
    counts.push_back(static_cast<int>(std::min(bytesPerRank, left)));
    starts.push_back(total);
    total += counts.back();
  }
  const Operation operation{"allgather", mine.size()};
  const int myCount = counts[static_cast<std::size_t>(rank_)];
  const char* myPiece = myCount > 0 ? mine.data() + offset : nullptr;
  gatherPieces_.resize(static_cast<std::size_t>(total));
  MPI_Request request = MPI_REQUEST_NULL;
  check(MPI_Iallgatherv(myPiece, myCount, MPI_BYTE, gatherPieces_.data(), counts.data(),
                        starts.data(), MPI_BYTE, communicator_, &request),
        operation);
  wait(request, operation);
  for (std::size_t rank = 0; rank < gathered.size(); ++rank) {
    gathered[rank].append(gatherPieces_, static_cast<std::size_t>(starts[rank]),
                          static_cast<std::size_t>(counts[rank]));
  }
}

void MpiCommunicator::barrier() {
  const Operation operation{"barrier", 0};
  checkUsable(operation);
  MPI_Request request = MPI_REQUEST_NULL;
  check(MPI_Ibarrier(communicator_, &request), operation);
  wait(request, operation);
}

}  // namespace steptape
