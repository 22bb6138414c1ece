// SPDX-License-Identifier: Apache-2.0
#include "log/writer/event_stream.h"

#include <limits>
#include <list>
#include <system_error>
#include <utility>
#include <variant>

#include "log/writer/file_head.h"

namespace steptape::detail::log {

namespace {

/// @return null if the run's curves are not judged.
std::unique_ptr<CurveJudge> makeJudge(RunContext* run, const std::string& directory) {
  if (!run->judgesCurves()) {
    return nullptr;
  }
  const std::size_t rest = run->directory().size() + 1;  // with the slash
  return std::make_unique<CurveJudge>(run,
                                      directory.size() > rest ? directory.substr(rest) + "/" : "");
}

}  // namespace

EventStream::EventStream(RunContext* context, std::string directory, OpenFiles* openFiles,
                         KillProofLog* log)
    : context_(context),
      directory_(std::move(directory)),
      openFiles_(openFiles),
      purgeFrom_(context->options().purgeStep),
      tags_(context, directory_),
      event_(std::chrono::duration<double>(context->options().coalesceWindow).count()),
      log_(log, &file_, &pending_, &event_),
      judge_(makeJudge(context, directory_)) {}

Status EventStream::create(double wallTime) {
  if (!file_.created()) {
    if (Status claimed = context_->claim(); !claimed.ok()) {
      return claimed;
    }
    Status made = file_.create(directory_, wallTime, context_->options().filenameSuffix);
    if (!made.ok()) {
      return made;
    }
    head_.clear();
  }
  // A file without a complete first record is not readable.
  try {
    Status status = writeHead(wallTime);
    if (!status.ok()) {
      file_.finish();  // if it fails, the next call continues with this file
    }
    return status;
  } catch (...) {
    file_.finish();
    throw;
  }
}

Status EventStream::writeHead(double wallTime) {
  if (head_.empty()) {
    const std::int64_t purgeFrom =
        purgeFrom_.value_or(file_.followsOthers() ? std::numeric_limits<std::int64_t>::max() : 0);
    head_ = fileHead(wallTime, purgeFrom);
  }
  std::list<RunContext::File> made;
  made.push_back({file_.path(), directory_});
  Status status = file_.append(head_);
  if (!status.ok()) {
    return status;
  }
  // Only once: a file that continues this one must not purge what this process has logged.
  purgeFrom_.reset();
  fileBegan_ = std::chrono::steady_clock::now();
  descriptions_.beginFile();
  context_->noteFile(std::move(made));
  context_->counters().files.add(1);
  context_->counters().events.add(kHeadRecords);
  context_->counters().bytesWritten.add(head_.size());
  head_.clear();
  return {};
}

void EventStream::beginEvent(std::int64_t step, double wallTime, bool exact) {
  finishEvent();
  event_.begin(step, wallTime, exact);
}

void EventStream::describe(ScalarSeries* series) {
  tags_.noteScalars(series->tag);
  descriptions_.add(series);
}

void EventStream::addEvent(event::Event::What what, std::int64_t step, double wallTime,
                           bool exact) {
  finishEvent();
  event::Event event;
  event.wallTime = exact ? wallTime : event_.monotonic(wallTime);
  event.step = step;
  event.what = std::move(what);
  auto* const summary = std::get_if<event::Summary>(&event.what);
  const std::size_t values = summary != nullptr ? summary->values.size() : 1;
  tags_.noteValues(event);
  try {
    if (summary != nullptr) {
      descriptions_.addOnce(summary);
    }
    pending_.add(event, values);
  } catch (...) {
    if (summary != nullptr) {
      descriptions_.forget(*summary);
    }
    throw;
  }
  context_->counters().events.add(1);
  context_->counters().values.add(values);
}

void EventStream::addScalarAtLastStep(ScalarSeries* series, float value, std::int64_t step,
                                      double wallTime, bool exact) {
  const bool isFirst = series->lastStep == ScalarSeries::kNoStep;
  // Skips a repeated point: tensorboard-reducer rejects two points at one step, and the curve would
  // get a knee.
  if (isFirst || !isSameValue(value, series->lastValue)) {
    // The curve shall end with this value, so that readers may overwrite its last point.
    const std::int64_t last = std::exchange(series->lastStep, ScalarSeries::kNoStep);
    addScalar(series, value, isFirst ? step : last, wallTime, exact);
  }
}

void EventStream::loseScalar(ScalarSeries* series, const std::exception& error) noexcept {
  series->describedInFile = 0;  // the description may be lost with the event
  context_->losses().countLost(error, 1, 0);
}

void EventStream::resume(std::int64_t step, double wallTime) {
  tags_.noteResume();
  if (!file_.created() && pending_.bytes() == 0 && event_.size() == 0) {
    purgeFrom_ = step;
    return;
  }
  addEvent(event::SessionLog{event::SessionLog::Status::kStart, "", ""}, step, wallTime, false);
}

void EventStream::finishAged(double now) {
  if (event_.isAged(now)) {
    finishEvent();
  }
}

void EventStream::finishEvent() {
  const std::size_t scalars = event_.size();
  if (scalars == 0) {
    return;
  }
  pending_.addCurrent(&event_);
  context_->counters().events.add(1);
  context_->counters().scalars.add(scalars);
}

void EventStream::writeIfDue(TimePoint now) {
  if (judge_ != nullptr) {
    judge_->tell();
  }
  if (pending_.mustWait(now)) {
    if (pending_.isBufferLarge()) {
      pending_.seal();
    }
    updateBacklog();
    return;
  }
  const bool any = pending_.bytes() > 0 || event_.size() > 0;
  const bool due = pending_.bytes() >= PendingRecords::kChunkBytes ||
                   now - pending_.oldest() >= context_->options().flushPeriod;
  if (any && due) {
    // The failure is reported and the next attempt is scheduled.
    static_cast<void>(writeAll(now));
  }
}

Status EventStream::writeAll(TimePoint now) {
  finishEvent();
  if (pending_.bytes() == 0) {
    return {};
  }
  if (pending_.isFailing()) {
    context_->counters().retries.add(1);
  }
  Status status = ensureFile();
  if (status.ok()) {
    if (descriptions_.areLost()) {
      describeAgain();
    }
    log_.catchUp();
    status = pending_.writeTo(&file_, &context_->counters());
  }
  if (status.ok()) {
    pending_.noteSuccess();
    if (rotationDue(now)) {
      file_.finish();
    }
  } else if (pending_.noteFailure(now)) {
    context_->reporter().report(status);
  }
  updateBacklog();
  return status;
}

bool EventStream::rotationDue(TimePoint now) const {
  const WriterOptions& options = context_->options();
  const bool large =
      options.maxFileBytes > 0 && file_.size() >= static_cast<std::uint64_t>(options.maxFileBytes);
  const bool old = options.maxFileAge.count() > 0 && now - fileBegan_ >= options.maxFileAge;
  return large || old || (!options.mirror.empty() && isSegment(file_.size(), now - fileBegan_));
}

/// Returns whether a file has the size at which a mirror had better get a new one. A file that
/// grows evenly is sent again once a period, half of it each time: that may be half of its size,
/// and some KiB so that a slow run does not leave a file a minute.
bool EventStream::isSegment(std::uint64_t bytes, TimePoint::duration age) const {
  constexpr std::uint64_t kMostBytes = std::uint64_t{8} << 20;
  constexpr double kSlack = 64 << 10;
  const double periods = std::chrono::duration<double>(age) /
                         std::chrono::duration<double>(context_->options().mirrorPeriod);
  const auto size = static_cast<double>(bytes);
  return bytes >= kMostBytes || size * periods / 2 > size / 2 + kSlack;
}

Status EventStream::ensureFile() {
  file_.keepWithin(openFiles_);
  if (mustFinish_) {
    Status finished = finishClosed();
    if (!finished.ok()) {
      return finished;
    }
  }
  const bool deleted = file_.created() && file_.deleted();
  if (file_.created() && head_.empty() && !deleted) {
    return {};
  }
  if (deleted) {
    context_->reporter().report(
        {ErrorCode::kIoError, file_.path() +
                                  " was deleted while the run was being written; its data is "
                                  "lost, and the run continues in a new file"});
    file_.abandon();
  }
  Status status = create(context_->wallSeconds());
  if (status.ok()) {
    descriptions_.noteLost();
  }
  return status;
}

void EventStream::updateBacklog() {
  const WriterOptions& options = context_->options();
  while (pending_.isFailing() && options.overflow == OverflowPolicy::kDropOldest &&
         pending_.bytes() > static_cast<std::size_t>(options.queueBytes) &&
         pending_.dropOldest(file_, &context_->losses())) {
    log_.noteChanged();
    descriptions_.noteLost();
  }
  if (descriptions_.areLost()) {
    describeAgain();
  }
  const std::size_t backlog = pending_.isFailing() ? pending_.bytes() : 0;
  context_->changeBacklog(knownBacklog_, backlog);
  knownBacklog_ = backlog;
}

/// Adds metadata of tags to the waiting events again, because the events that contained it are
/// lost. Call it again if it throws.
void EventStream::describeAgain() {
  finishEvent();
  pending_.seal();
  log_.noteChanged();
  descriptions_.describeAgain(&pending_, file_.hasPartialAppend() ? 1 : 0);
}

/// Tries a few times to finish a file that close() could not finish, before the next file is
/// created.
Status EventStream::finishClosed() {
  constexpr int kTries = 8;
  const int error = file_.finish();
  if (error != 0 && ++finishTries_ < kTries) {
    return {ErrorCode::kIoError, "cannot remove the incomplete record at the end of " +
                                     file_.path() + ": " + std::generic_category().message(error)};
  }
  file_.abandon();
  mustFinish_ = false;
  finishTries_ = 0;
  return {};
}

/// Drops the data that writeAll() could not write.
void EventStream::close() {
  finishEvent();
  if (judge_ != nullptr) {
    judge_->finish();
  }
  if (head_.empty() && !mustFinish_ && file_.cutBack() != 0) {
    pending_.keepWholeRecords(&file_);
  }
  pending_.dropAll(&context_->losses());
  descriptions_.noteNothingPending();
  updateBacklog();
  mustFinish_ = file_.finish() != 0;
  head_.clear();
  tags_.reportStepsBack();
}

}  // namespace steptape::detail::log
