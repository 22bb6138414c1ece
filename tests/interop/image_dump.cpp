// SPDX-License-Identifier: Apache-2.0
// image_dump FILE [resize N | center_crop N | flip]...
//
// Decodes and transforms an image, and writes "WIDTH HEIGHT\n" and its bytes to the standard
// output.
#include <cstdlib>
#include <iostream>
#include <string>

#include <steptape/images.h>

namespace {

steptape::ImageTransforms transformsFrom(int argc, char** argv) {
  steptape::ImageTransforms transforms;
  for (int i = 2; i < argc; ++i) {
    const std::string name = argv[i];
    if (name == "flip") {
      transforms.emplace_back(steptape::RandomHorizontalFlip{1});
    } else if (name == "resize" && i + 1 < argc) {
      transforms.emplace_back(steptape::Resize{std::atoll(argv[++i])});
    } else if (name == "center_crop" && i + 1 < argc) {
      transforms.emplace_back(steptape::CenterCrop{std::atoll(argv[++i])});
    } else {
      throw steptape::Error(steptape::ErrorCode::kInvalidArgument, "got " + name);
    }
  }
  return transforms;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    steptape::SampleRandom unused(0, 0, 0);
    const steptape::Image image = steptape::transformImage(
        steptape::decodeImage(argc > 1 ? argv[1] : ""), transformsFrom(argc, argv), unused);
    std::cout << image.width << ' ' << image.height << '\n';
    std::cout.write(reinterpret_cast<const char*>(image.pixels.data()),
                    static_cast<std::streamsize>(image.pixels.size()));
  } catch (const steptape::Error& error) {
    std::cerr << error.what() << '\n';
    return 1;
  }
}
