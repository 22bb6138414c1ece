// SPDX-License-Identifier: Apache-2.0
#include "steptape/train/samples.h"

#include "base/got_expected.h"
#include "train/samples/image_plan.h"
#include "train/samples/resample.h"

namespace steptape {

Normalization imageNetNormalization() {
  return {{0.485, 0.456, 0.406}, {0.229, 0.224, 0.225}};
}

Image transformImage(const Image& image, const ImageTransforms& transforms, SampleRandom& random) {
  const std::int64_t bytes = image.width * image.height * image.channels;
  if (image.width < 1 || image.height < 1 || (image.channels != 1 && image.channels != 3) ||
      static_cast<std::int64_t>(image.pixels.size()) != bytes) {
    detail::base::reject(std::to_string(image.pixels.size()) + " bytes for " +
                             std::to_string(image.width) + " x " + std::to_string(image.height) +
                             " pixels of " + std::to_string(image.channels) + " channels",
                         "1 or 3 channels and a byte for each", "transformImage");
  }
  const detail::train::ImagePlan plan =
      detail::train::planImage({image.width, image.height}, transforms, random);
  const detail::train::PixelView whole{image.pixels.data(),
                                       {image.width, image.height},
                                       image.channels,
                                       image.width * image.channels};
  const detail::train::PixelView crop = whole.part(plan[0].crop);
  return detail::train::runPlan(crop, detail::train::boxOf(crop.size), plan);
}

}  // namespace steptape
