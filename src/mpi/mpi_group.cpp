// SPDX-License-Identifier: Apache-2.0
#include "mpi/mpi_group.h"

#include <algorithm>
#include <array>
#include <memory>
#include <numeric>
#include <sstream>
#include <type_traits>
#include <utility>

#include "steptape/base/error.h"

#include "comm/poll_pause.h"
#include "mpi/compared_message.h"
#include "mpi/job_state.h"

namespace steptape::mpi::detail {
namespace {

constexpr int kMomentsDoubles = 6;
static_assert(std::is_standard_layout_v<MetricMoments> &&
                  sizeof(MetricMoments) == kMomentsDoubles * sizeof(double),
              "MetricMoments travels as contiguous doubles");

/// The MPI_User_function, which must not throw; merge() does not throw.
void mergeMoments(void* from, void* into, int* count, MPI_Datatype* /*type*/) {
  const auto* source = static_cast<const MetricMoments*>(from);
  auto* target = static_cast<MetricMoments*>(into);
  for (int i = 0; i < *count; ++i) {
    target[i].merge(source[i]);
  }
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

void checkSetup(int result, const std::string& what) {
  if (result != MPI_SUCCESS) {
    throw Error(ErrorCode::kIoError, what + " failed: " + mpiText(result));
  }
}

}  // namespace

void waitFor(MPI_Request& request, const std::string& what, std::chrono::milliseconds timeout) {
  steptape::detail::PollPause pause(timeout);
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
      markStuck(message.str());
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

MpiGroup::MpiGroup(MPI_Comm data, GroupMap map, const MpiCommunicatorOptions& options)
    : data_(data), map_(std::move(map)), maxCount_(options.maxCount) {
  comparisons_ = duplicate(data_, options.timeout);
  reports_ = duplicate(data_, options.timeout);
  MPI_Type_contiguous(static_cast<int>(ComparedMessage::kBytes), MPI_BYTE, &comparisonType_);
  MPI_Type_commit(&comparisonType_);
  MPI_Op_create(&ComparedMessage::combine, /*commute=*/1, &comparisonOp_);
  MPI_Type_contiguous(kMomentsDoubles, MPI_DOUBLE, &momentsType_);
  MPI_Type_commit(&momentsType_);
  MPI_Op_create(&mergeMoments, /*commute=*/1, &momentsOp_);
}

MpiGroup::~MpiGroup() {
  // Freeing handles that an unfinished operation uses may block, so that is left to the end of the
  // process.
  if (isBroken() || !isMpiRunning()) {
    return;
  }
  MPI_Op_free(&momentsOp_);
  MPI_Type_free(&momentsType_);
  MPI_Op_free(&comparisonOp_);
  MPI_Type_free(&comparisonType_);
  MPI_Comm_free(&reports_);
  MPI_Comm_free(&comparisons_);
  MPI_Comm_free(&data_);
}

void MpiGroup::checkUsable(const CollectiveCall& call) const {
  if (isBroken()) {
    throw Error(ErrorCode::kFailedPrecondition,
                call.describe() + ": the communicator is out of step since " + brokenBecause_);
  }
  if (!isMpiRunning()) {
    requireMpi(call.describe().c_str());
  }
}

void MpiGroup::check(int mpiResult, const CollectiveCall& call) {
  if (mpiResult == MPI_SUCCESS) {
    return;
  }
  markBroken(call.describe() + " failed on " + map_.nameOf(map_.rank()) + ": " +
             mpiText(mpiResult));
  if (tellsUnequalSizes(mpiResult)) {
    throw Error(ErrorCode::kRankMismatch, brokenBecause_ + "; the ranks passed different sizes");
  }
  throw Error(ErrorCode::kIoError, brokenBecause_);
}

void MpiGroup::markBroken(const std::string& why) {
  if (!isBroken()) {
    brokenBecause_ = why;
    markStuck(why);
  }
}

}  // namespace steptape::mpi::detail
