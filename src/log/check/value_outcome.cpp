// SPDX-License-Identifier: Apache-2.0
#include "log/check/value_outcome.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <vector>

#include "steptape/events/plugin_content.h"
#include "steptape/log/values.h"

#include "base/utf8.h"
#include "log/check/array_form.h"
#include "log/reader/value_checks.h"

namespace steptape::detail::log {
namespace {

// Scalars.

ValueOutcome fastScalar(const event::Value& value, const events::ValueFacts& facts) {
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

ValueOutcome pythonScalar(const event::Value& value, const events::ValueFacts& facts) {
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

ValueOutcome histogramOnPage(const event::Tensor& tensor) {
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

ValueOutcome textOnPage(const event::Tensor& tensor) {
  if (tensor.type != event::TensorType::kString ||
      !std::all_of(tensor.strings.begin(), tensor.strings.end(), base::isValidUtf8)) {
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

ValueOutcome curveOnPage(const event::Tensor& tensor) {
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

ValueOutcome layoutOnPage(const event::Value& value) {
  CustomScalarsLayout layout;
  return decodeLayout(value, &layout).ok() ? kShown : kFailsInAllRuns;
}

ValueOutcome tensorOnPage(Page page, const event::Value& value, const event::Tensor& tensor,
                          const events::ValueFacts& facts) {
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
ValueOutcome emptyTensorOnPage(Page page) {
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

ValueOutcome fastTensor(Page page, const event::Value& value, const events::ValueFacts& facts) {
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
ValueOutcome pythonHistogram(const event::SummaryHistogram& histogram) {
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

ValueOutcome pythonTensor(Page page, const event::Value& value, const events::ValueFacts& facts) {
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

ValueOutcome fastBlob(Page page, const event::Value& value) {
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

ValueOutcome pythonImage(const event::Value& value, const events::ValueFacts& facts) {
  if (!hasStrings(value)) {
    return kIsBroken;
  }
  const event::Tensor& tensor = *tensorIn(value);
  if (tensor.shape.size() == 1) {
    return makesArray(tensor, facts) ? kShown : kIsBroken;
  }
  return elementsOf(tensor) < 3 ? kLeftOut : kIsBroken;
}

ValueOutcome pythonAudio(const event::Value& value, const events::ValueFacts& facts,
                         bool omitsLabels) {
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

ValueOutcome pythonBlob(Page page, const event::Value& value, const events::ValueFacts& facts,
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

}  // namespace

ValueOutcome fastOutcome(const event::Value& value, const events::ValueFacts& facts,
                         const TagKind& kind) {
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

ValueOutcome pythonOutcome(const event::Value& value, const events::ValueFacts& facts,
                           const PythonKind& pythonKind) {
  if (const auto* histogram = std::get_if<event::SummaryHistogram>(&value.data)) {
    const ValueOutcome outcome = pythonHistogram(*histogram);
    if (outcome == kEndsLoading) {
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
  if (fastBlob(Page::kAudio, value).effect == ReaderEffect::kNone) {
    counts.fastServer = fastBlobs(*tensor);
  }
  counts.pythonLoader = omitsLabels && !tensor->shape.empty()
                            ? static_cast<std::uint64_t>(tensor->shape[0])
                            : elementsOf(*tensor);
  return counts;
}
}  // namespace steptape::detail::log
