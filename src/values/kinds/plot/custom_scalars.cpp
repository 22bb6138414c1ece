// SPDX-License-Identifier: Apache-2.0
#include "values/kinds/plot/custom_scalars.h"

#include <algorithm>
#include <string>
#include <utility>

#include "steptape/events/plugin_content.h"

#include "base/utf8.h"
#include "values/kinds/reject.h"

namespace steptape::detail::values {
namespace {

constexpr char kLayoutTag[] = "custom_scalars__config__";

void checkUtf8(const char* what, const std::string& text) {
  if (!base::isValidUtf8(text)) {
    base::reject(std::string(what) + " " + base::quoted(text) + " with invalid UTF-8", "UTF-8");
  }
}

void checkTag(const CustomScalarsChart& chart, const std::string& tag) {
  if (tag.empty()) {
    base::reject("an empty tag in chart " + base::quoted(chart.title), "a tag");
  }
  checkUtf8("tag", tag);
}

void checkChart(const CustomScalarsChart& chart) {
  checkUtf8("chart", chart.title);
  if (chart.tags.empty() == chart.margins.empty()) {
    base::reject(
        std::string(chart.tags.empty() ? "neither tags nor margins" : "both tags and margins") +
            " in chart " + base::quoted(chart.title),
        "one of them");
  }
  for (const std::string& tag : chart.tags) {
    checkTag(chart, tag);
  }
  for (const auto& margin : chart.margins) {
    for (const std::string& tag : margin) {
      checkTag(chart, tag);
    }
  }
}

/// Returns the item with the same title, or appends `item` if there is none.
template <typename Item>
Item* findOrAdd(const Item& item, std::vector<Item>* items) {
  const auto known = std::find_if(items->begin(), items->end(),
                                  [&](const Item& other) { return other.title == item.title; });
  if (known != items->end()) {
    return &*known;
  }
  items->push_back(item);
  return &items->back();
}

}  // namespace

void checkLayout(const CustomScalarsLayout& layout) {
  if (layout.categories.empty()) {
    base::reject("a layout without categories", "at least one");
  }
  for (const CustomScalarsCategory& category : layout.categories) {
    checkUtf8("category", category.title);
    if (category.charts.empty()) {
      base::reject("category " + base::quoted(category.title) + " without charts", "at least one");
    }
    for (const CustomScalarsChart& chart : category.charts) {
      checkChart(chart);
    }
  }
}

void mergeLayout(const CustomScalarsLayout& addition, CustomScalarsLayout* layout) {
  for (const CustomScalarsCategory& category : addition.categories) {
    const CustomScalarsCategory empty{category.title, {}, category.closed};
    CustomScalarsCategory* const known = findOrAdd(empty, &layout->categories);
    for (const CustomScalarsChart& chart : category.charts) {
      *findOrAdd(chart, &known->charts) = chart;
    }
  }
}

event::Value customScalarsValue(const CustomScalarsLayout& layout) {
  event::SummaryMetadata metadata;
  metadata.pluginName = event::kCustomScalarsPlugin;
  metadata.dataClass = event::DataClass::kTensor;
  event::Tensor tensor;
  tensor.type = event::TensorType::kString;
  tensor.strings.push_back(encodeLayout(layout));
  return {kLayoutTag, std::move(tensor), std::move(metadata)};
}

}  // namespace steptape::detail::values
