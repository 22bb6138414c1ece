// SPDX-License-Identifier: Apache-2.0
#include "log/check/tag_kind.h"

#include <algorithm>
#include <variant>

#include "steptape/events/plugin_content.h"

#include "events/messages/value_metadata.h"

namespace steptape::detail::log {
namespace {

struct PluginPage {
  std::string_view plugin;
  Page page;
  event::DataClass dataClass;
};

/// @source tensorboard/plugins/*/metadata.py
constexpr PluginPage kPluginPages[] = {
    {event::kScalarsPlugin, Page::kScalars, event::DataClass::kScalar},
    {event::kHistogramsPlugin, Page::kHistograms, event::DataClass::kTensor},
    {event::kTextPlugin, Page::kText, event::DataClass::kTensor},
    {event::kPrCurvesPlugin, Page::kPrCurves, event::DataClass::kTensor},
    {event::kHparamsPlugin, Page::kHparams, event::DataClass::kTensor},
    {event::kMeshPlugin, Page::kMesh, event::DataClass::kTensor},
    {event::kCustomScalarsPlugin, Page::kCustomScalars, event::DataClass::kTensor},
    {event::kImagesPlugin, Page::kImages, event::DataClass::kBlobSequence},
    {event::kAudioPlugin, Page::kAudio, event::DataClass::kBlobSequence},
    {"graph_run_metadata", Page::kGraphs, event::DataClass::kBlobSequence},
    {"graph_run_metadata_graph", Page::kGraphs, event::DataClass::kBlobSequence},
    {"graph_keras_model", Page::kGraphs, event::DataClass::kBlobSequence},
};

const PluginPage* findPage(std::string_view plugin) {
  const auto* const found =
      std::find_if(std::begin(kPluginPages), std::end(kPluginPages),
                   [&](const PluginPage& each) { return each.plugin == plugin; });
  return found == std::end(kPluginPages) ? nullptr : found;
}

/// Returns the page of a plugin with data of this class.
Page pageOf(std::string_view plugin, event::DataClass dataClass) {
  if (!isKnown(dataClass)) {
    return Page::kNone;
  }
  const PluginPage* const found = findPage(plugin);
  if (found == nullptr) {
    return plugin.empty() ? Page::kNone : Page::kOther;
  }
  return found->dataClass == dataClass ? found->page : Page::kNone;
}

event::DataClass classOfPlugin(std::string_view plugin) {
  const PluginPage* const found = findPage(plugin);
  return found == nullptr ? event::DataClass::kUnknown : found->dataClass;
}

}  // namespace

Page pageOfPlugin(std::string_view plugin) {
  const PluginPage* const found = findPage(plugin);
  return found != nullptr ? found->page : plugin.empty() ? Page::kNone : Page::kOther;
}

Page pageOfField(const event::Value::Data& data) {
  struct FieldPage {
    Page operator()(std::monostate) const { return Page::kNone; }
    Page operator()(float) const { return Page::kScalars; }
    Page operator()(const event::Tensor&) const { return Page::kNone; }
    Page operator()(const event::SummaryImage&) const { return Page::kImages; }
    Page operator()(const event::SummaryHistogram&) const { return Page::kHistograms; }
    Page operator()(const event::SummaryAudio&) const { return Page::kAudio; }
  };
  return std::visit(FieldPage(), data);
}

bool isKnown(event::DataClass dataClass) {
  return dataClass == event::DataClass::kScalar || dataClass == event::DataClass::kTensor ||
         dataClass == event::DataClass::kBlobSequence;
}

TagKind kindOf(const event::Value& value) {
  TagKind kind;
  if (value.metadata) {
    kind.plugin = value.metadata->pluginName;
    if (value.metadata->dataClass != event::DataClass::kUnknown) {
      kind.dataClass = value.metadata->dataClass;
      kind.isDeclared = true;
      kind.page = pageOf(kind.plugin, kind.dataClass);
      return kind;
    }
  }
  if (const char* const plugin = events::pluginOfField(value.data)) {
    kind.plugin = plugin;
  }
  kind.dataClass = classOfPlugin(kind.plugin);
  kind.page = pageOf(kind.plugin, kind.dataClass);
  return kind;
}

void PythonKind::take(const event::Value& value, const events::ValueFacts& facts,
                      std::uint32_t file) {
  const char* const field = events::pluginOfField(value.data);
  const bool isFirstInFile = file_ != file + 1;
  const bool hasMetadata = field != nullptr || value.metadata;
  if (isFirstInFile || (!kind_ && hasMetadata)) {
    TagKind own;
    if (field != nullptr) {
      own.plugin = field;  // whatever the metadata says
    } else if (value.metadata) {
      own.plugin = value.metadata->pluginName;
      own.dataClass = value.metadata->dataClass;
      own.isDeclared = own.dataClass != event::DataClass::kUnknown;
    }
    if (isFirstInFile) {
      file_ = file + 1;
      isConverted_ = !own.isDeclared;
      initial_ = pageOfPlugin(own.plugin);
      initialClass_ = classOfPlugin(own.plugin);
    }
    if (!kind_ && hasMetadata) {
      const event::DataClass implied = isConverted_ ? initialClass_ : event::DataClass::kUnknown;
      if (implied != event::DataClass::kUnknown) {
        own.dataClass = implied;
      }
      own.page = pageOf(own.plugin, own.dataClass);
      kind_ = own;
    }
  }
  const bool isNamed = facts.hasTag || facts.nodeName.empty();
  const bool isTensor = std::holds_alternative<event::Tensor>(value.data);
  // Hyperparameters without data get an empty tensor.
  const bool isCompleted = isConverted_ && initial_ == Page::kHparams;
  hasData_ = hasData_ || field != nullptr || ((isTensor || isCompleted) && isNamed);
}

}  // namespace steptape::detail::log
