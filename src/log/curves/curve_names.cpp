// SPDX-License-Identifier: Apache-2.0
#include "log/curves/curve_names.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <vector>

namespace steptape::detail::log {
namespace {

constexpr std::array<std::string_view, 18> kLosses{
    "loss", "losses", "error", "err", "perplexity", "ppl",       "nll",  "bce", "cost",
    "mse",  "mae",    "rmse",  "wer", "cer",        "residuals", "xent", "bpb", "residual"};
constexpr std::array<std::string_view, 17> kScores{
    "accuracy", "acc",   "reward", "rewards", "return", "returns", "score",  "auc",      "f1",
    "bleu",     "rouge", "iou",    "map",     "psnr",   "ssim",    "recall", "precision"};
constexpr std::array<std::string_view, 2> kObjectives{"elbo", "objective"};
constexpr std::array<std::string_view, 39> kMeasures{
    "time",     "times",      "seconds",     "sec",       "secs", "ms",      "us",     "ns",
    "duration", "wait",       "latency",     "fps",       "mb",   "speed",   "memory", "bytes",
    "gb",       "throughput", "straggler",   "sps",       "tps",  "ips",     "qps",    "mfu",
    "hfu",      "tflops",     "gflops",      "flops",     "vram", "ram",     "rss",    "mem",
    "gib",      "mib",        "utilization", "bandwidth", "hz",   "elapsed", "util"};
/// What a rate counts: "it/s", "samples_per_second", "step_rate".
constexpr std::array<std::string_view, 24> kCounted{
    "it",      "iter",    "iters",    "iteration", "iterations", "step",  "steps",     "sample",
    "samples", "token",   "tokens",   "tok",       "toks",       "frame", "frames",    "image",
    "images",  "example", "examples", "batch",     "batches",    "seq",   "sequences", "episodes"};
/// Measures and counts, unless the tag is a loss or a score: "gpu0/loss".
constexpr std::array<std::string_view, 7> kWeakMeasures{"cpu",      "gpu",    "machine", "samples",
                                                        "examples", "tokens", "gpus"};
/// What a loss has, and is none itself.
constexpr std::array<std::string_view, 4> kProperties{"scale", "weight", "std", "rank"};
/// The same, but only after its name: "vf_loss_coef", while "alpha_loss" is a loss. Some programs
/// have all that they learn with below "losses/".
constexpr std::array<std::string_view, 21> kLaterProperties{
    "coef",   "coefs", "coeff", "coefficient", "scaler",   "factor",   "multiplier",
    "lambda", "beta",  "gamma", "alpha",       "variance", "clipfrac", "fraction",
    "frac",   "ratio", "grad",  "gradient",    "kl",       "lr",       "values"};
constexpr std::array<std::string_view, 2> kTraining{"train", "training"};
constexpr std::array<std::string_view, 8> kValidation{"val",  "valid", "validation", "eval",
                                                      "test", "dev",   "holdout",    "heldout"};
/// How often a value is logged; no other value.
constexpr std::array<std::string_view, 2> kPeriods{"epoch", "step"};
/// What the loss of a whole model is called besides.
constexpr std::array<std::string_view, 23> kWhole{
    "total",  "overall", "main",  "mean",  "avg",     "average", "running",  "smoothed",
    "smooth", "ema",     "epoch", "step",  "batch",   "lm",      "language", "model",
    "token",  "tokens",  "per",   "cross", "entropy", "metrics", "global"};
/// Of learning by reward.
constexpr std::array<std::string_view, 7> kRewards{"reward",  "rewards",  "rew",    "return",
                                                   "returns", "episodic", "rollout"};
/// Whose losses rise as others learn.
constexpr std::array<std::string_view, 21> kOpponents{
    "actor", "critic", "policy", "value",         "vf",       "pf", "qf",        "q",
    "pi",    "td",     "d",      "discriminator", "disc",     "g",  "generator", "adversarial",
    "adv",   "gan",    "fake",   "real",          "advantage"};

template <std::size_t N>
bool isOneOf(std::string_view word, const std::array<std::string_view, N>& words) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

/// Whether a word has a meaning as a whole, so that "mAP" and "f1" are one.
bool isKnown(std::string_view word) {
  return isOneOf(word, kLosses) || isOneOf(word, kScores) || isOneOf(word, kMeasures) ||
         isOneOf(word, kTraining) || isOneOf(word, kValidation);
}

bool isLetterOrDigit(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0;
}
bool isUpper(char c) {
  return std::isupper(static_cast<unsigned char>(c)) != 0;
}
bool isLower(char c) {
  return std::islower(static_cast<unsigned char>(c)) != 0;
}
bool isDigit(char c) {
  return std::isdigit(static_cast<unsigned char>(c)) != 0;
}

std::string lowered(std::string_view text) {
  std::string result;
  for (const char c : text) {
    result += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  }
  return result;
}

/// Adds the words of letters and digits: of "MSELoss2" mse, loss and 2.
void addWords(std::string_view text, std::vector<std::string>* words) {
  std::string whole = lowered(text);
  if (isKnown(whole)) {
    words->push_back(std::move(whole));
    return;
  }
  std::size_t begin = 0;
  for (std::size_t i = 1; i <= text.size(); ++i) {
    const bool ends = i == text.size() || isDigit(text[i]) != isDigit(text[i - 1]) ||
                      (isUpper(text[i]) &&
                       (!isUpper(text[i - 1]) || (i + 1 < text.size() && isLower(text[i + 1]))));
    if (ends) {
      words->push_back(whole.substr(begin, i - begin));
      begin = i;
    }
  }
}

/// Returns the words of a name in lower case: of "val/totalLoss_1" val, total, loss and 1.
std::vector<std::string> wordsOf(std::string_view tag) {
  std::vector<std::string> words;
  for (std::size_t begin = 0; begin < tag.size(); ++begin) {
    std::size_t end = begin;
    while (end < tag.size() && isLetterOrDigit(tag[end])) {
      ++end;
    }
    if (end > begin) {
      addWords(tag.substr(begin, end - begin), &words);
      begin = end;
    }
  }
  return words;
}

/// Whether two words in a row say that something is counted in a time.
bool isRate(std::string_view first, std::string_view second) {
  const bool isCounted = isOneOf(first, kCounted) || first == "per";
  return (isCounted && (second == "s" || second == "second" || second == "rate")) ||
         (first == "s" && (isOneOf(second, kCounted) || second == "per"));
}

CurveKind kindOf(const std::vector<std::string>& words) {
  CurveKind kind = CurveKind::kOther;
  bool isMeasure = false;
  std::string_view before;
  // The last word decides: "reward_loss" is a loss.
  for (const std::string& word : words) {
    if (isOneOf(word, kMeasures) || isRate(before, word)) {
      return CurveKind::kMeasure;
    }
    const bool isCrossEntropy = before == "cross" && word == "entropy";
    if (isOneOf(word, kLosses) || isCrossEntropy || word == "crossentropy" ||
        (before == "bits" && word == "per")) {
      kind = CurveKind::kLoss;
    } else if (isOneOf(word, kScores)) {
      kind = CurveKind::kScore;
    } else if (isOneOf(word, kObjectives)) {
      kind = CurveKind::kObjective;
    } else if (isOneOf(word, kProperties) ||
               (kind != CurveKind::kOther &&
                (isOneOf(word, kLaterProperties) || word == "entropy"))) {
      return CurveKind::kOther;
    }
    isMeasure = isMeasure || isOneOf(word, kWeakMeasures);
    before = word;
  }
  return kind == CurveKind::kOther && isMeasure ? CurveKind::kMeasure : kind;
}

}  // namespace

CurveKind curveKindOf(std::string_view tag) {
  return kindOf(wordsOf(tag));
}

bool isWholeLoss(std::string_view tag) {
  const std::vector<std::string> words = wordsOf(tag);
  return kindOf(words) == CurveKind::kLoss &&
         std::all_of(words.begin(), words.end(), [](const std::string& word) {
           return isOneOf(word, kLosses) || isOneOf(word, kTraining) || isOneOf(word, kWhole) ||
                  word == "crossentropy";
         });
}

bool isOfContest(std::string_view tag) {
  const std::vector<std::string> words = wordsOf(tag);
  const bool isLoss = kindOf(words) == CurveKind::kLoss;
  return std::any_of(words.begin(), words.end(), [&](const std::string& word) {
    return isOneOf(word, kRewards) || (isLoss && isOneOf(word, kOpponents));
  });
}

PartedName partedNameOf(std::string_view tag) {
  PartedName name;
  for (const std::string& word : wordsOf(tag)) {
    const bool isTraining = isOneOf(word, kTraining);
    if (name.part == CurvePart::kNone && (isTraining || isOneOf(word, kValidation))) {
      name.part = isTraining ? CurvePart::kTraining : CurvePart::kValidation;
    } else if (!isOneOf(word, kPeriods)) {
      name.rest += word + '/';
    }
  }
  return name;
}

}  // namespace steptape::detail::log
