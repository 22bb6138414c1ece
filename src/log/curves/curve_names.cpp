// SPDX-License-Identifier: Apache-2.0
#include "log/curves/curve_names.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <vector>

namespace steptape::detail::log {
namespace {

constexpr std::array<std::string_view, 14> kLosses{
    "loss", "losses", "error", "err", "perplexity", "ppl",      "nll",
    "mse",  "mae",    "rmse",  "wer", "cer",        "residual", "residuals"};
constexpr std::array<std::string_view, 17> kScores{
    "accuracy", "acc",   "reward", "rewards", "return", "returns", "score",  "auc",      "f1",
    "bleu",     "rouge", "iou",    "map",     "psnr",   "ssim",    "recall", "precision"};
constexpr std::array<std::string_view, 22> kMeasures{
    "time",       "times", "seconds", "sec", "secs",    "ms",       "us",    "ns",
    "duration",   "wait",  "latency", "fps", "speed",   "memory",   "bytes", "mb",
    "throughput", "gb",    "cpu",     "gpu", "machine", "straggler"};
constexpr std::array<std::string_view, 2> kTraining{"train", "training"};
constexpr std::array<std::string_view, 6> kValidation{"val",  "valid", "validation",
                                                      "eval", "test",  "dev"};

template <std::size_t N>
bool isOneOf(std::string_view word, const std::array<std::string_view, N>& words) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

bool isLetterOrDigit(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0;
}
bool isUpper(char c) {
  return std::isupper(static_cast<unsigned char>(c)) != 0;
}

/// Returns the words of a name in lower case: of "val/totalLoss_1" val, total, loss and 1.
std::vector<std::string> wordsOf(std::string_view tag) {
  std::vector<std::string> words;
  char before = '/';
  for (const char c : tag) {
    const bool begins = !isLetterOrDigit(before) || (isUpper(c) && !isUpper(before));
    if (isLetterOrDigit(c)) {
      if (begins) {
        words.emplace_back();
      }
      words.back() += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    }
    before = c;
  }
  return words;
}

}  // namespace

CurveKind curveKindOf(std::string_view tag) {
  CurveKind kind = CurveKind::kOther;
  // The last word decides: "reward_loss" is a loss.
  for (const std::string& word : wordsOf(tag)) {
    if (isOneOf(word, kMeasures)) {
      return CurveKind::kMeasure;
    }
    if (isOneOf(word, kLosses)) {
      kind = CurveKind::kLoss;
    } else if (isOneOf(word, kScores)) {
      kind = CurveKind::kScore;
    } else if (word == "scale" || word == "weight" || word == "std" || word == "rank") {
      return CurveKind::kOther;  // of a loss, and none itself
    }
  }
  return kind;
}

PartedName partedNameOf(std::string_view tag) {
  PartedName name;
  for (const std::string& word : wordsOf(tag)) {
    const bool isTraining = isOneOf(word, kTraining);
    if (name.part == CurvePart::kNone && (isTraining || isOneOf(word, kValidation))) {
      name.part = isTraining ? CurvePart::kTraining : CurvePart::kValidation;
    } else {
      name.rest += word + '/';
    }
  }
  return name;
}

}  // namespace steptape::detail::log
