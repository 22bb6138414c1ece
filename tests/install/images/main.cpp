// SPDX-License-Identifier: Apache-2.0
// Reads a folder of one image with the installed library.
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <string>
#include <vector>

#include <steptape/images.h>

namespace {

/// A PNG file of 2 x 1 pixels, (10, 20, 30).
constexpr unsigned char kPng[] = {
    0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a, 0x00, 0x00, 0x00, 0x0d, 0x49, 0x48, 0x44,
    0x52, 0x00, 0x00, 0x00, 0x02, 0x00, 0x00, 0x00, 0x01, 0x08, 0x02, 0x00, 0x00, 0x00, 0x7b,
    0x40, 0xe8, 0xdd, 0x00, 0x00, 0x00, 0x0f, 0x49, 0x44, 0x41, 0x54, 0x78, 0xda, 0x63, 0xe4,
    0x12, 0x91, 0x63, 0x60, 0x60, 0x00, 0x00, 0x01, 0x26, 0x00, 0x3e, 0xda, 0x83, 0xdc, 0x1e,
    0x00, 0x00, 0x00, 0x00, 0x49, 0x45, 0x4e, 0x44, 0xae, 0x42, 0x60, 0x82};

}  // namespace

int main(int argc, char** argv) {
  const std::string directory = argc > 1 ? argv[1] : "images";
  std::filesystem::create_directories(directory + "/class");
  std::ofstream(directory + "/class/image.png", std::ios::binary)
      .write(reinterpret_cast<const char*>(kPng), sizeof kPng);
  const steptape::ImageFolderSource source(
      steptape::ImageFolder(directory), {steptape::CenterCrop{1}, steptape::RandomHorizontalFlip{}},
      {{0}, {1}});
  std::vector<float> pixel(3);
  steptape::SampleRandom random(0, 0, 0);
  const std::int64_t label = source.read(0, random, pixel.data());
  std::cout << "class " << source.folder().classes().at(static_cast<std::size_t>(label)) << ": "
            << 255 * pixel[0] << ", " << 255 * pixel[1] << ", " << 255 * pixel[2] << "\n";
  return pixel[0] > 0 ? 0 : 1;
}
