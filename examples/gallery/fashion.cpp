// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <string>

#include <steptape/torch.h>
#include <steptape/trainer.h>

#include "gallery.h"

namespace {

constexpr std::array<const char*, 10> kClasses = {
    "T-shirt", "trouser", "pullover", "dress", "coat", "sandal", "shirt", "sneaker", "bag", "boot"};

}  // namespace

void logFashion(steptape::SummaryWriter& writer, const std::string& directory) {
  constexpr std::int64_t kShown = 64;
  constexpr std::int64_t kPoints = 1000;
  const steptape::ImageDataset test = steptape::loadMnist(directory, steptape::Split::kTest);
  const torch::Tensor images = test.images().narrow(0, 0, kPoints);  // (N, 1, 28, 28), uint8
  writer.addImages("fashion", images.narrow(0, 0, kShown), 0);

  steptape::EmbeddingOptions options{.labelImages = images};
  const torch::Tensor labels = test.labels().narrow(0, 0, kPoints).to(torch::kCPU, torch::kLong);
  for (std::int64_t i = 0; i < kPoints; ++i) {
    options.metadata.push_back(
        {kClasses.at(static_cast<std::size_t>(labels[i].item<std::int64_t>()))});
  }
  writer.addEmbedding("fashion", images.flatten(1).to(torch::kFloat) / 255, 0, options);
}
