// SPDX-License-Identifier: Apache-2.0
#include "steptape/profile_figure/profile_figures.h"

namespace steptape {

void addProfileFigures(SummaryWriter& writer, const Trace& trace, std::int64_t step) {
  writer.addFigure("profile/flame_graph", flameGraph(trace), step);
  if (!trace.steps.empty()) {
    writer.addFigure("profile/step_breakdown", stepBreakdown(trace), step);
  }
  if (!trace.memory.empty()) {
    writer.addFigure("profile/memory_curve", memoryCurve(trace), step);
  }
}

void drawProfile(const Trace& trace, SummaryWriter* writer, std::int64_t step) {
  if (writer != nullptr) {
    addProfileFigures(*writer, trace, step);
  }
}

}  // namespace steptape
