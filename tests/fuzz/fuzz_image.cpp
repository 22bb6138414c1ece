// SPDX-License-Identifier: Apache-2.0
// Fuzzes tensors of any layout as images, grids and images with boxes; libpng decodes the results.
#include <array>
#include <cstring>
#include <png.h>
#include <string>
#include <vector>

#include "steptape/base/status.h"

#include "fuzz/fuzz_input.h"
#include "fuzz/fuzz_tensor.h"
#include "values/kinds/image/boxes.h"
#include "values/kinds/image/image.h"

namespace steptape {
namespace {

void checkPng(const detail::values::Pixels& pixels) {
  const std::string png = detail::values::encodePng(pixels);
  png_image image;
  std::memset(&image, 0, sizeof(image));
  image.version = PNG_IMAGE_VERSION;
  require(png_image_begin_read_from_memory(&image, png.data(), png.size()) != 0,
          "libpng reads the header");
  require(image.width == static_cast<std::uint32_t>(pixels.width) &&
              image.height == static_cast<std::uint32_t>(pixels.height),
          "the size is in the file");
  image.format = pixels.channels == 1   ? PNG_FORMAT_GRAY
                 : pixels.channels == 3 ? PNG_FORMAT_RGB
                                        : PNG_FORMAT_RGBA;
  std::vector<std::uint8_t> decoded(PNG_IMAGE_SIZE(image));
  require(png_image_finish_read(&image, nullptr, decoded.data(), 0, nullptr) != 0,
          "libpng reads the pixels");
  require(decoded == pixels.data, "the pixels come back");
}

BoxOptions takeBoxOptions(FuzzInput* input) {
  constexpr std::array kScales{1.0, 0.5, 2.0, 0.0, -1.0, 1e-9, 7.3};
  BoxOptions options;
  options.rescale = kScales[input->below(kScales.size())];
  options.labels.resize(input->below(4));
  for (std::string& label : options.labels) {
    label = input->text();
  }
  return options;
}

/// Returns corners near the image, far from it, and not finite.
std::vector<double> takeBoxes(FuzzInput* input) {
  std::vector<double> corners(4 * input->below(4));
  for (double& corner : corners) {
    const std::int64_t bits = input->integer();
    if (bits % 2 == 0) {
      corner = static_cast<double>(bits / 2 % 64) - 16;
    } else {
      std::memcpy(&corner, &bits, sizeof(corner));
    }
  }
  return corners;
}

void draw(const TensorView& image, const std::vector<double>& corners, BoxOptions options,
          const std::string& format) {
  options.dataFormat = format;
  const TensorView boxes(corners.data(), {static_cast<std::int64_t>(corners.size() / 4), 4});
  detail::values::checkBoxes(image, boxes, options);
  checkPng(detail::values::drawBoxes(detail::values::imagePixels(image, format),
                                     detail::values::boxCorners(boxes), options));
}

void encode(FuzzInput* input) {
  constexpr std::array kFormats{"CHW", "HWC", "HW", "WH", "CWH", "NCHW", "NHWC", "NHW", "", "HHW"};
  const std::string format = kFormats[input->below(kFormats.size())];
  const std::size_t call = input->below(3);
  try {
    const BoxOptions boxOptions = call == 2 ? takeBoxOptions(input) : BoxOptions();
    const std::vector<double> corners = call == 2 ? takeBoxes(input) : std::vector<double>();
    FuzzTensor tensor(input);
    const TensorView image = tensor.view(input);
    switch (call) {
      case 0:
        checkPng(detail::values::imagePixels(image, format));
        detail::values::checkImage(image, format);
        break;
      case 1:
        checkPng(detail::values::imageGrid(image, format));
        detail::values::checkImageGrid(image, format);
        break;
      default:
        draw(image, corners, boxOptions, format);
    }
  } catch (const Error&) {
    // Most tensors are not images.
  }
}

}  // namespace
}  // namespace steptape

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  steptape::FuzzInput input(data, size);
  steptape::encode(&input);
  return 0;
}
