// SPDX-License-Identifier: Apache-2.0
#include "pretrained_resnet.h"

#include <algorithm>
#include <string_view>

#include <steptape/base/status.h>
#include <steptape/train/checkpoint.h>

namespace {

using steptape::SafetensorsFile;

const SafetensorsFile::Entry* find(const SafetensorsFile& file, const std::string& name) {
  const auto& entries = file.entries();
  const auto found = std::find_if(entries.begin(), entries.end(),
                                  [&](const auto& entry) { return entry.name == name; });
  return found == entries.end() ? nullptr : &*found;
}

example::ResNetSize sizeOf(const SafetensorsFile& file) {
  example::ResNetSize size;
  size.isBottleneck = find(file, "layer1.0.conv3.weight") != nullptr;
  for (std::size_t i = 0; i < size.blocks.size(); ++i) {
    const std::string layer = "layer" + std::to_string(i + 1) + ".";
    while (find(file, layer + std::to_string(size.blocks[i]) + ".conv1.weight") != nullptr) {
      ++size.blocks[i];
    }
  }
  const SafetensorsFile::Entry* const bias = find(file, "fc.bias");
  if (bias == nullptr || bias->shape.size() != 1 || size.blocks[0] == 0) {
    throw steptape::Error(steptape::ErrorCode::kInvalidArgument,
                          "cannot read " + file.path() +
                              ": got no tensors fc.bias and layer1.0.conv1.weight; expected a "
                              "ResNet with the names of torchvision");
  }
  size.classes = bias->shape[0];
  return size;
}

bool isCounter(std::string_view name) {
  constexpr std::string_view kCounter = ".num_batches_tracked";
  return name.size() > kCounter.size() && name.substr(name.size() - kCounter.size()) == kCounter;
}

}  // namespace

example::ResNet readResNet(const std::string& path) {
  example::ResNet network(sizeOf(SafetensorsFile(path)));
  steptape::LoadSafetensorsOptions options;
  options.strict = false;
  steptape::SafetensorsDifferences differences = steptape::loadSafetensors(path, *network, options);
  auto& missing = differences.missing;
  missing.erase(std::remove_if(missing.begin(), missing.end(), isCounter), missing.end());
  if (!differences.empty()) {
    steptape::loadSafetensors(path, *network);  // Throws, with all differences.
  }
  network->eval();
  return network;
}
