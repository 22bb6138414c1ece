// SPDX-License-Identifier: Apache-2.0
#include "train/samples/byte_scaling.h"

#include <string>

#include "steptape/base/status.h"

#include "base/vector_clones.h"

namespace steptape::detail::train {
namespace {

constexpr float kWhite = 255;

void checkFits(const Normalization& normalization, std::size_t channels) {
  for (const std::vector<double>* values : {&normalization.mean, &normalization.std}) {
    if (values->size() != 1 && values->size() != channels) {
      throw Error(ErrorCode::kInvalidArgument,
                  "got a normalization for " + std::to_string(values->size()) +
                      " channels; expected one number or " + std::to_string(channels) +
                      ", one per channel of the images");
    }
  }
}

float perChannel(const std::vector<double>& values, std::size_t channel) {
  return static_cast<float>(values[values.size() == 1 ? 0 : channel]);
}

STEPTAPE_VECTOR_CLONES void scalePixels(const std::uint8_t* pixels, std::size_t width,
                                        const float* scale, const float* offset,
                                        float* __restrict red, float* __restrict green,
                                        float* __restrict blue) {
  for (std::size_t x = 0; x < width; ++x) {
    red[x] = scale[0] * static_cast<float>(pixels[3 * x]) + offset[0];
    green[x] = scale[1] * static_cast<float>(pixels[3 * x + 1]) + offset[1];
    blue[x] = scale[2] * static_cast<float>(pixels[3 * x + 2]) + offset[2];
  }
}

}  // namespace

ByteScale byteScale(const Normalization& normalization, std::size_t channels) {
  checkFits(normalization, channels);
  ByteScale result;
  for (std::size_t channel = 0; channel < channels; ++channel) {
    const float std = perChannel(normalization.std, channel);
    result.scale.push_back(1 / (kWhite * std));
    result.offset.push_back(-perChannel(normalization.mean, channel) / std);
  }
  return result;
}

STEPTAPE_VECTOR_CLONES void scaleBytes(const std::uint8_t* bytes, std::size_t size, float scale,
                                       float offset, float* __restrict result) {
  for (std::size_t i = 0; i < size; ++i) {
    result[i] = scale * static_cast<float>(bytes[i]) + offset;
  }
}

void scaleRgb(const std::uint8_t* pixels, std::size_t width, const ByteScale& scale, float* result,
              std::size_t plane) {
  scalePixels(pixels, width, scale.scale.data(), scale.offset.data(), result, result + plane,
              result + 2 * plane);
}

}  // namespace steptape::detail::train
