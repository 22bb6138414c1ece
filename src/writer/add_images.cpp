// SPDX-License-Identifier: Apache-2.0
#include <memory>
#include <string>
#include <utility>

#include "steptape/summary/image.h"
#include "steptape/summary/tag.h"
#include "steptape/writer/summary_writer.h"

#include "writer/capture.h"
#include "writer/value_names.h"
#include "writer/writer_core.h"

namespace steptape {

void SummaryWriter::addImage(std::string_view tag, const TensorView& pixels, std::int64_t step,
                             const ImageOptions& options) {
  checkTag(tag);
  if (core_->isActive()) {
    addPixels(tag, imagePixels(pixels, options.dataFormat), step, options.wallTime,
              namesOf(options));
  }
}

void SummaryWriter::addImages(std::string_view tag, const TensorView& pixels, std::int64_t step,
                              const ImagesOptions& options) {
  checkTag(tag);
  if (core_->isActive()) {
    addPixels(tag, imageGrid(pixels, options.dataFormat), step, options.wallTime, namesOf(options));
  }
}

void SummaryWriter::addPixels(std::string_view tag, Pixels pixels, std::int64_t step,
                              std::optional<double> wallTime, SummaryMetadata metadata) {
  const std::size_t bytes = pixels.data.size();
  // Shared, because std::function must be able to copy what it holds.
  auto shared = std::make_shared<const Pixels>(std::move(pixels));
  core_->addValue(
      step, wallTime, bytes, [name = core_->validTag(tag), shared, metadata = std::move(metadata)] {
        return imageValue(name, shared->width, shared->height, encodePng(*shared), metadata);
      });
}

}  // namespace steptape
