// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <cstdio>
#include <string>
#include <vector>

#include "gallery.h"

namespace {

/// Returns the color in HTML notation, such as "#ff8000".
std::string htmlName(const std::array<float, 3>& rgb) {
  std::array<char, 8> text{};
  std::snprintf(text.data(), text.size(), "#%02x%02x%02x", static_cast<unsigned>(255 * rgb[0]),
                static_cast<unsigned>(255 * rgb[1]), static_cast<unsigned>(255 * rgb[2]));
  return text.data();
}

std::string strongestChannel(const std::array<float, 3>& rgb) {
  const auto [least, most] = std::minmax_element(rgb.begin(), rgb.end());
  if (*most - *least < 0.01F) {
    return "gray";
  }
  constexpr std::array<const char*, 3> kNames = {"red", "green", "blue"};
  return kNames[static_cast<std::size_t>(most - rgb.begin())];
}

}  // namespace

/// The cube of colors: each point is a color, with a thumbnail of that color.
void logEmbedding(steptape::SummaryWriter& writer) {
  constexpr int kLevels = 7;
  constexpr int kPoints = kLevels * kLevels * kLevels;
  constexpr int kThumbnail = 16;
  std::vector<float> matrix;      // (points, dimensions)
  std::vector<float> thumbnails;  // (points, channels, height, width)
  steptape::EmbeddingOptions options{.metadataHeader = {"color", "strongest"}};
  for (int i = 0; i < kPoints; ++i) {
    const int green = i / kLevels % kLevels;
    const int blue = i / kLevels / kLevels;
    const std::array<float, 3> rgb = {static_cast<float>(i % kLevels) / (kLevels - 1),
                                      static_cast<float>(green) / (kLevels - 1),
                                      static_cast<float>(blue) / (kLevels - 1)};
    matrix.insert(matrix.end(), rgb.begin(), rgb.end());
    for (const float channel : rgb) {
      thumbnails.insert(thumbnails.end(), kThumbnail * kThumbnail, channel);
    }
    options.metadata.push_back({htmlName(rgb), strongestChannel(rgb)});
  }
  options.labelImages = {thumbnails.data(), {kPoints, 3, kThumbnail, kThumbnail}};
  writer.addEmbedding("colors", {matrix.data(), {kPoints, 3}}, 0, options);
}
