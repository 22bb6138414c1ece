// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "steptape/log/summary_writer.h"

#include "base/got_expected.h"
#include "log/writer/run_client.h"
#include "log/writer/value_names.h"
#include "values/kinds/image/image.h"

namespace steptape {
namespace {

/// Draws figures, whose sizes may differ.
event::Value drawnValue(const std::string& tag, const std::vector<CapturedFigure>& figures,
                        const event::SummaryMetadata& metadata, ValueForm form) {
  int width = 0;
  int height = 0;
  std::vector<std::string> pngs;
  for (const CapturedFigure& figure : figures) {
    PngImage drawn = figure.draw();
    width = std::max(width, drawn.width);
    height = std::max(height, drawn.height);
    pngs.push_back(std::move(drawn.bytes));
  }
  return detail::values::imageValue(tag, width, height, std::move(pngs), metadata, form);
}

}  // namespace

void SummaryWriter::addFigures(std::string_view tag, std::vector<CapturedFigure> figures,
                               std::int64_t step, const FigureOptions& options) {
  std::string name = client_->validTag(tag);
  if (!client_->isActive()) {
    return;
  }
  if (figures.empty()) {
    detail::base::reject("no figures", "at least one", "addFigure " + detail::base::quoted(name));
  }
  std::size_t bytes = 0;
  for (const CapturedFigure& figure : figures) {
    bytes += figure.bytes;
  }
  client_->addValue(step, options.wallTime, bytes,
                    [name = std::move(name), figures = std::move(figures),
                     metadata = detail::log::namesOf(options)](ValueForm form) {
                      return drawnValue(name, figures, metadata, form);
                    });
}

}  // namespace steptape
