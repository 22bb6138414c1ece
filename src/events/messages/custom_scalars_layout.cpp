// SPDX-License-Identifier: Apache-2.0
#include <utility>

#include "steptape/events/plugin_content.h"
#include "steptape/wire/plugins.pb.h"

#include "base/got_expected.h"
#include "events/messages/parse_message.h"

namespace steptape {
namespace {

void encode(const CustomScalarsChart& chart, wire::Chart* out) {
  out->set_title(chart.title);
  for (const auto& [value, lower, upper] : chart.margins) {
    wire::MarginChartContent::Series* series = out->mutable_margin()->add_series();
    series->set_value(value);
    series->set_lower(lower);
    series->set_upper(upper);
  }
  if (chart.margins.empty()) {
    for (const std::string& tag : chart.tags) {
      out->mutable_multiline()->add_tag(tag);
    }
  }
}

CustomScalarsChart decode(const wire::Chart& proto) {
  CustomScalarsChart chart;
  chart.title = proto.title();
  chart.tags.assign(proto.multiline().tag().begin(), proto.multiline().tag().end());
  for (const auto& series : proto.margin().series()) {
    chart.margins.push_back({series.value(), series.lower(), series.upper()});
  }
  return chart;
}

}  // namespace

CustomScalarsChart CustomScalarsChart::multiline(std::string title, std::vector<std::string> tags) {
  return {std::move(title), std::move(tags), {}};
}

CustomScalarsChart CustomScalarsChart::margin(std::string title, std::array<std::string, 3> tags) {
  return {std::move(title), {}, {std::move(tags)}};
}

std::string encodeLayout(const CustomScalarsLayout& layout) {
  wire::Layout proto;
  for (const CustomScalarsCategory& category : layout.categories) {
    wire::Category* const item = proto.add_category();
    item->set_title(category.title);
    item->set_closed(category.closed);
    for (const CustomScalarsChart& chart : category.charts) {
      encode(chart, item->add_chart());
    }
  }
  return proto.SerializeAsString();
}

Status decodeLayout(std::string_view bytes, CustomScalarsLayout* layout) {
  wire::Layout proto;
  if (!detail::events::parseMessage(bytes, &proto)) {
    return Status(ErrorCode::kDataLoss,
                  "custom-scalars layout: " +
                      detail::base::gotExpected(std::to_string(bytes.size()) + " other bytes",
                                                "a tensorboard.Layout message"));
  }
  layout->categories.clear();
  for (const wire::Category& category : proto.category()) {
    CustomScalarsCategory& item = layout->categories.emplace_back();
    item.title = category.title();
    item.closed = category.closed();
    for (const wire::Chart& chart : category.chart()) {
      item.charts.push_back(decode(chart));
    }
  }
  return Status();
}

}  // namespace steptape
