// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include "steptape/base/status.h"
#include "steptape/log/writer_options.h"
#include "steptape/metrics/distributed_writer.h"
#include "steptape/ranks/communicator.h"

#include "base/got_expected.h"
#include "c/arguments.h"
#include "c/caller_ranks.h"
#include "c/calls.h"
#include "c/writer_slots.h"
#include "ranks/communicator/launch.h"
#include "ranks/engine/transport.h"

namespace steptape::detail::c {
namespace {

constexpr const char* kOpen = "steptape_open";
constexpr const char* kOpenJob = "steptape_open_job";

/// Returns the enumerator of a C++ enum that has the same values.
template <typename To>
To enumOf(Argument argument, int value, int most) {
  if (value < 0 || value > most) {
    argument.reject(std::to_string(value), "0 to " + std::to_string(most));
  }
  return static_cast<To>(value);
}

/// Sets `*time` to a number of the caller's, unless that is 0.
void setTime(Argument argument, std::int64_t given, std::chrono::milliseconds* time) {
  constexpr std::int64_t kMost = 1'000'000'000'000;  // it is added to times in nanoseconds
  if (given < 0) {
    argument.reject(std::to_string(given), "0 or more");
  }
  if (given > 0) {
    *time = std::chrono::milliseconds(std::min(given, kMost));
  }
}

WriterOptions writerOptions(const char* function, const steptape_open_options& known) {
  WriterOptions options;
  options.overflow = enumOf<OverflowPolicy>(
      {function, "options->overflow"}, numberIn(known.overflow), STEPTAPE_OVERFLOW_DROP_OLDEST);
  options.occupied = enumOf<OccupiedRun>({function, "options->occupied"}, numberIn(known.occupied),
                                         STEPTAPE_OCCUPIED_SHARE);
  options.valueForm = enumOf<ValueForm>({function, "options->value_form"},
                                        numberIn(known.value_form), STEPTAPE_FORM_TENSOR);
  options.comment = optionalText({function, "options->comment"}, known.comment);
  options.filenameSuffix =
      optionalText({function, "options->filename_suffix"}, known.filename_suffix);
  if (known.has_purge_step != 0) {
    options.purgeStep = known.purge_step;
  }
  if (known.flush_milliseconds != 0) {
    options.flushPeriod = std::chrono::milliseconds(known.flush_milliseconds);
  }
  options.mirror = optionalText({function, "options->mirror"}, known.mirror);
  setTime({function, "options->mirror_milliseconds"}, known.mirror_milliseconds,
          &options.mirrorPeriod);
  setTime({function, "options->mirror_timeout_milliseconds"}, known.mirror_timeout_milliseconds,
          &options.mirrorTimeout);
  if (known.queue_bytes != 0) {
    options.queueBytes = known.queue_bytes;
  }
  options.enabled = known.disabled == 0;
  if (known.on_error != nullptr) {
    options.onError = [handler = known.on_error,
                       context = known.on_error_context](const Status& status) {
      handler(context, statusOf(status.code()), status.message().c_str());
    };
  }
  return options;
}

static_assert(static_cast<int>(OverflowPolicy::kDropNewest) == STEPTAPE_OVERFLOW_DROP_NEWEST &&
              static_cast<int>(OverflowPolicy::kDropOldest) == STEPTAPE_OVERFLOW_DROP_OLDEST &&
              static_cast<int>(OccupiedRun::kNewDirectory) == STEPTAPE_OCCUPIED_NEW_DIRECTORY &&
              static_cast<int>(OccupiedRun::kShare) == STEPTAPE_OCCUPIED_SHARE &&
              static_cast<int>(ValueForm::kTensor) == STEPTAPE_FORM_TENSOR);

steptape_ranks ranksOf(const char* function, const steptape_open_options& known) {
  return enumOf<steptape_ranks>({function, "options->ranks"}, numberIn(known.ranks),
                                STEPTAPE_RANKS_ALL);
}

std::unique_ptr<OpenRun> openRun(const char* run, const steptape_open_options* given) {
  const steptape_open_options known = optionsOf(kOpen, given);
  WriterOptions options = writerOptions(kOpen, known);
  std::string directory = optionalText({kOpen, "run"}, run);
  const auto ranks = ranksOf(kOpen, known);
  if (ranks != STEPTAPE_RANKS_ALL) {
    const ranks::Launch launch = ranks::findLaunch({/*hasMpi=*/true, /*hasStore=*/true});
    if (ranks == STEPTAPE_RANKS_ROOT) {
      options.enabled = options.enabled && launch.rank == 0;
    } else if (launch.size > 1) {
      if (directory.empty()) {
        Argument{kOpen, "run"}.reject("NULL with STEPTAPE_RANKS_EACH",
                                      "the directory of the job's run, equal on all ranks");
      }
      const std::string name = '/' + rankRunName(launch.rank);
      directory += name;
      options.mirror += options.mirror.empty() ? "" : name;
    }
  }
  return std::make_unique<OpenRun>(directory.empty()
                                       ? SummaryWriter(std::move(options))
                                       : SummaryWriter(std::move(directory), std::move(options)));
}

/// Returns the caller's ranks, whose context is released from now on.
std::shared_ptr<const CallerRanks> callersRanks(const steptape_communicator* given) {
  const Argument argument{kOpenJob, "communicator"};
  if (given == nullptr) {
    argument.reject("NULL", "a steptape_communicator");
  }
  steptape_communicator calls{};
  copyOptions(argument, given, &calls, sizeof calls);
  const auto job = std::make_shared<const CallerRanks>(calls);
  if (calls.start_gather == nullptr || calls.test == nullptr) {
    argument.reject("no start_gather or no test", "both functions");
  }
  if (calls.ranks < 1 || calls.rank < 0 || calls.rank >= calls.ranks) {
    argument.reject(
        "rank " + std::to_string(calls.rank) + " of " + std::to_string(calls.ranks) + " ranks",
        "0 to ranks - 1");
  }
  if (!job->isUsable()) {
    throw Error(ErrorCode::kFailedPrecondition,
                std::string(kOpenJob) + ": " +
                    base::gotExpected("ranks that cannot communicate",
                                      "a call between MPI_Init() and MPI_Finalize()"));
  }
  return job;
}

std::unique_ptr<OpenRun> openJob(const char* run, const steptape_open_options* given,
                                 const std::shared_ptr<const CallerRanks>& job) {
  const steptape_open_options known = optionsOf(kOpenJob, given);
  DistributedWriterOptions options;
  options.writer = writerOptions(kOpenJob, known);
  if (ranksOf(kOpenJob, known) == STEPTAPE_RANKS_EACH) {
    options.rankPolicy = RankPolicy::kPerRank;
  }
  std::string directory(textOf({kOpenJob, "run"}, run));
  std::shared_ptr<Communicator> communicator = std::make_shared<Communicator>();
  if (job->ranks() > 1) {
    try {
      communicator = std::make_shared<ranks::GatherCommunicator>(job);
    } catch (const ranks::TransportFailure& failure) {
      throw Error(failure.code(), std::string(kOpenJob) + ": " + failure.what());
    }
  }
  return std::make_unique<OpenRun>(
      DistributedWriter(std::move(directory), std::move(communicator), std::move(options)));
}

}  // namespace
}  // namespace steptape::detail::c

namespace impl = steptape::detail::c;

extern "C" {

steptape_status steptape_open(const char* run, const steptape_open_options* options,
                              steptape_writer** writer) {
  return impl::call(impl::kOpen, [&] {
    impl::checkList({impl::kOpen, "writer"}, writer, 1);
    *writer = nullptr;
    *writer = impl::makeSlot(impl::openRun(run, options));
  });
}

const char* steptape_run(steptape_writer* writer) {
  const steptape::SummaryWriter* const open = impl::writerOf(writer);
  return open == nullptr ? "" : open->logDir().c_str();
}

steptape_status steptape_open_job(const char* run, const steptape_open_options* options,
                                  const steptape_communicator* communicator,
                                  steptape_writer** writer) {
  return impl::call(impl::kOpenJob, [&] {
    // First, so that the context is released whatever is wrong.
    const auto job = impl::callersRanks(communicator);
    impl::checkList({impl::kOpenJob, "writer"}, writer, 1);
    *writer = nullptr;
    *writer = impl::makeSlot(impl::openJob(run, options, job));
  });
}

steptape_status steptape_flush(steptape_writer* writer) {
  return impl::callRun("steptape_flush", writer,
                       [](impl::OpenRun& run) { run.flush().throwIfError(); });
}

steptape_status steptape_close(steptape_writer* writer) {
  if (writer == nullptr) {
    return STEPTAPE_OK;
  }
  const std::unique_ptr<impl::OpenRun> run = impl::takeFrom(writer);
  return run == nullptr ? impl::failForWriter("steptape_close", writer)
                        : impl::call("steptape_close", [&] { run->close().throwIfError(); });
}

steptape_status steptape_resume(steptape_writer* writer, int64_t step) {
  return impl::callOpen("steptape_resume", writer,
                        [&](steptape::SummaryWriter& open) { open.resume(step); });
}

}  // extern "C"
