// SPDX-License-Identifier: Apache-2.0
#include "options.h"

#include <cstdlib>
#include <getopt.h>
#include <limits>
#include <utility>
#include <vector>

namespace {

constexpr double kHuge = std::numeric_limits<double>::max();

[[noreturn]] void refuse(const char* option, const std::string& got, const std::string& expected) {
  throw UsageError(std::string("--") + option + ": got '" + got + "'; expected " + expected);
}

/// Parses all of `text` as a number from 0 to `greatest`, which is 1 or kHuge.
double parseNumber(const char* option, const std::string& text, double greatest) {
  char* end = nullptr;
  const double value = std::strtod(text.c_str(), &end);
  if (text.empty() || *end != '\0' || !(value >= 0 && value <= greatest)) {
    refuse(option, text, greatest == kHuge ? "a number of at least 0" : "a number from 0 to 1");
  }
  return value;
}

std::int64_t parseInteger(const char* option, const std::string& text, std::int64_t least) {
  char* end = nullptr;
  const long long value = std::strtoll(text.c_str(), &end, 10);
  if (text.empty() || *end != '\0' || value < least) {
    refuse(option, text, "a whole number of at least " + std::to_string(least));
  }
  return value;
}

/// Returns the value that `names` has for `text`.
template <typename Value>
Value parseName(const char* option, const std::string& text,
                const std::vector<std::pair<std::string, Value>>& names) {
  std::string expected;
  for (const auto& [name, value] : names) {
    if (text == name) {
      return value;
    }
    expected += (expected.empty() ? "" : ", ") + name;
  }
  refuse(option, text, "one of " + expected);
}

steptape::ProgressStyle parseProgress(const std::string& text) {
  using steptape::ProgressStyle;
  return parseName<ProgressStyle>("progress", text,
                                  {{"auto", ProgressStyle::kAuto},
                                   {"bar", ProgressStyle::kBar},
                                   {"lines", ProgressStyle::kLines},
                                   {"none", ProgressStyle::kNone}});
}

steptape::Compression parseCompression(const std::string& text) {
  using steptape::Compression;
  return parseName<Compression>("compression", text,
                                {{"none", Compression::kNone},
                                 {"fp16", Compression::kFp16},
                                 {"bf16", Compression::kBf16},
                                 {"powersgd", Compression::kPowerSgd}});
}

std::string parseModel(const std::string& text) {
  return parseName<std::string>("model", text, {{"cnn", "cnn"}, {"mlp", "mlp"}});
}

constexpr option kOptions[] = {{"data", required_argument, nullptr, 'd'},
                               {"model", required_argument, nullptr, 'M'},
                               {"epochs", required_argument, nullptr, 'e'},
                               {"evaluate-steps", required_argument, nullptr, 'E'},
                               {"batch-size", required_argument, nullptr, 'b'},
                               {"accumulate", required_argument, nullptr, 'a'},
                               {"lr", required_argument, nullptr, 'l'},
                               {"momentum", required_argument, nullptr, 'm'},
                               {"clip", required_argument, nullptr, 'C'},
                               {"compression", required_argument, nullptr, 'z'},
                               {"seed", required_argument, nullptr, 's'},
                               {"log-dir", required_argument, nullptr, 'o'},
                               {"checkpoint-dir", required_argument, nullptr, 'c'},
                               {"checkpoint-steps", required_argument, nullptr, 'S'},
                               {"resume", no_argument, nullptr, 'r'},
                               {"workers", required_argument, nullptr, 'w'},
                               {"threads", required_argument, nullptr, 't'},
                               {"max-steps", required_argument, nullptr, 'x'},
                               {"max-seconds", required_argument, nullptr, 'T'},
                               {"patience", required_argument, nullptr, 'P'},
                               {"profile", required_argument, nullptr, 'O'},
                               {"profile-file", required_argument, nullptr, 'F'},
                               {"detail-scalars", no_argument, nullptr, 'D'},
                               {"machine-seconds", required_argument, nullptr, 'X'},
                               {"progress", required_argument, nullptr, 'p'},
                               {"verbose", no_argument, nullptr, 'v'},
                               {"no-log", no_argument, nullptr, 'n'},
                               {"json", no_argument, nullptr, 'j'},
                               {"help", no_argument, nullptr, 'h'},
                               {nullptr, 0, nullptr, 0}};

void apply(Options& options, int letter, const std::string& value) {
  switch (letter) {
    // clang-format off
    case 'd': options.data = value; break;
    case 'M': options.model = parseModel(value); break;
    case 'e': options.epochs = parseInteger("epochs", value, 1); break;
    case 'E': options.evaluateSteps = parseInteger("evaluate-steps", value, 0); break;
    case 'b': options.batchSize = parseInteger("batch-size", value, 1); break;
    case 'a': options.accumulate = parseInteger("accumulate", value, 1); break;
    case 'l': options.lr = parseNumber("lr", value, kHuge); break;
    case 'm': options.momentum = parseNumber("momentum", value, 1); break;
    case 'C': options.clip = parseNumber("clip", value, kHuge); break;
    case 'z': options.compression = parseCompression(value); break;
    case 's': options.seed = static_cast<std::uint64_t>(parseInteger("seed", value, 0)); break;
    case 'o': options.logDir = value; break;
    case 'c': options.checkpointDir = value; break;
    case 'S': options.checkpointSteps = parseInteger("checkpoint-steps", value, 1); break;
    case 'r': options.resume = true; break;
    case 'w': options.workers = parseInteger("workers", value, 0); break;
    case 't': options.threads = static_cast<int>(parseInteger("threads", value, 1)); break;
    case 'x': options.maxSteps = parseInteger("max-steps", value, 1); break;
    case 'T': options.maxSeconds = parseNumber("max-seconds", value, kHuge); break;
    case 'P': options.patience = parseInteger("patience", value, 1); break;
    case 'O': options.profilingShare = parseNumber("profile", value, 1); break;
    case 'F': options.profileFile = value; break;
    case 'D': options.detailScalars = true; break;
    case 'X': options.machineSeconds = parseNumber("machine-seconds", value, kHuge); break;
    case 'p': options.progress = parseProgress(value); break;
    case 'v': options.verbose = true; break;
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
  opterr = 0;  // Every rank parses; only the root prints.
  optind = 1;
  int letter = 0;
  while ((letter = getopt_long(argc, argv, ":", kOptions, nullptr)) != -1) {
    if (letter == '?' || letter == ':') {
      const std::string argument = argv[optind - 1];
      throw UsageError(letter == ':' ? argument + ": got no value; expected one"
                                     : "unknown option " + argument);
    }
    apply(options, letter, optarg == nullptr ? "" : optarg);
  }
  if (optind < argc) {
    throw UsageError(std::string("got argument '") + argv[optind] + "'; expected an option");
  }
  if (options.checkpointDir.empty() && (options.resume || options.checkpointSteps > 0)) {
    throw UsageError(std::string(options.resume ? "--resume" : "--checkpoint-steps") +
                     " needs --checkpoint-dir");
  }
  return options;
}

const char* usage() {
  return R"(Trains a small network on Fashion-MNIST, on every rank of a job.

  fashion_mnist [options]
  mpiexec -n 2 fashion_mnist --epochs 3 --log-dir runs/fashion

  --data DIR            directory of the IDX files  [/usr/share/datasets/fashion-mnist]
  --model NAME          cnn, or mlp for a perceptron 784-256-10  [cnn]
  --epochs N            passes over the training images  [1]
  --evaluate-steps N    evaluate after every N steps, besides the end of each epoch; 0: only there
                        [75]
  --batch-size N        images per batch on each rank  [64]
  --accumulate N        batches per step  [1]
  --lr X                learning rate for one rank, multiplied by the number of ranks  [0.01]
  --momentum X          momentum of SGD, from 0 to 1  [0.5]
  --clip X              upper bound of the gradients' norm; 0: no limit  [0]
  --compression NAME    none, fp16, bf16 or powersgd: compression of gradients in messages  [none]
  --seed N              seed of initial weights, order of images and dropout  [1]
  --log-dir DIR         log directory for TensorBoard  [runs/fashion_mnist_<date>]
  --checkpoint-dir DIR  write a checkpoint after every epoch and at the end, also when SIGTERM or
                        SIGUSR1 stops the run
  --checkpoint-steps N  also write a checkpoint after every N steps
  --resume              resume from the newest checkpoint, at the same step
  --workers N           threads that read images, on each rank; 0: none, the training thread reads
                        them  [0]
  --threads N           LibTorch's threads per rank  [this rank's share of the cores]
  --max-steps N         stop after N steps since the start of the run
  --max-seconds X       stop after X seconds
  --patience N          stop after N evaluations without a better accuracy
  --profile X           profile operators during the whole run, at no more than this share of its
                        time, such as 0.01  [0: off]
  --profile-file FILE   profile a few steps in full detail when FILE appears or is touched; SIGUSR2
                        to any rank does the same
  --detail-scalars      also log what is in the tables of profiles and of the ranks' times as curves
  --machine-seconds X   log processor, memory, storage, network and GPU of the ranks every X seconds
                        [0: off]
  --progress STYLE      auto, bar, lines or none  [auto]
  --verbose             print from every rank, with its number
  --no-log              write no event files
  --json                print the result as one line of JSON at the end
  --help                print this help
)";
}
