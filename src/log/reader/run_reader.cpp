// SPDX-License-Identifier: Apache-2.0
#include "steptape/log/run_reader.h"

#include <memory>
#include <utility>

#include "steptape/events/plugin_content.h"

#include "log/reader/run_follower.h"
#include "log/reader/run_sessions.h"
#include "log/reader/series_store.h"
#include "log/reader/value_reader.h"

namespace steptape {

Sampling Sampling::tensorBoard() {
  Sampling sampling;
  sampling.maxPoints = {{event::kScalarsPlugin, 1000},
                        {event::kHistogramsPlugin, 500},
                        {event::kPrCurvesPlugin, 100}};
  sampling.otherMaxPoints = 10;
  return sampling;
}

struct RunReader::State {
  State(RunFiles run, RunReaderOptions options, Sampling sampling)
      : follower(std::move(run), std::move(options), [sampling = std::move(sampling)] {
          return std::make_shared<detail::log::SeriesStore>(sampling);
        }) {}

  detail::log::RunFollower follower;
};

RunReader::RunReader(RunFiles run, RunReaderOptions options) {
  Sampling sampling = options.sampling;
  state_ = std::make_unique<State>(std::move(run), std::move(options), std::move(sampling));
}

RunReader::RunReader(RunReader&&) noexcept = default;
RunReader& RunReader::operator=(RunReader&&) noexcept = default;
RunReader::~RunReader() = default;

std::uint64_t RunReader::update() {
  return state_->follower.update();
}

const std::map<std::string, TagSeries>& RunReader::tags() const {
  return static_cast<const detail::log::SeriesStore&>(*state_->follower.sink()).tags();
}

const std::vector<Damage>& RunReader::damage() const {
  return state_->follower.damage();
}

const std::vector<std::string>& RunReader::replacedFiles() const {
  return state_->follower.replacedFiles();
}

Status RunReader::value(const ValueLocation& location, event::Value* value) const {
  return detail::log::readValue(files().at(location.file), location, value);
}

std::vector<RunSession> RunReader::sessions() const {
  return detail::log::sessionsOf(files(), state_->follower.times());
}

const std::vector<std::string>& RunReader::files() const {
  return state_->follower.run().files;
}
const std::string& RunReader::name() const {
  return state_->follower.run().name;
}
const std::string& RunReader::directory() const {
  return state_->follower.run().directory;
}

}  // namespace steptape
