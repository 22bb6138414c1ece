// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstdint>
#include <sstream>
#include <utility>
#include <vector>

#include "steptape/train/batch_loader.h"

#include "base/got_expected.h"
#include "train/samples/byte_scaling.h"
#include "train/samples/image_plan.h"
#include "train/samples/resample.h"

#include <ATen/core/Tensor.h>

namespace steptape {
namespace {

detail::train::Size sizeOf(const ImageDataset& dataset) {
  return {dataset.images().size(3), dataset.images().size(2)};
}

std::string shapeText(at::IntArrayRef shape) {
  std::ostringstream text;
  text << shape;
  return text.str();
}

}  // namespace

DatasetSource::DatasetSource(ImageDataset dataset, ImageTransforms transforms,
                             const Normalization& normalization)
    : dataset_(std::move(dataset)), transforms_(std::move(transforms)) {
  const auto channels = static_cast<std::size_t>(dataset_.images().size(1));
  const detail::train::ByteScale scale = detail::train::byteScale(normalization, channels);
  for (std::size_t channel = 0; channel < channels; ++channel) {
    scales_.push_back({{scale.scale[channel]}, {scale.offset[channel]}});
  }
}

DatasetSource::~DatasetSource() = default;

std::vector<std::int64_t> DatasetSource::shape() const {
  // All images of a data set have one size, so the transforms make one size of them.
  SampleRandom random(0, 0, 0);
  const detail::train::Rect window =
      detail::train::planImage(sizeOf(dataset_), transforms_, random).back().window;
  return {dataset_.images().size(1), window.height, window.width};
}

std::int64_t DatasetSource::read(std::int64_t index, SampleRandom& random, float* input) const {
  const detail::train::Size size = sizeOf(dataset_);
  const detail::train::ImagePlan plan = detail::train::planImage(size, transforms_, random);
  const detail::train::Rect window = plan.back().window;
  const std::int64_t plane = size.width * size.height;
  const auto* pixels = dataset_.images().data_ptr<std::uint8_t>() +
                       index * plane * static_cast<std::int64_t>(scales_.size());
  for (const detail::train::ByteScale& scale : scales_) {
    const auto crop = detail::train::PixelView{pixels, size, 1, size.width}.part(plan[0].crop);
    detail::train::runPlan(crop, detail::train::boxOf(crop.size), plan, scale, input);
    pixels += plane;
    input += window.width * window.height;
  }
  return dataset_.labels().data_ptr<std::int64_t>()[index];
}

std::int64_t FunctionSource::read(std::int64_t index, SampleRandom& random, float* input) const {
  const auto [tensor, target] = function_(index, random);
  if (tensor.sizes() != at::IntArrayRef(shape_)) {
    detail::base::reject("a tensor of shape " + shapeText(tensor.sizes()), shapeText(shape_),
                         "FunctionSource");
  }
  const at::Tensor floats = tensor.to(at::kCPU, at::kFloat).contiguous();
  std::copy_n(floats.data_ptr<float>(), floats.numel(), input);
  return target;
}

}  // namespace steptape
