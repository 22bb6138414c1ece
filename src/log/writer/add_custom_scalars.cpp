// SPDX-License-Identifier: Apache-2.0
#include <string>
#include <utility>
#include <vector>

#include "steptape/log/summary_writer.h"

#include "log/writer/call_site.h"
#include "log/writer/run_client.h"
#include "values/kinds/plot/custom_scalars.h"

namespace steptape {
namespace {

CustomScalarsLayout layoutOf(const std::string& category, CustomScalarsChart chart) {
  return {{{category, {std::move(chart)}}}};
}

}  // namespace

void SummaryWriter::addCustomScalars(const CustomScalarsLayout& layout) {
  if (!client_->isActive()) {
    return;
  }
  detail::log::CallSite("addCustomScalars").run([&] { detail::values::checkLayout(layout); });
  client_->layout().add(layout);
  // A layout belongs to the run, so it has no step.
  client_->addValue(0, std::nullopt, encodeLayout(layout).size(), [client = client_] {
    return detail::values::customScalarsValue(client->layout().whole());
  });
}

void SummaryWriter::addCustomScalarsMultilineChart(const std::vector<std::string>& tags,
                                                   const std::string& category,
                                                   const std::string& title) {
  addCustomScalars(layoutOf(category, CustomScalarsChart::multiline(title, tags)));
}

void SummaryWriter::addCustomScalarsMarginChart(const std::array<std::string, 3>& tags,
                                                const std::string& category,
                                                const std::string& title) {
  addCustomScalars(layoutOf(category, CustomScalarsChart::margin(title, tags)));
}

}  // namespace steptape
