// SPDX-License-Identifier: Apache-2.0
// Says what is in a picture, with a pretrained ResNet from Python:
//
//   python3 -c 'import torchvision, safetensors.torch
//   model = torchvision.models.resnet50(weights="DEFAULT")
//   safetensors.torch.save_model(model, "resnet50.safetensors")'
//   image_recognition --weights resnet50.safetensors --labels imagenet_classes.txt cat.jpg
//   tensorboard --logdir runs
#include <algorithm>
#include <cstdint>
#include <fstream>
#include <iomanip>
#include <iostream>
#include <stdexcept>
#include <string>
#include <vector>

#include <steptape/images.h>
#include <steptape/torch.h>

#include "command_line.h"
#include "pretrained_resnet.h"

#ifdef IMAGE_RECOGNITION_WITH_FIGURE
#include <steptape/figure.h>
#endif

#include <torch/torch.h>

namespace {

constexpr std::int64_t kResized = 256;  ///< Shorter side before the crop, as in torchvision.
constexpr std::int64_t kSide = 224;     ///< Height and width of the network's input.
constexpr std::int64_t kShown = 5;

struct Options {
  std::string weights;
  std::string labels;
  std::string logDir = "runs/image_recognition";
  std::vector<std::string> pictures;
};

struct Guess {
  std::string label;
  double probability = 0;
};

/// Returns the center of a picture as (3, side, side), 0 to 255.
torch::Tensor readPicture(const std::string& path) {
  steptape::SampleRandom unused(0, 0, 0);
  steptape::Image image =
      steptape::transformImage(steptape::decodeImage(path),
                               {steptape::Resize{kResized}, steptape::CenterCrop{kSide}}, unused);
  return torch::from_blob(image.pixels.data(), {kSide, kSide, image.channels}, torch::kByte)
      .permute({2, 0, 1})
      .clone();
}

/// Scales the colors as torchvision's networks expect them.
torch::Tensor normalized(const torch::Tensor& picture) {
  const steptape::Normalization colors = steptape::imageNetNormalization();
  const torch::Tensor mean = torch::tensor(colors.mean, torch::kFloat).view({3, 1, 1});
  const torch::Tensor std = torch::tensor(colors.std, torch::kFloat).view({3, 1, 1});
  return ((picture.to(torch::kFloat) / 255 - mean) / std).unsqueeze(0);
}

/// One label per line; empty without a file.
std::vector<std::string> readLabels(const std::string& path) {
  std::vector<std::string> labels;
  if (!path.empty()) {
    std::ifstream file(path);
    for (std::string line; std::getline(file, line);) {
      labels.push_back(line);
    }
    if (labels.empty()) {
      throw std::runtime_error("cannot read the labels " + path +
                               ": got no line; expected one label per line");
    }
  }
  return labels;
}

std::vector<Guess> likeliest(const torch::Tensor& logits, const std::vector<std::string>& labels) {
  const torch::Tensor probabilities = logits.softmax(1).squeeze(0).to(torch::kDouble);
  const auto classes = static_cast<std::size_t>(probabilities.numel());
  if (!labels.empty() && labels.size() != classes) {
    throw std::runtime_error("--labels: got " + std::to_string(labels.size()) +
                             " lines; expected " + std::to_string(classes) +
                             ", one per class of the network");
  }
  const auto [values, indices] = probabilities.topk(std::min(kShown, probabilities.numel()));
  std::vector<Guess> guesses;
  for (std::int64_t i = 0; i < values.numel(); ++i) {
    const auto index = indices[i].item<std::int64_t>();
    guesses.push_back({labels.empty() ? "class " + std::to_string(index)
                                      : labels[static_cast<std::size_t>(index)],
                       values[i].item<double>()});
  }
  return guesses;
}

void log(steptape::SummaryWriter& writer, const torch::Tensor& picture,
         const std::vector<Guess>& guesses, std::int64_t step) {
  writer.addImage("picture", picture, step);
#ifdef IMAGE_RECOGNITION_WITH_FIGURE
  std::vector<double> heights;
  steptape::BarOptions bars;
  for (const Guess& guess : guesses) {
    heights.push_back(guess.probability);
    bars.labels.push_back(guess.label);
  }
  steptape::Figure figure;
  figure.bar(heights, bars).setYLabel("probability");
  writer.addFigure("likeliest_classes", figure, step);
#endif
  std::string table = "| class | probability |\n|---|---|\n";
  for (const Guess& guess : guesses) {
    table += "| " + guess.label + " | " + std::to_string(guess.probability) + " |\n";
  }
  writer.addText("likeliest_classes/table", table, step);
}

void print(const std::string& path, const std::vector<Guess>& guesses) {
  std::cout << path << "\n";
  for (const Guess& guess : guesses) {
    std::cout << std::fixed << std::setprecision(6) << "  " << guess.probability << "  "
              << guess.label << "\n";
  }
}

void run(const Options& options) {
  if (options.weights.empty() || options.pictures.empty()) {
    throw example::UsageError(std::string("got no ") +
                              (options.weights.empty() ? "--weights" : "picture") +
                              "; expected --weights and at least one picture");
  }
  const std::vector<std::string> labels = readLabels(options.labels);
  example::ResNet network = readResNet(options.weights);
  const torch::NoGradGuard noGradients;
  steptape::SummaryWriter writer(options.logDir);
  std::int64_t step = 0;
  for (const std::string& path : options.pictures) {
    const torch::Tensor picture = readPicture(path);
    const std::vector<Guess> guesses = likeliest(network->forward(normalized(picture)), labels);
    print(path, guesses);
    log(writer, picture, guesses, step++);
  }
  writer.close().throwIfError();
}

}  // namespace

int main(int argc, char** argv) {
  Options options;
  example::CommandLine line(
      "Prints the five likeliest classes of each picture, with a pretrained ResNet.\n\n"
      "  image_recognition --weights FILE [options] PICTURE...\n\n"
      "A PICTURE is a JPEG or PNG file.\n");
  line.add("weights", options.weights, "FILE",
           "safetensors file of a ResNet with torchvision's names, such as ResNet-18 or -50");
  line.add("labels", options.labels, "FILE", "names of the classes, one per line");
  line.add("log-dir", options.logDir, "DIR", "log directory for TensorBoard");
  line.addRest(options.pictures);
  return example::runProgram(argc, argv, line, [&] { run(options); });
}
