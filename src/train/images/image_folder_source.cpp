// SPDX-License-Identifier: Apache-2.0
#include <utility>

#include "steptape/train/image_folder.h"

#include "base/got_expected.h"
#include "train/images/image_file.h"
#include "train/samples/byte_scaling.h"

namespace steptape {

ImageFolderSource::ImageFolderSource(ImageFolder folder, ImageTransforms transforms,
                                     const Normalization& normalization,
                                     const DecodeOptions& options)
    : folder_(std::move(folder)), transforms_(std::move(transforms)), options_(options) {
  if (detail::train::plannedSize(transforms_).width < 1) {
    detail::base::reject("transforms whose images differ in size",
                         "RandomResizedCrop, CenterCrop or RandomCrop among them",
                         "ImageFolderSource");
  }
  scale_ =
      std::make_shared<const detail::train::ByteScale>(detail::train::byteScale(normalization, 3));
}

std::vector<std::int64_t> ImageFolderSource::shape() const {
  const detail::train::Size size = detail::train::plannedSize(transforms_);
  return {3, size.height, size.width};
}

std::int64_t ImageFolderSource::read(std::int64_t index, SampleRandom& random, float* input) const {
  detail::train::readImage(
      folder_.path(index), options_,
      [&](detail::train::Size size) { return detail::train::planImage(size, transforms_, random); },
      [&](const detail::train::DecodedPart& part, const detail::train::ImagePlan& plan) {
        detail::train::runPlan(part.view, part.box, plan, *scale_, input);
      });
  return folder_.label(index);
}

}  // namespace steptape
