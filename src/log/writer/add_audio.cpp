// SPDX-License-Identifier: Apache-2.0
#include <memory>
#include <string>
#include <utility>

#include "steptape/log/summary_writer.h"

#include "log/writer/call_site.h"
#include "log/writer/capture.h"
#include "log/writer/run_client.h"
#include "log/writer/value_names.h"
#include "values/kinds/audio/audio.h"

namespace steptape {

void SummaryWriter::addAudio(std::string_view tag, const TensorView& samples, std::int64_t step,
                             const AudioOptions& options) {
  const std::string name = client_->validTag(tag);
  if (!client_->isActive()) {
    return;
  }
  const detail::log::CallSite site("addAudio", name);
  site.run([&] { detail::values::checkAudio(samples, options); });
  const auto wav = detail::log::capture(
      {samples}, site,
      [reporter = &client_->context().reporter(), name, options](const auto& views) {
        detail::values::WavFile file = detail::values::encodeWav(views[0], options);
        if (file.clipped > 0) {
          reporter->reportOnce("clipped " + name,
                               "addAudio \"" + name + "\": got " + std::to_string(file.clipped) +
                                   " of " + std::to_string(views[0].numel()) +
                                   " samples outside -1..1 or NaN; they are clipped");
        }
        return std::move(file.bytes);
      });
  client_->addValue(step, options.wallTime, samples.nbytes(),
                    [name, wav, metadata = detail::log::namesOf(options)](ValueForm form) {
                      return detail::values::audioValue(name, *wav(), metadata, form);
                    });
}

}  // namespace steptape
