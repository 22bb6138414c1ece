// SPDX-License-Identifier: Apache-2.0
// Logs one value of every kind that TensorBoard shows. Each kind has its own file in this
// directory; copy what you need.
#include <exception>
#include <filesystem>
#include <getopt.h>
#include <iostream>
#include <string>

#include <steptape/steptape.h>

#include "gallery.h"

namespace {

constexpr int kExitFailure = 1;
constexpr int kExitUsage = 2;

constexpr char kUsage[] = R"(Logs one value of every kind that TensorBoard shows.

  gallery [options] [LOGDIR]
  tensorboard --logdir runs

  LOGDIR       log directory  [runs/gallery]
  --data DIR   directory of Fashion-MNIST's IDX files, for real images; needs LibTorch
               [/usr/share/datasets/fashion-mnist if it exists]
  --onnx FILE  also log the graph of an ONNX model
  --help       print this help
)";

struct Options {
  std::string logDir = "runs/gallery";
  std::string data;
  std::string onnx;
  bool help = false;
  bool valid = true;
};

Options parseOptions(int argc, char** argv) {
  constexpr option kOptions[] = {{"data", required_argument, nullptr, 'd'},
                                 {"onnx", required_argument, nullptr, 'o'},
                                 {"help", no_argument, nullptr, 'h'},
                                 {nullptr, 0, nullptr, 0}};
  Options options;
  int letter = 0;
  while ((letter = getopt_long(argc, argv, "", kOptions, nullptr)) != -1) {
    switch (letter) {
      // clang-format off
      case 'd': options.data = optarg; break;
      case 'o': options.onnx = optarg; break;
      case 'h': options.help = true; break;
      default: options.valid = false; break;  // getopt_long() has printed the reason.
        // clang-format on
    }
  }
  if (optind < argc) {
    options.logDir = argv[optind++];
  }
  options.valid = options.valid && optind == argc;
  return options;
}

/// Logs everything that needs core only.
void logCore(steptape::SummaryWriter& writer) {
  logScalars(writer);
  logSharedCharts(writer);
  logCustomCharts(writer);
  logHistograms(writer);
  logCountedHistogram(writer);
  logImages(writer);
  logBoxes(writer);
  logVideos(writer);
  logSounds(writer);
  logTexts(writer);
  logTensor(writer);
  logMesh(writer);
  logPointCloud(writer);
  logPrCurves(writer);
  logCountedPrCurve(writer);
  logEmbedding(writer);
}

#ifdef GALLERY_HAS_TORCH
void logWithTorch(steptape::SummaryWriter& writer, const Options& options) {
  logModuleGraph(writer);
  const std::string found = "/usr/share/datasets/fashion-mnist";
  if (!options.data.empty()) {
    logFashion(writer, options.data);
  } else if (std::filesystem::exists(found)) {
    logFashion(writer, found);
  }
}
#endif

/// Each graph gets its own run, because TensorBoard shows one graph of a run.
void logMoreGraphs(const Options& options) {
  steptape::SummaryWriter byHand(options.logDir + "/graph_by_hand");
  logGraph(byHand);
  if (!options.onnx.empty()) {
    steptape::SummaryWriter onnx(options.logDir + "/graph_of_onnx");
    onnx.addOnnxGraph(options.onnx);
  }
}

void logEverything(const Options& options) {
#ifndef GALLERY_HAS_TORCH
  if (!options.data.empty()) {
    throw std::invalid_argument("--data needs LibTorch; this program was built without it");
  }
#endif
  steptape::SummaryWriter writer(options.logDir);
  logCore(writer);
#ifdef GALLERY_HAS_FIGURE
  logFigures(writer);
#endif
#ifdef GALLERY_HAS_TORCH
  logWithTorch(writer, options);
#endif
  logMoreGraphs(options);
  logHparamStudy(options.logDir);
  writer.close().throwIfError();
}

}  // namespace

int main(int argc, char** argv) {
  const Options options = parseOptions(argc, argv);
  if (!options.valid || options.help) {
    (options.valid ? std::cout : std::cerr) << kUsage;
    return options.valid ? 0 : kExitUsage;
  }
  try {
    logEverything(options);
  } catch (const std::exception& error) {
    std::cerr << "gallery: " << error.what() << '\n';
    return kExitFailure;
  }
  std::cout << "tensorboard --logdir " << options.logDir << '\n';
}
