// SPDX-License-Identifier: Apache-2.0
#include <chrono>
#include <memory>
#include <string>
#include <utility>

#include "steptape/log/writer_options.h"
#include "steptape/metrics/distributed_writer.h"

#include "c/arguments.h"
#include "c/calls.h"
#include "c/writer_slots.h"
#include "ranks/communicator/launch.h"

namespace steptape::detail::c {
namespace {

constexpr const char* kOpen = "steptape_open";

/// Returns the enumerator of a C++ enum that has the same values.
template <typename To>
To enumOf(const char* name, int value, int most) {
  if (value < 0 || value > most) {
    Argument{kOpen, name}.reject(std::to_string(value), "0 to " + std::to_string(most));
  }
  return static_cast<To>(value);
}

WriterOptions writerOptions(const steptape_open_options& known) {
  WriterOptions options;
  options.overflow =
      enumOf<OverflowPolicy>("options->overflow", known.overflow, STEPTAPE_OVERFLOW_DROP_OLDEST);
  options.occupied =
      enumOf<OccupiedRun>("options->occupied", known.occupied, STEPTAPE_OCCUPIED_SHARE);
  options.valueForm =
      enumOf<ValueForm>("options->value_form", known.value_form, STEPTAPE_FORM_TENSOR);
  options.comment = optionalText({kOpen, "options->comment"}, known.comment);
  options.filenameSuffix = optionalText({kOpen, "options->filename_suffix"}, known.filename_suffix);
  if (known.has_purge_step != 0) {
    options.purgeStep = known.purge_step;
  }
  if (known.flush_milliseconds != 0) {
    options.flushPeriod = std::chrono::milliseconds(known.flush_milliseconds);
  }
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

std::unique_ptr<SummaryWriter> openRun(const char* run, const steptape_open_options* given) {
  const steptape_open_options known = optionsOf(kOpen, given);
  WriterOptions options = writerOptions(known);
  std::string directory = optionalText({kOpen, "run"}, run);
  const auto ranks = enumOf<steptape_ranks>("options->ranks", known.ranks, STEPTAPE_RANKS_ALL);
  if (ranks != STEPTAPE_RANKS_ALL) {
    const ranks::Launch launch = ranks::findLaunch({/*hasMpi=*/true, /*hasStore=*/true});
    if (ranks == STEPTAPE_RANKS_ROOT) {
      options.enabled = options.enabled && launch.rank == 0;
    } else if (launch.size > 1) {
      if (directory.empty()) {
        Argument{kOpen, "run"}.reject("NULL with STEPTAPE_RANKS_EACH",
                                      "the directory of the job's run, equal on all ranks");
      }
      directory += "/" + rankRunName(launch.rank);
    }
  }
  return directory.empty()
             ? std::make_unique<SummaryWriter>(std::move(options))
             : std::make_unique<SummaryWriter>(std::move(directory), std::move(options));
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

steptape_status steptape_flush(steptape_writer* writer) {
  return impl::callOpen("steptape_flush", writer,
                        [](steptape::SummaryWriter& open) { open.flush().throwIfError(); });
}

steptape_status steptape_close(steptape_writer* writer) {
  if (writer == nullptr) {
    return STEPTAPE_OK;
  }
  const std::unique_ptr<steptape::SummaryWriter> open = impl::takeFrom(writer);
  return open == nullptr ? impl::failForWriter("steptape_close", writer)
                         : impl::call("steptape_close", [&] { open->close().throwIfError(); });
}

steptape_status steptape_resume(steptape_writer* writer, int64_t step) {
  return impl::callOpen("steptape_resume", writer,
                        [&](steptape::SummaryWriter& open) { open.resume(step); });
}

}  // extern "C"
