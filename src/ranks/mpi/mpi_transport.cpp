// SPDX-License-Identifier: Apache-2.0
#include "ranks/mpi/mpi_transport.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <memory>
#include <numeric>
#include <sstream>
#include <type_traits>
#include <utility>

#include "steptape/base/status.h"

#include "base/element.h"
#include "ranks/communicator/element_reduction.h"
#include "ranks/communicator/poll_pause.h"
#include "ranks/engine/stuck.h"
#include "ranks/mpi/job_state.h"

namespace steptape::mpi::detail {
namespace {

using steptape::detail::ranks::CollectiveKind;
using steptape::detail::ranks::TransportFailure;

constexpr int kNoteTag = 1;
constexpr int kMomentsDoubles = 6;
static_assert(std::is_standard_layout_v<MetricMoments> &&
                  sizeof(MetricMoments) == kMomentsDoubles * sizeof(double),
              "MetricMoments travels as contiguous doubles");

/// The MPI_User_functions, which must not throw; the two merge() do not throw.
void mergeMoments(void* from, void* into, int* count, MPI_Datatype* /*type*/) {
  const auto* source = static_cast<const MetricMoments*>(from);
  auto* target = static_cast<MetricMoments*>(into);
  for (int i = 0; i < *count; ++i) {
    target[i].merge(source[i]);
  }
}

/// MPI_MIN and MPI_MAX keep a NaN or lose it by its place: ranks may get different results.
template <ReduceOp kOp>
void combineFloats(void* from, void* into, int* count, MPI_Datatype* type) {
  const std::array<const void*, 2> parts{from, into};
  steptape::detail::ranks::reduceElements(parts, static_cast<std::size_t>(*count),
                                          *type == MPI_DOUBLE ? DType::kFloat64 : DType::kFloat32,
                                          kOp, into);
}

void mergeMessages(void* from, void* into, int* count, MPI_Datatype* /*type*/) {
  const auto* source = static_cast<const ComparedMessage*>(from);
  auto* target = static_cast<ComparedMessage*>(into);
  for (int i = 0; i < *count; ++i) {
    target[i].merge(source[i]);
  }
}

/// @throws TransportFailure unless `result` is a success.
void check(int result) {
  if (result == MPI_SUCCESS) {
    return;
  }
  int errorClass = MPI_SUCCESS;
  MPI_Error_class(result, &errorClass);
  if (errorClass == MPI_ERR_TRUNCATE) {
    throw TransportFailure(ErrorCode::kRankMismatch,
                           errorText(result) + "; the ranks passed different sizes");
  }
  throw TransportFailure(ErrorCode::kIoError, errorText(result));
}

void checkSetup(int result, const std::string& what) {
  if (result != MPI_SUCCESS) {
    throw Error(ErrorCode::kIoError, what + " failed: " + errorText(result));
  }
}

static_assert(sizeof(MPI_Request) <= sizeof(Transfer), "a Transfer holds a request");

/// Starts an operation by `call`, which sets the request that it is given.
template <typename Call>
Transfer started(const Call& call) {
  MPI_Request request = MPI_REQUEST_NULL;
  check(call(&request));
  Transfer transfer = 0;
  if (request != MPI_REQUEST_NULL) {
    std::memcpy(&transfer, &request, sizeof(MPI_Request));
  }
  return transfer;
}

MPI_Datatype mpiType(DType dtype) {
  switch (dtype) {
    case DType::kBool:
      return MPI_C_BOOL;
    case DType::kUInt8:
      return MPI_UINT8_T;
    case DType::kInt8:
      return MPI_INT8_T;
    case DType::kUInt16:
      return MPI_UINT16_T;
    case DType::kInt16:
      return MPI_INT16_T;
    case DType::kUInt32:
      return MPI_UINT32_T;
    case DType::kInt32:
      return MPI_INT32_T;
    case DType::kUInt64:
      return MPI_UINT64_T;
    case DType::kInt64:
      return MPI_INT64_T;
    case DType::kFloat32:
      return MPI_FLOAT;
    case DType::kFloat64:
      return MPI_DOUBLE;
    case DType::kFloat16:
    case DType::kBFloat16:
      break;  // no MPI type: see canReduce()
  }
  return MPI_DATATYPE_NULL;
}

MPI_Op mpiOp(ReduceOp op, DType dtype) {
  const bool isBool = dtype == DType::kBool;
  switch (op) {
    case ReduceOp::kMin:
      return isBool ? MPI_LAND : MPI_MIN;
    case ReduceOp::kMax:
      return isBool ? MPI_LOR : MPI_MAX;
    case ReduceOp::kProduct:
      return isBool ? MPI_LAND : MPI_PROD;
    case ReduceOp::kSum:
    case ReduceOp::kAverage:
      break;
  }
  return isBool ? MPI_LOR : MPI_SUM;
}

}  // namespace

std::string errorText(int result) {
  std::array<char, MPI_MAX_ERROR_STRING> text{};
  int length = 0;
  MPI_Error_string(result, text.data(), &length);
  return std::string(text.data(), static_cast<std::size_t>(length));
}

void waitFor(MPI_Request& request, const std::string& what, std::chrono::milliseconds timeout) {
  steptape::detail::ranks::PollPause pause(timeout);
  int isDone = 0;
  while (true) {
    checkSetup(MPI_Test(&request, &isDone, MPI_STATUS_IGNORE), what);
    if (isDone != 0) {
      return;
    }
    if (!pause.next()) {
      std::ostringstream message;
      message << what << " did not end within " << std::chrono::duration<double>(timeout).count()
              << " s; another rank has ended, hangs or is in another operation";
      steptape::detail::ranks::markStuck(message.str());
      throw Error(ErrorCode::kDeadlineExceeded, message.str());
    }
  }
}

MPI_Comm duplicate(MPI_Comm parent, std::chrono::milliseconds timeout) {
  auto copy = std::make_unique<MPI_Comm>(MPI_COMM_NULL);
  MPI_Request request = MPI_REQUEST_NULL;
  checkSetup(MPI_Comm_idup(parent, copy.get(), &request), "MPI_Comm_idup");
  try {
    waitFor(request, "MPI_Comm_idup", timeout);
  } catch (const Error&) {
    static_cast<void>(copy.release());  // MPI may still write to it
    throw;
  }
  MPI_Comm_set_errhandler(*copy, MPI_ERRORS_RETURN);
  return *copy;
}

std::vector<int> worldRanksOf(MPI_Comm communicator) {
  MPI_Group group = MPI_GROUP_NULL;
  MPI_Group world = MPI_GROUP_NULL;
  MPI_Comm_group(communicator, &group);
  MPI_Comm_group(MPI_COMM_WORLD, &world);
  int size = 0;
  MPI_Group_size(group, &size);
  std::vector<int> ranks(static_cast<std::size_t>(size));
  std::iota(ranks.begin(), ranks.end(), 0);
  std::vector<int> worldRanks(ranks.size(), MPI_UNDEFINED);
  MPI_Group_translate_ranks(group, size, ranks.data(), world, worldRanks.data());
  MPI_Group_free(&world);
  MPI_Group_free(&group);
  const bool isForeign =
      std::find(worldRanks.begin(), worldRanks.end(), MPI_UNDEFINED) != worldRanks.end();
  return isForeign ? std::vector<int>() : worldRanks;
}

MpiTransport::MpiTransport(MPI_Comm data, GroupMap map, const MpiCommunicatorOptions& options)
    : Transport(std::move(map), static_cast<std::size_t>(options.maxCount)), data_(data) {
  comparisons_ = duplicate(data_, options.timeout);
  reports_ = duplicate(data_, options.timeout);
  MPI_Type_contiguous(static_cast<int>(ComparedMessage::kBytes), MPI_BYTE, &comparisonType_);
  MPI_Type_commit(&comparisonType_);
  MPI_Op_create(&mergeMessages, /*commute=*/1, &comparisonOp_);
  MPI_Type_contiguous(kMomentsDoubles, MPI_DOUBLE, &momentsType_);
  MPI_Type_commit(&momentsType_);
  MPI_Op_create(&mergeMoments, /*commute=*/1, &momentsOp_);
  MPI_Op_create(&combineFloats<ReduceOp::kMin>, /*commute=*/1, &floatMinOp_);
  MPI_Op_create(&combineFloats<ReduceOp::kMax>, /*commute=*/1, &floatMaxOp_);
}

MpiTransport::~MpiTransport() {
  // Freeing handles that an unfinished operation uses may block, so that is left to the end of the
  // process.
  if (isBroken() || !isMpiRunning()) {
    for (std::unique_ptr<SentNote>& sent : sentNotes_) {
      static_cast<void>(sent.release());
    }
    return;
  }
  forgetTakenNotes();
  for (std::unique_ptr<SentNote>& sent : sentNotes_) {
    static_cast<void>(sent.release());  // MPI still reads it: a rank has not received its note
  }
  MPI_Op_free(&floatMaxOp_);
  MPI_Op_free(&floatMinOp_);
  MPI_Op_free(&momentsOp_);
  MPI_Type_free(&momentsType_);
  MPI_Op_free(&comparisonOp_);
  MPI_Type_free(&comparisonType_);
  MPI_Comm_free(&reports_);
  MPI_Comm_free(&comparisons_);
  MPI_Comm_free(&data_);
}

Transfer MpiTransport::compare(ComparedMessage& message) {
  return started([&](MPI_Request* request) {
    return MPI_Iallreduce(MPI_IN_PLACE, &message, 1, comparisonType_, comparisonOp_, comparisons_,
                          request);
  });
}

Transfer MpiTransport::gatherReports(char* all, std::size_t bytesPerRank) {
  return started([&](MPI_Request* request) {
    return MPI_Iallgather(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, all, static_cast<int>(bytesPerRank),
                          MPI_BYTE, reports_, request);
  });
}

Transfer MpiTransport::barrier() {
  return started([&](MPI_Request* request) { return MPI_Ibarrier(data_, request); });
}

Transfer MpiTransport::broadcast(void* data, std::size_t bytes, int root) {
  return started([&](MPI_Request* request) {
    return MPI_Ibcast(data, static_cast<int>(bytes), MPI_BYTE, root, data_, request);
  });
}

Transfer MpiTransport::allgather(void* all, std::size_t bytesPerRank) {
  return started([&](MPI_Request* request) {
    return MPI_Iallgather(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, all, static_cast<int>(bytesPerRank),
                          MPI_BYTE, data_, request);
  });
}

Transfer MpiTransport::allgatherv(void* all, const RankParts& parts) {
  return started([&](MPI_Request* request) {
    return MPI_Iallgatherv(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, all, parts.counts.data(),
                           parts.starts.data(), MPI_BYTE, data_, request);
  });
}

Transfer MpiTransport::gatherv(const void* mine, std::size_t bytes, int root, void* all,
                               const RankParts& parts) {
  return started([&](MPI_Request* request) {
    return MPI_Igatherv(mine, static_cast<int>(bytes), MPI_BYTE, all, parts.counts.data(),
                        parts.starts.data(), MPI_BYTE, root, data_, request);
  });
}

Transfer MpiTransport::alltoallv(const void* from, const RankParts& sent, void* to,
                                 const RankParts& received) {
  return started([&](MPI_Request* request) {
    return MPI_Ialltoallv(from, sent.counts.data(), sent.starts.data(), MPI_BYTE, to,
                          received.counts.data(), received.starts.data(), MPI_BYTE, data_, request);
  });
}

MpiTransport::ElementType MpiTransport::elementTypeOf(const CollectiveCall& call) const {
  if (call.kind == CollectiveKind::kAllreduceMoments) {
    return {momentsType_, momentsOp_};
  }
  const MPI_Datatype type = mpiType(call.dtype);
  if (steptape::detail::base::isFloatingPoint(call.dtype) && call.op == ReduceOp::kMin) {
    return {type, floatMinOp_};
  }
  if (steptape::detail::base::isFloatingPoint(call.dtype) && call.op == ReduceOp::kMax) {
    return {type, floatMaxOp_};
  }
  return {type, mpiOp(call.op, call.dtype)};
}

bool MpiTransport::canReduce(const CollectiveCall& call) const {
  if (steptape::detail::ranks::isReducedInFloat32(call.dtype)) {
    return false;
  }
  return call.kind != CollectiveKind::kReduceScatter || call.inputCount <= maxCount();
}

Transfer MpiTransport::allreduce(const CollectiveCall& call, std::size_t offset,
                                 std::size_t count) {
  const ElementType element = elementTypeOf(call);
  const std::size_t at = offset * steptape::detail::ranks::elementBytes(call);
  const void* from =
      call.input == nullptr ? MPI_IN_PLACE : static_cast<const char*>(call.input) + at;
  return started([&](MPI_Request* request) {
    return MPI_Iallreduce(from, static_cast<char*>(call.output) + at, static_cast<int>(count),
                          element.type, element.op, data_, request);
  });
}

Transfer MpiTransport::reduceScatter(const CollectiveCall& call, const std::vector<int>& counts) {
  const ElementType element = elementTypeOf(call);
  return started([&](MPI_Request* request) {
    return MPI_Ireduce_scatter(call.input, call.output, counts.data(), element.type, element.op,
                               data_, request);
  });
}

bool MpiTransport::hasEnded(Transfer& transfer) {
  MPI_Request request = MPI_REQUEST_NULL;
  std::memcpy(&request, &transfer, sizeof(MPI_Request));
  int isDone = 0;
  check(MPI_Test(&request, &isDone, MPI_STATUS_IGNORE));
  if (isDone != 0) {
    transfer = 0;
  }
  return isDone != 0;
}

void MpiTransport::postNote(const StallNote& note) {
  forgetTakenNotes();
  auto sent = std::make_unique<SentNote>();
  sent->note = note;
  for (int rank = 0; rank < map().size(); ++rank) {
    if (rank != map().rank()) {
      check(MPI_Isend(&sent->note, sizeof sent->note, MPI_BYTE, rank, kNoteTag, reports_,
                      &sent->requests.emplace_back()));
    }
  }
  sentNotes_.push_back(std::move(sent));
}

void MpiTransport::forgetTakenNotes() {
  const auto haveAllTaken = [](const std::unique_ptr<SentNote>& sent) {
    int haveAll = 0;
    MPI_Testall(static_cast<int>(sent->requests.size()), sent->requests.data(), &haveAll,
                MPI_STATUSES_IGNORE);
    return haveAll != 0;
  };
  sentNotes_.erase(std::remove_if(sentNotes_.begin(), sentNotes_.end(), haveAllTaken),
                   sentNotes_.end());
}

bool MpiTransport::takeNote(int& rank, StallNote& note) {
  int isThere = 0;
  MPI_Status status;
  check(MPI_Iprobe(MPI_ANY_SOURCE, kNoteTag, reports_, &isThere, &status));
  if (isThere == 0) {
    return false;
  }
  check(MPI_Recv(&note, sizeof note, MPI_BYTE, status.MPI_SOURCE, kNoteTag, reports_,
                 MPI_STATUS_IGNORE));
  rank = status.MPI_SOURCE;
  return true;
}

bool MpiTransport::enter() {
  return beginMpiUse();
}

void MpiTransport::leave() {
  endMpiUse();
}

std::string MpiTransport::endedBecause() const {
  return "MPI was finalized";
}

std::string MpiTransport::unusableBecause() const {
  return noMpiBecause();
}

void MpiTransport::noteBroken(const std::string& why) {
  steptape::detail::ranks::markStuck(why);
}

std::string MpiTransport::lostBecause() {
  return steptape::detail::ranks::stuckBecause();
}

}  // namespace steptape::mpi::detail
