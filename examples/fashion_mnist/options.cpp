// SPDX-License-Identifier: Apache-2.0
#include "options.h"

#include <cstdlib>
#include <getopt.h>
#include <limits>
#include <utility>

namespace {

/// Reads the whole of `text` as a number in [least, greatest].
double parseNumber(const char* option, const std::string& text, double least, double greatest) {
  char* end = nullptr;
  const double value = std::strtod(text.c_str(), &end);
  if (text.empty() || *end != '\0' || !(value >= least && value <= greatest)) {
    throw UsageError(std::string("--") + option + ": got '" + text +
                     "', wanted a number of at least " +
                     std::to_string(static_cast<long long>(least)));
  }
  return value;
}

std::int64_t parseInteger(const char* option, const std::string& text, std::int64_t least) {
  char* end = nullptr;
  const long long value = std::strtoll(text.c_str(), &end, 10);
  if (text.empty() || *end != '\0' || value < least) {
    throw UsageError(std::string("--") + option + ": got '" + text +
                     "', wanted a whole number of at least " + std::to_string(least));
  }
  return value;
}

steptape::ProgressStyle parseProgress(const std::string& text) {
  using steptape::ProgressStyle;
  for (const auto& [name, style] :
       {std::pair{"auto", ProgressStyle::kAuto}, std::pair{"bar", ProgressStyle::kBar},
        std::pair{"lines", ProgressStyle::kLines}, std::pair{"none", ProgressStyle::kNone}}) {
    if (text == name) {
      return style;
    }
  }
  throw UsageError("--progress: got '" + text + "', wanted auto, bar, lines or none");
}

constexpr option kOptions[] = {{"data", required_argument, nullptr, 'd'},
                               {"epochs", required_argument, nullptr, 'e'},
                               {"batch-size", required_argument, nullptr, 'b'},
                               {"lr", required_argument, nullptr, 'l'},
                               {"momentum", required_argument, nullptr, 'm'},
                               {"seed", required_argument, nullptr, 's'},
                               {"log-dir", required_argument, nullptr, 'o'},
                               {"checkpoint-dir", required_argument, nullptr, 'c'},
                               {"resume", no_argument, nullptr, 'r'},
                               {"threads", required_argument, nullptr, 't'},
                               {"max-steps", required_argument, nullptr, 'x'},
                               {"progress", required_argument, nullptr, 'p'},
                               {"no-log", no_argument, nullptr, 'n'},
                               {"json", no_argument, nullptr, 'j'},
                               {"help", no_argument, nullptr, 'h'},
                               {nullptr, 0, nullptr, 0}};

void apply(Options& options, int letter, const std::string& value) {
  constexpr double kHuge = std::numeric_limits<double>::max();
  switch (letter) {
    // clang-format off
    case 'd': options.data = value; break;
    case 'e': options.epochs = parseInteger("epochs", value, 1); break;
    case 'b': options.batchSize = parseInteger("batch-size", value, 1); break;
    case 'l': options.lr = parseNumber("lr", value, 0, kHuge); break;
    case 'm': options.momentum = parseNumber("momentum", value, 0, 1); break;
    case 's': options.seed = static_cast<std::uint64_t>(parseInteger("seed", value, 0)); break;
    case 'o': options.logDir = value; break;
    case 'c': options.checkpointDir = value; break;
    case 'r': options.resume = true; break;
    case 't': options.threads = static_cast<int>(parseInteger("threads", value, 1)); break;
    case 'x': options.maxSteps = parseInteger("max-steps", value, 1); break;
    case 'p': options.progress = parseProgress(value); break;
    case 'n': options.log = false; break;
    case 'j': options.json = true; break;
    case 'h': options.help = true; break;
    default: break;
      // clang-format on
  }
}

}  // namespace

Options parseOptions(int argc, char** argv) {
  Options options;
  opterr = 0;  // Every rank parses; one of them prints.
  optind = 1;
  int letter = 0;
  while ((letter = getopt_long(argc, argv, ":", kOptions, nullptr)) != -1) {
    if (letter == '?' || letter == ':') {
      throw UsageError(std::string(letter == ':' ? "no value for " : "unknown option ") +
                       argv[optind - 1]);
    }
    apply(options, letter, optarg == nullptr ? "" : optarg);
  }
  if (optind < argc) {
    throw UsageError(std::string("unexpected argument ") + argv[optind]);
  }
  if (options.resume && options.checkpointDir.empty()) {
    throw UsageError("--resume needs --checkpoint-dir");
  }
  return options;
}

const char* usage() {
  return R"(Trains a small convolutional network on Fashion-MNIST, on every rank of an MPI job.

  fashion_mnist [options]
  mpiexec -n 2 fashion_mnist --epochs 3 --log-dir runs/fashion

  --data DIR            the data set's IDX files  [/usr/share/datasets/fashion-mnist]
  --epochs N            passes over the training images  [1]
  --batch-size N        images per step on each rank  [64]
  --lr X                learning rate for one rank, multiplied by the number of ranks  [0.01]
  --momentum X          of SGD  [0.5]
  --seed N              decides initial weights, order of images and dropout  [1]
  --log-dir DIR         where TensorBoard is to look  [runs/<date>_<host>]
  --checkpoint-dir DIR  write a checkpoint after every epoch and at the end
  --resume              go on from the checkpoint, at the same step
  --threads N           LibTorch's threads per rank  [this rank's part of the cores]
  --max-steps N         stop after N steps in all
  --progress STYLE      auto, bar, lines or none  [auto]
  --no-log              write no event files
  --json                print the result as one last line of JSON
  --help                print this
)";
}
