// SPDX-License-Identifier: Apache-2.0
#include "steptape/profile/profile_figures.h"

namespace steptape {
namespace {

FigureOptions describedAs(const char* description) {
  FigureOptions options;
  options.description = description;
  return options;
}

}  // namespace

void writeProfileFigures(SummaryWriter& writer, const Trace& trace, std::int64_t step) {
  writer.addFigure("profile/flame_graph", flameGraph(trace), step,
                   describedAs("What took the time of all recorded steps together. A block is as "
                               "wide as its time; below it is what it called."));
  if (!trace.steps.empty()) {
    writer.addFigure("profile/step_breakdown", stepBreakdown(trace), step,
                     describedAs("What each recorded step was made of. *Transfer* and *wait* are "
                                 "the two parts of what ranks do together, *other* is outside of "
                                 "operators."));
  }
  if (!trace.memory.empty()) {
    writer.addFigure("profile/memory_curve", memoryCurve(trace), step,
                     describedAs("Of what was allocated in the recorded steps; what the program "
                                 "had before, such as parameters, is not in it."));
  }
}

void drawProfile(const Trace& trace, SummaryWriter* writer, std::int64_t step) {
  if (writer != nullptr) {
    writeProfileFigures(*writer, trace, step);
  }
}

}  // namespace steptape
