// SPDX-License-Identifier: Apache-2.0
#include "writer/deferred_scalars.h"

#include <exception>
#include <utility>

#include "writer/event_stream.h"
#include "writer/writer_core.h"

namespace steptape::detail {

/// Puts the points where the scalars were deferred.
class DeferredScalars::PlaceSink final : public Sink {
 public:
  PlaceSink(WriterCore& core, const CapturedValue::Place& place) : core_(core), place_(place) {}

  void add(ScalarTag tag, double value, std::optional<double> wallTime) override {
    ++taken_;
    ScalarSeries* const series = place_.seriesOf(tag.id_);
    if (series != nullptr) {
      series->stream->addScalar(series, static_cast<float>(value), place_.step,
                                wallTime.value_or(place_.wallTime), wallTime || place_.exact);
    }
  }
  void reportOnce(const std::string& subject, const std::string& what) override {
    core_.reporter().reportOnce(subject, what);
  }

  std::size_t taken() const { return taken_; }

 private:
  std::size_t taken_ = 0;
  WriterCore& core_;
  const CapturedValue::Place& place_;
};

void DeferredScalars::add(SummaryWriter& writer, std::int64_t step, std::size_t count,
                          std::size_t bytes, std::function<void(Sink&)> write) {
  WriterCore& core = *writer.core_;
  core.addDeferredScalars(
      step, count, bytes,
      [&core, count, write = std::move(write)](const CapturedValue::Place& place) {
        PlaceSink sink(core, place);
        try {
          write(sink);
        } catch (const std::exception& error) {
          core.noteLost(error, count - sink.taken(), 0);
        }
        return Status();
      });
}

void DeferredScalars::noteLost(SummaryWriter& writer, const std::exception& error,
                               std::size_t count) noexcept {
  writer.core_->noteLost(error, count, 0);
}

}  // namespace steptape::detail
