// SPDX-License-Identifier: Apache-2.0
#include <cstdint>
#include <memory>
#include <string>
#include <variant>
#include <vector>

#include "steptape/base/json.h"
#include "steptape/events/plugin_content.h"
#include "steptape/log/export.h"

#include "base/json_chars.h"
#include "log/export/export_run.h"
#include "log/export/media_files.h"
#include "log/export/value_json.h"

namespace steptape {
namespace {

class JsonlFormat : public detail::log::ExportFormat {
 public:
  JsonlFormat(const ExportOptions& options, const ExportSink& sink) : out_(sink) {
    if (!options.mediaDirectory.empty()) {
      media_ = std::make_unique<detail::log::MediaFiles>(options.mediaDirectory);
    }
  }

  void beginRun(const detail::log::ExportedRun& run) override {
    run_ = &run;
    beginnings_.clear();
    isOfScalars_.clear();
    for (std::uint32_t tag = 0; tag < run.tags.size(); ++tag) {
      const std::string& plugin = run.tags[tag].metadata.pluginName;
      beginnings_.push_back(beginningOf(tag, plugin));
      isOfScalars_.push_back(plugin == event::kScalarsPlugin);
    }
  }

  bool take(const detail::log::RunValue& value) override {
    const bool isTensor = value.number != nullptr && !isDouble(*value.number);
    if (value.data == nullptr && !isTensor) {
      takeScalar(value);
    } else {
      takeData(value, isTensor ? *value.number : *value.data);
    }
    out_.flushIfLong();
    return true;
  }

  bool isExact() const override { return true; }

  void finish() { out_.flush(); }

 private:
  static bool isDouble(const event::Value& value) {
    const auto* const tensor = std::get_if<event::Tensor>(&value.data);
    return tensor != nullptr && tensor->type == event::TensorType::kDouble;
  }

  static char* writeWhen(const detail::log::RunValue& value, char* out) {
    out = detail::base::writeText(out, ",\"step\":");
    out = detail::base::writeJsonInteger(out, value.step);
    out = detail::base::writeText(out, ",\"wall_time\":");
    return detail::base::writeJsonReal(out, value.wallTime);
  }

  /// Returns the start of the lines of a tag.
  std::string beginningOf(std::uint32_t tag, const std::string& plugin) const {
    std::string text = "{\"run\":";
    appendJsonString(&text, run_->directory);
    text += ",\"tag\":";
    appendJsonString(&text, run_->tagNames[tag]);
    text += ",\"plugin\":";
    appendJsonString(&text, plugin);
    return text;
  }

  void takeScalar(const detail::log::RunValue& value) {
    char members[3 * detail::base::kMaxJsonNumber + 40];
    char* end = writeWhen(value, members);
    end = detail::base::writeText(end, ",\"value\":");
    end = detail::base::writeJsonReal(end, value.scalar);
    end = detail::base::writeText(end, "}\n");
    std::string& text = out_.text();
    if (isOfScalars_[value.tag]) {
      text += beginnings_[value.tag];
    } else {
      text += beginningOf(value.tag, event::kScalarsPlugin);
    }
    text.append(members, end);
  }

  void takeData(const detail::log::RunValue& value, const event::Value& data) {
    const detail::log::RunTag& tag = run_->tags[value.tag];
    const bool isOfOtherPlugin = data.metadata && !data.metadata->pluginName.empty() &&
                                 data.metadata->pluginName != tag.metadata.pluginName;
    const event::SummaryMetadata& metadata = isOfOtherPlugin ? *data.metadata : tag.metadata;
    std::string& text = out_.text();
    text += isOfOtherPlugin ? beginningOf(value.tag, metadata.pluginName) : beginnings_[value.tag];
    char members[2 * detail::base::kMaxJsonNumber + 40];
    text.append(members, writeWhen(value, members));
    text += ',';
    if (media_) {
      media_->at(run_->files.directory, tag.name, value.step);
    }
    detail::log::appendValueJson(data, metadata, media_.get(), &out_);
    out_.text() += "}\n";
  }

  detail::log::ExportText out_;
  std::unique_ptr<detail::log::MediaFiles> media_;
  const detail::log::ExportedRun* run_ = nullptr;
  std::vector<std::string> beginnings_;  // start of each tag's lines
  std::vector<bool> isOfScalars_;        // whether that names the plugin "scalars"
};

}  // namespace

ExportResult exportJsonl(const std::vector<RunFiles>& runs, const ExportOptions& options,
                         const ExportSink& sink) {
  JsonlFormat format(options, sink);
  ExportResult result = detail::log::exportRuns(runs, options, &format);
  format.finish();
  return result;
}

}  // namespace steptape
