// SPDX-License-Identifier: Apache-2.0
#include "log/check/value_form.h"

#include <cstddef>
#include <string_view>
#include <variant>
#include <vector>

#include "base/got_expected.h"
#include "base/text.h"
#include "events/messages/value_metadata.h"
#include "log/check/array_form.h"
#include "log/check/value_outcome.h"
#include "log/reader/value_checks.h"

namespace steptape::detail::log {
namespace {

constexpr ReaderEffect kNone = ReaderEffect::kNone;
constexpr ReaderEffect kNote = ReaderEffect::kNote;
constexpr ReaderEffect kLoss = ReaderEffect::kLoss;

std::string consequence(const ValueOutcome& fast, const ValueOutcome& python) {
  if (fast == python) {
    return fast == kLeftOut ? "neither reader shows it"
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
std::string formText(const event::Value::Data& data, const events::ValueFacts& facts) {
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
             shapeText(tensor.shape) + (isOdd ? " and " + base::counted(given, "element") : "");
    }
    const events::ValueFacts& facts;
  };
  return std::visit(Text{facts}, data);
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

const char* ruleFor(const event::Value& value, Page page, const ValueOutcome& fast,
                    const ValueOutcome& python) {
  const event::Tensor* const tensor = tensorIn(value);
  if (python == kDropsCounts) {
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

ValueOutcome ofOtherPage(const ValueOutcome& outcome) {
  return outcome.effect == kLoss ? outcome : kLeftOut;  // shown, if at all, as what it is not
}

FormProblem otherPage(const event::Value& value, const events::ValueFacts& facts,
                      const TagKind& kind, const ValueOutcome& fast, const ValueOutcome& python) {
  const std::string own = tensorIn(value) != nullptr && value.metadata
                              ? " of plugin " + value.metadata->pluginName
                              : "";
  return {{"value-form", fast.effect, python.effect},
          base::gotExpected(formText(value.data, facts) + own,
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
  if (events::pluginOfField(first.data) == nullptr || kind.isDeclared || !first.metadata ||
      !events::hasNames(*first.metadata)) {
    return std::nullopt;
  }
  return FormProblem{{"unseen-name", kNote, kNone},
                     "got " + formText(first.data, events::ValueFacts()) +
                         " with a display name or description; expected a tensor or a data "
                         "class: the fast data server shows neither"};
}

std::optional<FormProblem> checkForm(const event::Value& value, const events::ValueFacts& facts,
                                     const TagKind& kind, const PythonKind& pythonKind) {
  ValueOutcome fast = fastOutcome(value, facts, kind);
  ValueOutcome python = pythonOutcome(value, facts, pythonKind);
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
  if (page == Page::kNone && !(python == kEndsLoading)) {
    return std::nullopt;  // checkKind() reports the tag
  }
  if (fast.effect == kNone && python.effect == kNone) {
    return page == Page::kHistograms ? checkEdges(value) : std::nullopt;
  }
  return FormProblem{
      {ruleFor(value, page, fast, python), fast.effect, python.effect},
      base::gotExpected(formText(value.data, facts), expectedForm(page, named.dataClass)) + ": " +
          consequence(fast, python)};
}

std::optional<FormProblem> checkForm(const event::Value& value) {
  const events::ValueFacts facts = events::factsOf(value);
  PythonKind pythonKind;
  pythonKind.take(value, facts, 0);
  return checkForm(value, facts, kindOf(value), pythonKind);
}

}  // namespace steptape::detail::log
