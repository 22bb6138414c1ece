// SPDX-License-Identifier: Apache-2.0
#include "checker/value_form.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <string_view>
#include <variant>
#include <vector>

#include "steptape/event/custom_scalars_layout.h"
#include "steptape/event/plugin_content.h"
#include "steptape/reader/values.h"

#include "base/got_expected.h"
#include "base/text.h"
#include "base/utf8.h"
#include "checker/array_form.h"
#include "event/value_metadata.h"
#include "reader/value_checks.h"

namespace steptape::detail {
namespace {

constexpr ReaderEffect kNone = ReaderEffect::kNone;
constexpr ReaderEffect kNote = ReaderEffect::kNote;
constexpr ReaderEffect kLoss = ReaderEffect::kLoss;

/// What a reader makes of a value, as words after "the reader" and after "both readers".
struct Outcome {
  ReaderEffect effect;
  const char* ofOne;
  const char* ofBoth;
};

constexpr Outcome kShown{kNone, "shows it", "show it"};
constexpr Outcome kLeftOut{kLoss, "leaves it out", "leave it out"};
constexpr Outcome kFails{kLoss, "shows nothing of the tag (HTTP 500)",
                         "show nothing of the tag (HTTP 500)"};
constexpr Outcome kFailsInAllRuns{kLoss, "shows nothing of the tag in any run (HTTP 500)",
                                  "show nothing of the tag in any run (HTTP 500)"};
constexpr Outcome kNotDrawn{kLoss, "cannot draw it", "cannot draw it"};
constexpr Outcome kFailsInDistributions{kLoss, "shows no distributions of the tag (HTTP 500)",
                                        "show no distributions of the tag (HTTP 500)"};
constexpr Outcome kIsTrueOrFalse{kNote, "shows it as true or false", "show it as true or false"};
constexpr Outcome kIsEmptyPoint{kNote, "shows an empty value", "show an empty value"};
constexpr Outcome kIsPart{kLoss, "shows a part of it", "show a part of it"};
constexpr Outcome kIsBroken{kLoss, "shows a broken picture", "show a broken picture"};
constexpr Outcome kNotPlayed{kLoss, "does not play it", "do not play it"};
constexpr Outcome kDropsCounts{kLoss, "drops the bucket", "drop the bucket"};
constexpr Outcome kIgnoresLimits{kNote, "assigns the counts to the first limits",
                                 "assign the counts to the first limits"};
constexpr Outcome kEndsLoading{kLoss, "shows nothing more of any run",
                               "show nothing more of any run"};

std::string consequence(const Outcome& fast, const Outcome& python) {
  if (std::string_view(fast.ofOne) == python.ofOne) {
    return std::string_view(fast.ofOne) == kLeftOut.ofOne
               ? "neither reader shows it"
               : std::string("both readers ") + fast.ofBoth;
  }
  std::string text;
  if (fast.effect != kNone) {
    text += std::string("the fast data server ") + fast.ofOne;
  }
  if (python.effect != kNone) {
    text += std::string(text.empty() ? "" : ", ") + "the Python loader " + python.ofOne;
  }
  return text;
}

/// Describes `data` for messages.
std::string formText(const event::Value::Data& data, const ValueFacts& facts) {
  struct Text {
    std::string operator()(std::monostate) const { return "no value"; }
    std::string operator()(float) const { return "a simple_value"; }
    std::string operator()(const event::SummaryImage&) const { return "an image"; }
    std::string operator()(const event::SummaryHistogram& histogram) const {
      return "a histo of " + std::to_string(histogram.bucketLimits.size()) + " limits and " +
             std::to_string(histogram.bucketCounts.size()) + " counts";
    }
    std::string operator()(const event::SummaryAudio&) const { return "an audio"; }
    std::string operator()(const event::Tensor& tensor) const {
      const std::uint64_t given = givenElements(tensor, facts);
      const bool isOdd =
          elementKindOf(tensor.type) != ElementKind::kNone && given != elementsOf(tensor);
      return "a tensor of " + typeText(tensor.type) + (isOdd ? ", shape " : " and shape ") +
             shapeText(tensor.shape) + (isOdd ? " and " + counted(given, "element") : "");
    }
    const ValueFacts& facts;
  };
  return std::visit(Text{facts}, data);
}

const event::Tensor* tensorIn(const event::Value& value) {
  return std::get_if<event::Tensor>(&value.data);
}

bool hasStrings(const event::Value& value) {
  const event::Tensor* const tensor = tensorIn(value);
  return tensor != nullptr && tensor->type == event::TensorType::kString;
}

bool isMetadataOnly(const event::Value& value) {
  return std::holds_alternative<std::monostate>(value.data);
}

/// Returns the page for which a value was written, if it is the tag's page or another one of
/// TensorBoard's; else that of the tag.
Page pageOfValue(const event::Value& value, Page ofTag) {
  Page page = pageOfField(value.data);
  if (page == Page::kNone && value.metadata) {
    page = pageOfPlugin(value.metadata->pluginName);
  }
  return page == Page::kNone || page == Page::kOther ? ofTag : page;
}

// Scalars.

Outcome fastScalar(const event::Value& value, const ValueFacts& facts) {
  const event::Tensor* const tensor = tensorIn(value);
  if (std::holds_alternative<float>(value.data) || isMetadataOnly(value)) {
    return kShown;
  }
  if (tensor == nullptr || tensor->type != event::TensorType::kFloat || !tensor->shape.empty()) {
    return kLeftOut;
  }
  constexpr std::size_t kFloats = 5;
  const std::uint64_t given = facts.elements[kFloats];
  return given == 1 || (given == 0 && facts.contentBytes == sizeof(float)) ? kShown : kLeftOut;
}

Outcome pythonScalar(const event::Value& value, const ValueFacts& facts) {
  const event::Tensor* const tensor = tensorIn(value);
  if (std::holds_alternative<float>(value.data) || isMetadataOnly(value)) {
    return kShown;
  }
  if (tensor == nullptr || !makesArray(*tensor, facts) || elementsOf(*tensor) != 1) {
    return kFailsInAllRuns;
  }
  switch (elementKindOf(tensor->type)) {
    case ElementKind::kString:
      return kNotDrawn;
    case ElementKind::kBool:
      return kIsTrueOrFalse;
    case ElementKind::kComplex:
      return kFailsInAllRuns;
    default:
      return kShown;
  }
}

// Pages of tensors: what a page makes of a tensor, whichever reader it comes from.

bool isTable(const event::Tensor& tensor) {
  return tensor.shape.size() == 2 && tensor.shape[1] == 3;
}

Outcome histogramOnPage(const event::Tensor& tensor) {
  switch (elementKindOf(tensor.type)) {
    case ElementKind::kFloat:
      return isTable(tensor) ? kShown : kFails;
    case ElementKind::kInteger:
    case ElementKind::kBool:
      return isTable(tensor) ? (elementsOf(tensor) == 0 ? kShown : kFailsInDistributions) : kFails;
    default:
      return kFails;
  }
}

Outcome textOnPage(const event::Tensor& tensor) {
  if (tensor.type != event::TensorType::kString ||
      !std::all_of(tensor.strings.begin(), tensor.strings.end(), isValidUtf8)) {
    return kFails;
  }
  // Of more dimensions than two, the page shows the first of each.
  const std::size_t rank = tensor.shape.size();
  return std::all_of(tensor.shape.begin(),
                     tensor.shape.begin() +
                         static_cast<std::ptrdiff_t>(rank - std::min<std::size_t>(rank, 2)),
                     [](std::int64_t size) { return size == 1; })
             ? kShown
             : kIsPart;
}

Outcome curveOnPage(const event::Tensor& tensor) {
  constexpr std::int64_t kRows = 6;
  constexpr std::int64_t kCountRows = 4;
  const ElementKind kind = elementKindOf(tensor.type);
  if (tensor.shape.size() != 2 || tensor.shape[0] < kRows || kind == ElementKind::kString ||
      kind == ElementKind::kComplex) {
    return kFailsInAllRuns;
  }
  if (tensor.type != event::TensorType::kFloat && tensor.type != event::TensorType::kDouble) {
    return tensor.shape[0] == kRows ? kShown : kIsPart;
  }
  const auto counts = static_cast<std::size_t>(kCountRows * tensor.shape[1]);
  for (std::size_t i = 0; i < counts; ++i) {
    if (!std::isfinite(floatAt(tensor, i))) {
      return kFailsInAllRuns;  // the page makes integers of counts
    }
  }
  return tensor.shape[0] == kRows ? kShown : kIsPart;
}

Outcome layoutOnPage(const event::Value& value) {
  CustomScalarsLayout layout;
  return decodeLayout(value, &layout).ok() ? kShown : kFailsInAllRuns;
}

Outcome tensorOnPage(Page page, const event::Value& value, const event::Tensor& tensor,
                     const ValueFacts& facts) {
  if (page == Page::kHparams) {
    return kShown;  // the content is in the metadata
  }
  if (!makesArray(tensor, facts)) {
    return page == Page::kPrCurves || page == Page::kCustomScalars ? kFailsInAllRuns : kFails;
  }
  switch (page) {
    case Page::kHistograms:
      return histogramOnPage(tensor);
    case Page::kText:
      return textOnPage(tensor);
    case Page::kPrCurves:
      return curveOnPage(tensor);
    case Page::kCustomScalars:
      return layoutOnPage(value);
    default:
      return kShown;
  }
}

/// Returns what pages show of the empty tensor that the fast data server makes of metadata.
Outcome emptyTensorOnPage(Page page) {
  switch (page) {
    case Page::kHistograms:
    case Page::kText:
      return kIsEmptyPoint;
    case Page::kPrCurves:
      return kFailsInAllRuns;
    default:
      return kShown;
  }
}

Outcome fastTensor(Page page, const event::Value& value, const ValueFacts& facts) {
  if (isMetadataOnly(value)) {
    return emptyTensorOnPage(page);
  }
  if (const auto* histogram = std::get_if<event::SummaryHistogram>(&value.data)) {
    return histogram->bucketCounts.size() == histogram->bucketLimits.size() ? kShown : kLeftOut;
  }
  const event::Tensor* const tensor = tensorIn(value);
  return tensor == nullptr ? kLeftOut : tensorOnPage(page, value, *tensor, facts);
}

/// Returns what the Python loader makes of a histogram of the compatible form: a tensor without
/// the buckets at both ends that do not have a positive count.
Outcome pythonHistogram(const event::SummaryHistogram& histogram) {
  const std::vector<double>& counts = histogram.bucketCounts;
  const auto isFull = [](double count) { return count > 0; };
  const auto first = std::find_if(counts.begin(), counts.end(), isFull);
  const auto end = std::find_if(counts.rbegin(), counts.rend(), isFull).base();
  const auto isEmpty = [](double count) { return count == 0; };
  if (!std::all_of(counts.begin(), first, isEmpty) ||
      (first != counts.end() && !std::all_of(end, counts.end(), isEmpty))) {
    return kDropsCounts;
  }
  const std::size_t innerLimits =
      first == counts.end() ? 0 : static_cast<std::size_t>(end - counts.begin()) - 1;
  if (histogram.bucketLimits.size() < innerLimits) {
    return kEndsLoading;
  }
  return histogram.bucketLimits.size() == counts.size() ? kShown : kIgnoresLimits;
}

Outcome pythonTensor(Page page, const event::Value& value, const ValueFacts& facts) {
  if (const auto* histogram = std::get_if<event::SummaryHistogram>(&value.data)) {
    return pythonHistogram(*histogram);
  }
  const event::Tensor* const tensor = tensorIn(value);
  return tensor == nullptr ? kShown : tensorOnPage(page, value, *tensor, facts);
}

// Pages of images, audio and graphs.

std::uint64_t fastBlobs(const event::Tensor& tensor) {
  return tensor.shape.size() == 2 ? tensor.strings.size() / 2 : tensor.strings.size();
}

Outcome fastBlob(Page page, const event::Value& value) {
  if (std::holds_alternative<event::SummaryImage>(value.data) ||
      std::holds_alternative<event::SummaryAudio>(value.data) || isMetadataOnly(value)) {
    return kShown;
  }
  if (!hasStrings(value)) {
    return kLeftOut;
  }
  const event::Tensor& tensor = *tensorIn(value);
  const std::size_t rank = tensor.shape.size();
  const bool isLabeled = page == Page::kAudio && rank == 2 && tensor.shape[1] == 2;
  if (rank != 1 && !isLabeled) {
    return page == Page::kGraphs && rank == 0 && tensor.strings.size() == 1 ? kShown : kLeftOut;
  }
  const std::uint64_t expected = static_cast<std::uint64_t>(tensor.shape[0]);
  return fastBlobs(tensor) < expected ? kLeftOut : kShown;
}

Outcome pythonImage(const event::Value& value, const ValueFacts& facts) {
  if (!hasStrings(value)) {
    return kIsBroken;
  }
  const event::Tensor& tensor = *tensorIn(value);
  if (tensor.shape.size() == 1) {
    return makesArray(tensor, facts) ? kShown : kIsBroken;
  }
  return elementsOf(tensor) < 3 ? kLeftOut : kIsBroken;
}

Outcome pythonAudio(const event::Value& value, const ValueFacts& facts, bool omitsLabels) {
  if (std::holds_alternative<event::SummaryAudio>(value.data)) {
    return omitsLabels ? kShown : kNotPlayed;  // the loader adds an empty label
  }
  if (!hasStrings(value) || !makesArray(*tensorIn(value), facts)) {
    return kNotPlayed;
  }
  const event::Tensor& tensor = *tensorIn(value);
  const std::size_t rank = tensor.shape.size();
  if (rank == 1 || elementsOf(tensor) == 0) {
    return kShown;
  }
  // All but the first element of a row count as labels.
  const bool hasLabels = rank == 2 && tensor.shape[1] <= 2;
  return rank > 0 && omitsLabels ? (hasLabels ? kShown : kIsPart) : kNotPlayed;
}

Outcome pythonBlob(Page page, const event::Value& value, const ValueFacts& facts,
                   bool omitsLabels) {
  if (isMetadataOnly(value)) {
    return kShown;
  }
  if (page == Page::kAudio) {
    return pythonAudio(value, facts, omitsLabels);
  }
  if (std::holds_alternative<event::SummaryImage>(value.data)) {
    return kShown;
  }
  if (page == Page::kImages) {
    return pythonImage(value, facts);
  }
  return hasStrings(value) ? kShown : kLeftOut;
}

// All pages.

Outcome fastOutcome(const event::Value& value, const ValueFacts& facts, const TagKind& kind) {
  const Page page = kind.page;
  switch (kind.dataClass) {
    case event::DataClass::kScalar:
      return fastScalar(value, facts);
    case event::DataClass::kTensor:
      return fastTensor(page, value, facts);
    case event::DataClass::kBlobSequence:
      return fastBlob(page, value);
    case event::DataClass::kUnknown:
      break;
  }
  return kShown;  // checkKind() reports the tag
}

Outcome pythonOutcome(const event::Value& value, const ValueFacts& facts,
                      const PythonKind& pythonKind) {
  if (const auto* histogram = std::get_if<event::SummaryHistogram>(&value.data)) {
    const Outcome outcome = pythonHistogram(*histogram);
    if (outcome.ofOne == kEndsLoading.ofOne) {
      return outcome;  // whatever the tag is
    }
  }
  if (!pythonKind.kind()) {
    return kShown;
  }
  const TagKind& kind = *pythonKind.kind();
  const Page page = kind.page;
  switch (kind.dataClass) {
    case event::DataClass::kScalar:
      return pythonScalar(value, facts);
    case event::DataClass::kTensor:
      return pythonTensor(page, value, facts);
    case event::DataClass::kBlobSequence:
      return pythonBlob(page, value, facts, pythonKind.omitsLabels());
    case event::DataClass::kUnknown:
      break;
  }
  return kShown;
}

/// Returns what is expected of a value of the page.
std::string expectedForm(Page page, event::DataClass dataClass) {
  switch (page) {
    case Page::kHistograms:
      return "a tensor of DT_DOUBLE and shape (buckets, 3), or a count for each limit";
    case Page::kText:
      return "strings in UTF-8, of rank 2 at most";
    case Page::kPrCurves:
      return "numbers of shape (6, thresholds)";
    case Page::kCustomScalars:
      return "a string with a layout";
    case Page::kImages:
    case Page::kAudio:
      return "a tensor of DT_STRING and rank 1";
    default:
      return dataClass == event::DataClass::kScalar ? "DT_FLOAT and shape ()"
             : dataClass == event::DataClass::kBlobSequence
                 ? "a tensor of DT_STRING and rank 1"
                 : "as many elements as the shape has, of a type that TensorBoard reads";
  }
}

const char* ruleFor(const event::Value& value, Page page, const Outcome& fast,
                    const Outcome& python) {
  const event::Tensor* const tensor = tensorIn(value);
  if (python.ofOne == kDropsCounts.ofOne) {
    return "histogram-counts";
  }
  if (tensor == nullptr) {
    return "value-form";
  }
  if (page == Page::kScalars && tensor->type == event::TensorType::kDouble &&
      tensor->shape.empty() && python.effect == kNone) {
    return "double-scalar";
  }
  if (page == Page::kImages && hasStrings(value) && tensor->shape.size() != 1) {
    return "image-rank";
  }
  if (page == Page::kAudio && fast.effect == kNone && hasStrings(value) &&
      tensor->shape.size() == 2) {
    return "audio-labels";
  }
  return "value-form";
}

/// Returns whether a value was written for another page than its tag's, on which it never appears.
bool isOfOtherPage(const event::Value& value, Page page) {
  return page != Page::kNone && page != Page::kOther && !isMetadataOnly(value) &&
         pageOfValue(value, page) != page;
}

Outcome ofOtherPage(const Outcome& outcome) {
  return outcome.effect == kLoss ? outcome : kLeftOut;  // shown, if at all, as what it is not
}

FormProblem otherPage(const event::Value& value, const ValueFacts& facts, const TagKind& kind,
                      const Outcome& fast, const Outcome& python) {
  const std::string own = tensorIn(value) != nullptr && value.metadata
                              ? " of plugin " + value.metadata->pluginName
                              : "";
  return {{"value-form", fast.effect, python.effect},
          gotExpected(formText(value.data, facts) + own,
                      "a value of plugin " + kind.plugin + ", as the tag's first one") +
              ": " + consequence(fast, python)};
}

/// Returns the edges of a histogram's buckets as the fast data server sends them to the page: the
/// left and right edge of each bucket, from left to right. REQUIRES: it shows the histogram.
std::vector<double> edgesOf(const event::Value& value) {
  std::vector<double> edges;
  if (const auto* found = std::get_if<event::SummaryHistogram>(&value.data)) {
    const std::size_t buckets = found->bucketCounts.size();
    for (std::size_t i = 0; i < buckets; ++i) {
      edges.push_back(i == 0 ? found->min : found->bucketLimits[i - 1]);
      edges.push_back(i + 1 == buckets ? found->max : found->bucketLimits[i]);
    }
    return edges;
  }
  const event::Tensor* tensor = nullptr;
  if (findFloats(value, "histogram", &tensor).ok() && isTable(*tensor)) {
    for (std::size_t i = 0; i < static_cast<std::size_t>(tensor->shape[0]); ++i) {
      edges.push_back(floatAt(*tensor, 3 * i));
      edges.push_back(floatAt(*tensor, 3 * i + 1));
    }
  }
  return edges;
}

std::optional<FormProblem> checkEdges(const event::Value& value) {
  const std::vector<double> edges = edgesOf(value);
  for (std::size_t i = 1; i < edges.size(); ++i) {
    if (!(edges[i - 1] <= edges[i])) {
      // The Python loader drops empty buckets at both ends of a compatible value.
      const bool isCompatible = std::holds_alternative<event::SummaryHistogram>(value.data);
      return FormProblem{{"histogram-edges", kNote, isCompatible ? kNone : kNote},
                         "got edge " + std::to_string(edges[i]) + " after " +
                             std::to_string(edges[i - 1]) +
                             "; expected increasing edges: a bucket is drawn backwards"};
    }
  }
  return std::nullopt;
}

}  // namespace

std::optional<FormProblem> checkKind(const TagKind& kind,
                                     const std::optional<TagKind>& pythonKind) {
  const bool isFastShown = kind.page != Page::kNone;
  const bool isPythonShown = pythonKind && pythonKind->page != Page::kNone;
  if (isFastShown && isPythonShown) {
    return std::nullopt;
  }
  const bool hasPlugin = !kind.plugin.empty();
  const char* const rule = !hasPlugin                                  ? "no-metadata"
                           : pageOfPlugin(kind.plugin) == Page::kOther ? "unknown-plugin"
                                                                       : "class-mismatch";
  const std::string got = !hasPlugin        ? "no plugin with the tag's first value"
                          : kind.isDeclared ? "plugin '" + kind.plugin + "' and data class " +
                                                  std::to_string(static_cast<int>(kind.dataClass))
                                            : "plugin '" + kind.plugin + "' and no data class";
  const bool isBoth = !isFastShown && !isPythonShown;
  return FormProblem{
      {rule, isFastShown ? kNone : kLoss, isPythonShown ? kNone : kLoss},
      "got " + got + "; expected one that TensorBoard knows: " +
          (isBoth ? "no page shows the tag"
                  : std::string(isFastShown ? "the Python loader" : "the fast data server") +
                        " does not show the tag")};
}

std::optional<FormProblem> checkNames(const event::Value& first, const TagKind& kind) {
  if (pluginOfField(first.data) == nullptr || kind.isDeclared || !first.metadata ||
      !hasNames(*first.metadata)) {
    return std::nullopt;
  }
  return FormProblem{{"unseen-name", kNote, kNone},
                     "got " + formText(first.data, ValueFacts()) +
                         " with a display name or description; expected a tensor or a data "
                         "class: the fast data server shows neither"};
}

std::optional<FormProblem> checkForm(const event::Value& value, const ValueFacts& facts,
                                     const TagKind& kind, const PythonKind& pythonKind) {
  Outcome fast = fastOutcome(value, facts, kind);
  Outcome python = pythonOutcome(value, facts, pythonKind);
  const bool isFastOther = isOfOtherPage(value, kind.page);
  const bool isPythonOther =
      isOfOtherPage(value, pythonKind.kind() ? pythonKind.kind()->page : Page::kNone);
  const TagKind& named = kind.page == Page::kNone && pythonKind.kind() ? *pythonKind.kind() : kind;
  const Page page = named.page;
  if (isFastOther || isPythonOther) {
    fast = isFastOther ? ofOtherPage(fast) : fast;
    python = isPythonOther ? ofOtherPage(python) : python;
    return otherPage(value, facts, named, fast, python);
  }
  if (page == Page::kNone && python.ofOne != kEndsLoading.ofOne) {
    return std::nullopt;  // checkKind() reports the tag
  }
  if (fast.effect == kNone && python.effect == kNone) {
    return page == Page::kHistograms ? checkEdges(value) : std::nullopt;
  }
  return FormProblem{{ruleFor(value, page, fast, python), fast.effect, python.effect},
                     gotExpected(formText(value.data, facts), expectedForm(page, named.dataClass)) +
                         ": " + consequence(fast, python)};
}

std::optional<FormProblem> checkForm(const event::Value& value) {
  const ValueFacts facts = factsOf(value);
  PythonKind pythonKind;
  pythonKind.take(value, facts, 0);
  return checkForm(value, facts, kindOf(value), pythonKind);
}

ClipCounts clipCounts(const event::Value& value, bool omitsLabels) {
  ClipCounts counts;
  if (std::holds_alternative<event::SummaryAudio>(value.data)) {
    counts.fastServer = 1;
    counts.pythonLoader = omitsLabels ? 1 : 2;
    return counts;
  }
  const event::Tensor* const tensor = tensorIn(value);
  if (tensor == nullptr) {
    return counts;
  }
  if (fastBlob(Page::kAudio, value).effect == kNone) {
    counts.fastServer = fastBlobs(*tensor);
  }
  counts.pythonLoader = omitsLabels && !tensor->shape.empty()
                            ? static_cast<std::uint64_t>(tensor->shape[0])
                            : elementsOf(*tensor);
  return counts;
}

}  // namespace steptape::detail
