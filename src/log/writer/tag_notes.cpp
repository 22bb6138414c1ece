// SPDX-License-Identifier: Apache-2.0
#include "log/writer/tag_notes.h"

#include <utility>
#include <variant>

#include "steptape/events/plugin_content.h"

#include "base/got_expected.h"
#include "base/text.h"
#include "events/messages/value_metadata.h"

namespace steptape::detail::log {
namespace {

// TensorBoard's tag for the graph of a run.
// @source tensorboard/plugins/graph/metadata.py, RUN_GRAPH_NAME
constexpr char kGraphTag[] = "__run_graph__";
constexpr char kGraphKind[] = "graph";
constexpr char kRunMetadataKind[] = "measurements of a graph";

/// Returns the kind by which TensorBoard takes a value, which is a plugin's name; empty if the
/// value does not state it.
std::string_view kindOf(const event::Value& value) {
  if (value.metadata && !value.metadata->pluginName.empty()) {
    return value.metadata->pluginName;
  }
  const char* const plugin = events::pluginOfField(value.data);
  return plugin == nullptr ? std::string_view() : std::string_view(plugin);
}

/// Returns whether values of this kind state something about the whole run, so that a later one
/// replaces an earlier one on purpose.
bool isWrittenAgain(std::string_view kind) {
  return kind == event::kHparamsPlugin || kind == event::kCustomScalarsPlugin;
}

/// Returns why TensorBoard does not show a value that a caller has made; empty if it does, as far
/// as its form tells.
std::string formProblem(const event::Value& value, std::string_view kind) {
  const auto* const tensor = std::get_if<event::Tensor>(&value.data);
  if (kind.empty()) {
    return base::gotExpected("a tensor without a plugin", "metadata that names one") +
           ": no page of TensorBoard shows the tag";
  }
  const bool isBlob = kind == event::kImagesPlugin || kind == event::kAudioPlugin;
  if (isBlob && events::isNoBlobName(value.tag)) {
    return base::gotExpected("a quotation mark, a backslash or a control character in the tag",
                             "none") +
           ": TensorBoard's data server does not show " + std::string(kind) + " of such a tag";
  }
  if (kind != event::kScalarsPlugin || std::holds_alternative<float>(value.data) ||
      (tensor != nullptr && tensor->type == event::TensorType::kFloat && tensor->shape.empty() &&
       tensor->content.size() == sizeof(float))) {
    return {};
  }
  const std::string got =
      tensor == nullptr ? "no number"
                        : "a tensor of type " + std::to_string(static_cast<int>(tensor->type)) +
                              ", shape (" + base::commaSeparated(tensor->shape) + ") and " +
                              base::counted(tensor->content.size(), "byte");
  return base::gotExpected(got, "a scalar of type 1, DT_FLOAT") +
         ": TensorBoard's data server does not show it, and the Python loader not every type";
}

}  // namespace

void TagNotes::noteScalars(const std::string& tag) {
  noteKind(tag, event::kScalarsPlugin);
}

/// Reports values that TensorBoard will not show because of earlier ones.
void TagNotes::noteValues(const event::Event& event) {
  if (const auto* const summary = std::get_if<event::Summary>(&event.what)) {
    for (const event::Value& value : summary->values) {
      TagNote* const note = noteKind(value.tag, kindOf(value));
      noteForm(value, note);
      if (!isWrittenAgain(note->kind)) {
        noteStep(value.tag, event.step, note);
      }
    }
  } else if (const auto* const run = std::get_if<event::TaggedRunMetadata>(&event.what)) {
    noteStep(run->tag, event.step, noteKind(run->tag, kRunMetadataKind));
  } else if (std::holds_alternative<event::GraphDef>(event.what)) {
    TagNote* const note = noteKind(kGraphTag, kGraphKind);
    if (note->lastStep && stepsRepeated_.insert(kGraphTag).second) {
      report(directory_,
             "got a second graph; expected one for each run: TensorBoard's data server "
             "shows only the last one, its Python loader only the first");
    }
    note->lastStep = event.step;
  }
}

/// Reports a value of another kind than the first value of its tag, once per tag.
/// @param kind Empty if the value does not state it.
TagNotes::TagNote* TagNotes::noteKind(const std::string& tag, std::string_view kind) {
  const auto [known, isFirst] = tags_.try_emplace(tag);
  TagNote* const note = &known->second;
  if (isFirst) {
    note->kind = kind;
  } else if (!kind.empty() && kind != note->kind && !std::exchange(note->isReported, true)) {
    const std::string first = note->kind.empty() ? "a tensor without a plugin" : note->kind;
    report(
        base::quoted(tag) + " in " + directory_,
        base::gotExpected(std::string(kind) + " after " + first, "one kind of value for each tag") +
            ": TensorBoard regards all values of the tag as " + first +
            ", and shows nothing of it, or not all. Give the " + std::string(kind) +
            " another tag");
  }
  return note;
}

/// Reports a value that TensorBoard cannot show as the tag's kind, once per tag.
void TagNotes::noteForm(const event::Value& value, TagNote* note) {
  if (note->isReported) {
    return;
  }
  const std::string problem = formProblem(value, note->kind);
  if (!problem.empty()) {
    note->isReported = true;
    report(base::quoted(value.tag) + " in " + directory_, problem);
  }
}

void TagNotes::noteStep(const std::string& tag, std::int64_t step, TagNote* note) {
  if (note->lastStep && step < *note->lastStep) {
    noteStepBack(tag, *note->lastStep, step);
  } else if (note->lastStep == step) {
    noteRepeatedStep(tag, step);
  }
  note->lastStep = step;
}

void TagNotes::noteOldStep(ScalarSeries* series, float value, std::int64_t step) {
  const bool isFirst = series->lastStep == ScalarSeries::kNoStep;
  if (isFirst || std::exchange(series->resumes, resumes_) != resumes_) {
    return;
  }
  if (step < series->lastStep) {
    noteStepBack(series->tag, series->lastStep, step);
  } else if (!isSameValue(value, series->lastValue)) {
    noteRepeatedStep(series->tag, step);
  }
}

void TagNotes::noteStepBack(const std::string& tag, std::int64_t last, std::int64_t step) {
  context_->counters().stepRegressions.add(1);
  if (++stepsBack_[tag] == 1) {
    report(base::quoted(tag) + " in " + directory_,
           base::gotExpected("step " + std::to_string(step) + " after step " + std::to_string(last),
                             "steps that do not decrease") +
               ": TensorBoard discards points at or after the new step. To continue from an "
               "earlier step, call SummaryWriter::resume()");
  }
}

void TagNotes::noteRepeatedStep(const std::string& tag, std::int64_t step) {
  if (stepsRepeated_.insert(tag).second) {
    report(base::quoted(tag) + " in " + directory_,
           base::gotExpected("two values at step " + std::to_string(step), "one for each step") +
               ": TensorBoard's data server shows only the last one");
  }
}

void TagNotes::report(const std::string& where, const std::string& problem) {
  context_->reporter().report({ErrorCode::kInvalidArgument, where + ": " + problem});
}

void TagNotes::reportStepsBack() {
  while (!stepsBack_.empty()) {
    const auto& [tag, count] = *stepsBack_.begin();
    if (count > 1) {
      context_->reporter().report({ErrorCode::kInvalidArgument,
                                   "\"" + tag + "\" in " + directory_ + ": the step decreased " +
                                       std::to_string(count) + " times"});
    }
    stepsBack_.erase(stepsBack_.begin());
  }
}

void TagNotes::noteResume() {
  ++resumes_;
  for (auto& [tag, note] : tags_) {
    note.lastStep.reset();
  }
}

}  // namespace steptape::detail::log
