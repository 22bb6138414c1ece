// SPDX-License-Identifier: Apache-2.0
#include <string>

#include "steptape/metrics/distributed_writer.h"

#include "base/got_expected.h"
#include "c/arguments.h"
#include "c/writer_slots.h"

namespace steptape::detail::c {
namespace {

/// @throws Error(kFailedPrecondition) for the run of one process.
DistributedWriter& jobOf(const char* function, OpenRun* run) {
  if (run->job() == nullptr) {
    throw Error(ErrorCode::kFailedPrecondition,
                std::string(function) + ": " +
                    base::gotExpected("a writer of steptape_open()",
                                      "one of steptape_open_job() or steptape_open_mpi()"));
  }
  return *run->job();
}

ReducedOptions reducedOptions(const char* function, const steptape_reduced_options* given) {
  const steptape_reduced_options known = optionsOf(function, given);
  ReducedOptions options;
  options.weight = known.has_weight != 0 ? known.weight : 1;
  options.min = known.minimum != 0;
  options.max = known.maximum != 0;
  options.std = known.deviation != 0;
  options.argmaxRank = known.slowest != 0;
  options.sum = known.sum != 0;
  options.perRankHistogram = known.histogram != 0;
  options.band = known.band != 0;
  return options;
}

}  // namespace
}  // namespace steptape::detail::c

namespace impl = steptape::detail::c;

extern "C" {

steptape_status steptape_add_reduced(steptape_writer* writer, const char* tag, double value,
                                     int64_t step, const steptape_reduced_options* options) {
  constexpr const char* kFunction = "steptape_add_reduced";
  return impl::callRun(kFunction, writer, [&](impl::OpenRun& run) {
    steptape::DistributedWriter& job = impl::jobOf(kFunction, &run);
    job.addReduced(impl::textOf({kFunction, "tag"}, tag), value, step,
                   impl::reducedOptions(kFunction, options));
  });
}

steptape_status steptape_reduce(steptape_writer* writer, int64_t step) {
  constexpr const char* kFunction = "steptape_reduce";
  return impl::callRun(kFunction, writer,
                       [&](impl::OpenRun& run) { impl::jobOf(kFunction, &run).reduce(step); });
}

}  // extern "C"
