// SPDX-License-Identifier: Apache-2.0
#include <string>

#include "steptape/log/summary_writer.h"

#include "log/writer/call_site.h"
#include "log/writer/captured_pixels.h"
#include "log/writer/run_client.h"
#include "log/writer/value_names.h"
#include "values/kinds/image/image.h"
#include "values/kinds/video/video.h"

namespace steptape {

void SummaryWriter::addVideo(std::string_view tag, const TensorView& frames, std::int64_t step,
                             const VideoOptions& options) {
  const std::string name = client_->validTag(tag);
  if (!client_->isActive()) {
    return;
  }
  const detail::log::CallSite site("addVideo", name);
  site.run([&] { detail::values::checkVideo(frames, options); });
  const auto captured =
      detail::log::capturePixels(frames, site, name, &client_->context().reporter(),
                                 [format = options.dataFormat](const TensorView& view) {
                                   return detail::values::videoFrames(view, format);
                                 });
  client_->addValue(step, options.wallTime, detail::log::capturedBytes(frames),
                    [name, captured, options](ValueForm form) {
                      const auto taken = captured();
                      return detail::values::imageValue(
                          name, taken->width, taken->height,
                          detail::values::encodeApng(*taken, options.fps),
                          detail::log::namesOf(options), form);
                    });
}

}  // namespace steptape
