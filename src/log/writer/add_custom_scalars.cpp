// SPDX-License-Identifier: Apache-2.0
#include <string>
#include <utility>
#include <vector>

#include "steptape/log/summary_writer.h"

#include "log/writer/call_site.h"
#include "log/writer/writer_core.h"
#include "values/kinds/plot/custom_scalars.h"

namespace steptape {
namespace {

CustomScalarsLayout layoutOf(const std::string& category, CustomScalarsChart chart) {
  return {{{category, {std::move(chart)}}}};
}

}  // namespace

void SummaryWriter::addCustomScalars(const CustomScalarsLayout& layout) {
  if (!core_->isActive()) {
    return;
  }
  detail::log::CallSite("addCustomScalars").run([&] { detail::values::checkLayout(layout); });
  core_->layout().add(layout);
  // A layout belongs to the run, so it has no step.
  core_->addValue(0, std::nullopt, encodeLayout(layout).size(), [core = core_] {
    return detail::values::customScalarsValue(core->layout().whole());
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
