// SPDX-License-Identifier: Apache-2.0
#include "steptape/log/summary_writer.h"

#include <exception>
#include <utility>

#include "base/got_expected.h"
#include "log/writer/default_log_dir.h"
#include "log/writer/run_client.h"
#include "log/writer/scalar_json_export.h"

namespace steptape {
namespace {

void endSession(detail::log::RunClient& client) noexcept {
  try {
    client.endSession(client.session().status());
  } catch (const std::exception& error) {
    client.context().losses().countLost(error, 0, 1);
  }
}

}  // namespace

SummaryWriter::SummaryWriter() : SummaryWriter(WriterOptions()) {}

SummaryWriter::SummaryWriter(WriterOptions options) {
  std::string logDir = options.enabled ? detail::log::defaultLogDir(options) : std::string();
  if (options.occupied == OccupiedRun::kRefuse) {
    options.occupied = OccupiedRun::kNewDirectory;
  }
  client_ = detail::log::RunClient::create(std::move(logDir), std::move(options));
}

SummaryWriter::SummaryWriter(std::string logDir, WriterOptions options) {
  if (logDir.empty() && options.enabled) {
    detail::base::reject("an empty log directory",
                         "a path, or no argument for the default directory", "SummaryWriter");
  }
  client_ = detail::log::RunClient::create(std::move(logDir), std::move(options));
}

SummaryWriter::SummaryWriter(SummaryWriter&&) noexcept = default;

SummaryWriter& SummaryWriter::operator=(SummaryWriter&& other) noexcept {
  SummaryWriter moved(std::move(other));
  std::swap(client_, moved.client_);
  return *this;
}

SummaryWriter::~SummaryWriter() {
  if (client_) {
    endSession(*client_);
    client_->detach();
    client_->context().tellEnd(client_->session().status());
  }
}

const std::string& SummaryWriter::logDir() const {
  return client_->context().directory();
}

bool SummaryWriter::isEnabled() const {
  return client_->isActive();
}

ScalarTag SummaryWriter::scalarTag(std::string_view tag, const ScalarOptions& options) {
  return ScalarTag(client_->series().of(tag, &options));
}

void SummaryWriter::addScalar(ScalarTag tag, double value, std::int64_t step) {
  client_->addScalar(tag.id_, value, step);
}

void SummaryWriter::addScalar(std::string_view tag, double value, std::int64_t step) {
  client_->addScalar(client_->series().of(tag), value, step);
}

void SummaryWriter::addScalar(std::string_view tag, double value, std::int64_t step,
                              const ScalarOptions& options) {
  client_->addScalarAt(client_->series().of(tag, &options), value, step, options.wallTime);
}

StepBatch SummaryWriter::atStep(std::int64_t step) {
  return {client_.get(), step};
}

void SummaryWriter::addScalarInFlight(ScalarTag tag, TensorView value, std::int64_t step,
                                      std::optional<double> wallTime) {
  client_->addScalarInFlight(tag.id_, std::move(value), step, wallTime);
}

void SummaryWriter::addScalars(std::string_view mainTag,
                               std::initializer_list<std::pair<std::string, ScalarValue>> values,
                               std::int64_t step, const ScalarOptions& options) {
  for (const auto& [name, value] : values) {
    addSubRunScalar(mainTag, name, value, step, options);
  }
}

void SummaryWriter::addSubRunScalar(std::string_view mainTag, std::string_view name,
                                    const ScalarValue& value, std::int64_t step,
                                    const ScalarOptions& options) {
  const auto series = client_->series().ofSubRun(mainTag, name, options);
  if (value.inFlight()) {
    client_->addScalarInFlight(series, *value.inFlight(), step, options.wallTime);
  } else {
    client_->addScalarAt(series, value.number(), step, options.wallTime);
  }
}

void SummaryWriter::addScalars(std::string_view mainTag,
                               const std::vector<std::pair<std::string, double>>& values,
                               std::int64_t step, const ScalarOptions& options) {
  for (const auto& [name, value] : values) {
    client_->addScalarAt(client_->series().ofSubRun(mainTag, name, options), value, step,
                         options.wallTime);
  }
}

Status SummaryWriter::flush() {
  return client_->flush();
}

Status SummaryWriter::close() {
  endSession(*client_);
  Status status = client_->close();
  client_->context().tellEnd(client_->session().status());
  return status;
}

void SummaryWriter::notify(std::string_view event, std::string_view message) {
  client_->context().tell(event, message);
}

void SummaryWriter::resume(std::int64_t step) {
  client_->resume(step);
}

WriterStats SummaryWriter::stats() const {
  return client_->stats();
}

Status SummaryWriter::exportScalarsToJson(const std::string& path) {
  if (!client_->context().options().enabled) {
    return {};
  }
  Status flushed = flush();
  return flushed.ok() ? detail::log::exportScalars(client_->context(), path) : flushed;
}

}  // namespace steptape
