// SPDX-License-Identifier: Apache-2.0
#include <memory>
#include <string>
#include <utility>

#include "steptape/writer/summary_writer.h"

#include "summary/audio/audio.h"
#include "writer/call_site.h"
#include "writer/capture.h"
#include "writer/value_names.h"
#include "writer/writer_core.h"

namespace steptape {

void SummaryWriter::addAudio(std::string_view tag, const TensorView& samples, std::int64_t step,
                             const AudioOptions& options) {
  const std::string name = core_->validTag(tag);
  if (!core_->isActive()) {
    return;
  }
  const detail::CallSite site("addAudio", name);
  site.run([&] { checkAudio(samples, options); });
  const auto wav = detail::capture(
      {samples}, site, [reporter = &core_->context().reporter(), name, options](const auto& views) {
        WavFile file = encodeWav(views[0], options);
        if (file.clipped > 0) {
          reporter->reportOnce("clipped " + name,
                               "addAudio \"" + name + "\": got " + std::to_string(file.clipped) +
                                   " of " + std::to_string(views[0].numel()) +
                                   " samples outside -1..1 or NaN; they are clipped");
        }
        return std::move(file.bytes);
      });
  core_->addValue(step, options.wallTime, samples.nbytes(),
                  [name, wav, metadata = detail::namesOf(options)](ValueForm form) {
                    return audioValue(name, *wav(), metadata, form);
                  });
}

}  // namespace steptape
