// SPDX-License-Identifier: Apache-2.0
#include "log/writer/deferred_scalars.h"

#include <exception>
#include <utility>

#include "log/writer/captured_value.h"
#include "log/writer/run_client.h"
#include "log/writer/run_context.h"

namespace steptape::detail::log {

/// Writes the points with the time at which the scalars were deferred.
class DeferredScalars::PlaceSink final : public Sink {
 public:
  PlaceSink(RunContext& run, const CapturedValue::Place& place) : run_(run), place_(place) {}

  void add(ScalarTag tag, double value, std::optional<double> wallTime) override {
    ++taken_;
    RegisteredSeries* const series = place_.seriesOf(tag.id_);
    if (series != nullptr) {
      series->add(static_cast<float>(value), place_.step, wallTime.value_or(place_.wallTime),
                  wallTime || place_.exact);
    }
  }
  void reportOnce(const std::string& subject, const std::string& what) override {
    run_.reporter().reportOnce(subject, what);
  }

  std::size_t taken() const { return taken_; }

 private:
  std::size_t taken_ = 0;
  RunContext& run_;
  const CapturedValue::Place& place_;
};

void DeferredScalars::add(SummaryWriter& writer, std::int64_t step, std::size_t count,
                          std::size_t bytes, std::function<void(Sink&)> write) {
  if (count == 0) {
    return;
  }
  CapturedValue captured;
  captured.step = step;
  captured.bytes = bytes;
  captured.scalars = count;
  captured.order = CapturedValue::Order::kInPlace;
  captured.work = [&run = writer.client_->context(), count,
                   write = std::move(write)](const CapturedValue::Place& place) {
    PlaceSink sink(run, place);
    try {
      write(sink);
    } catch (const std::exception& error) {
      run.losses().countLost(error, count - sink.taken(), 0);
    }
    return Status();
  };
  writer.client_->handOver(std::move(captured));
}

void DeferredScalars::noteLost(SummaryWriter& writer, const std::exception& error,
                               std::size_t count) noexcept {
  writer.client_->context().losses().countLost(error, count, 0);
}

}  // namespace steptape::detail::log
