// SPDX-License-Identifier: Apache-2.0
#include "log/writer/box_names.h"

#include <algorithm>
#include <chrono>

#include "log/writer/box_records.h"

namespace steptape::detail::log {

void BoxNames::addRun(RunStreams* run, const DirectoryPlace& place) {
  const KnownRun& known =
      runs_.emplace_back(KnownRun{&run->context(), ++lastRun_, place.directory});
  if (!log_.isOpen()) {
    return;
  }
  NamedRun named;
  named.id = known.number;
  named.directory = place.directory;
  named.identity = place.identity;
  log_.addName(named);
  addStream(known, *run->mainStream());
}

void BoxNames::removeRun(const RunStreams* run) noexcept {
  const auto isRun = [run](const KnownRun& known) { return known.context == &run->context(); };
  runs_.erase(std::remove_if(runs_.begin(), runs_.end(), isRun), runs_.end());
}

void BoxNames::addStream(const KnownRun& run, const EventStream& stream) {
  if (!streams_.insert(stream.log().number()).second) {
    return;
  }
  const WriterOptions& options = run.context->options();
  NamedStream named;
  named.id = stream.log().number();
  named.run = run.number;
  named.directory = run.directory + stream.directory().substr(run.context->directory().size());
  named.fileSuffix = options.filenameSuffix;
  named.purgeFrom = options.purgeStep;
  named.coalesceSeconds = std::chrono::duration<double>(options.coalesceWindow).count();
  log_.addName(named);
}

void BoxNames::addSeries(std::uint32_t id, const RegisteredSeries& series) {
  if (!log_.isOpen()) {
    return;
  }
  for (const KnownRun& run : runs_) {
    if (run.context == &series.stream->context()) {
      addStream(run, *series.stream);
    }
  }
  log_.addName(NamedSeries{id, series.stream->log().number(), series.series.tag,
                           series.series.metadata.displayName, series.series.metadata.description,
                           series.form});
}

}  // namespace steptape::detail::log
