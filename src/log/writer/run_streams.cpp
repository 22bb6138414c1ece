// SPDX-License-Identifier: Apache-2.0
#include "log/writer/run_streams.h"

#include <utility>

namespace steptape::detail::log {

RunStreams::RunStreams(std::string directory, WriterOptions options, OpenFiles* openFiles,
                       KillProofLog* log)
    : context_(std::move(directory), std::move(options)), openFiles_(openFiles), log_(log) {
  {
    base::MutexLock lock(mutex_);
    mainStream_ = &streams_.emplace_back(&context_, context_.directory(), openFiles_, log_);
  }
  if (context_.options().enabled) {
    mainStream_->create(context_.startTime()).throwIfError();
  }
}

EventStream* RunStreams::subRunStream(const std::string& directory) {
  base::MutexLock lock(mutex_);
  EventStream*& stream = subRuns_[directory];
  if (stream == nullptr) {
    stream = &streams_.emplace_back(&context_, directory, openFiles_, log_);
  }
  return stream;
}

std::vector<EventStream*> RunStreams::streams() {
  base::MutexLock lock(mutex_);
  std::vector<EventStream*> streams;
  streams.reserve(streams_.size());
  for (EventStream& stream : streams_) {
    streams.push_back(&stream);
  }
  return streams;
}

}  // namespace steptape::detail::log
