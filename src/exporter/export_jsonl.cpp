// SPDX-License-Identifier: Apache-2.0
#include <memory>
#include <string>
#include <vector>

#include "steptape/base/json.h"
#include "steptape/exporter/export.h"

#include "base/json_chars.h"
#include "exporter/export_run.h"
#include "exporter/media_files.h"
#include "exporter/value_json.h"

namespace steptape {
namespace {

class JsonlFormat : public detail::ExportFormat {
 public:
  JsonlFormat(const ExportOptions& options, const ExportSink& sink) : out_(sink) {
    if (!options.mediaDirectory.empty()) {
      media_ = std::make_unique<detail::MediaFiles>(options.mediaDirectory);
    }
  }

  void beginRun(const RunFiles& run, const std::vector<RunTag>& tags) override {
    run_ = run.directory;
    tags_ = &tags;
    beginnings_.clear();
    for (const RunTag& tag : tags) {
      std::string text = "{\"run\":";
      appendJsonString(&text, run.directory);
      text += ",\"tag\":";
      appendJsonString(&text, tag.name);
      text += ",\"plugin\":";
      appendJsonString(&text, tag.metadata.pluginName);
      beginnings_.push_back(std::move(text));
    }
  }

  bool take(const RunValue& value) override {
    std::string& text = out_.text();
    text += beginnings_[value.tag];
    char members[3 * detail::kMaxJsonNumber + 40];
    char* end = writeWhen(value, members);
    if (value.data == nullptr) {
      end = detail::writeText(end, ",\"value\":");
      end = detail::writeJsonNumber(end, value.scalar);
      end = detail::writeText(end, "}\n");
      text.append(members, end);
    } else {
      *end++ = ',';
      text.append(members, end);
      appendData(value);
      out_.text() += "}\n";
    }
    out_.flushIfLong();
    return true;
  }

  void finish() { out_.flush(); }

 private:
  static char* writeWhen(const RunValue& value, char* out) {
    out = detail::writeText(out, ",\"step\":");
    out = detail::writeJsonInteger(out, value.step);
    out = detail::writeText(out, ",\"wall_time\":");
    return detail::writeJsonNumber(out, value.wallTime);
  }

  void appendData(const RunValue& value) {
    const RunTag& tag = (*tags_)[value.tag];
    if (media_) {
      media_->at(run_, tag.name, value.step);
    }
    detail::appendValueJson(*value.data, tag.metadata, media_.get(), &out_);
  }

  detail::ExportText out_;
  std::unique_ptr<detail::MediaFiles> media_;
  std::string run_;
  const std::vector<RunTag>* tags_ = nullptr;
  std::vector<std::string> beginnings_;  // start of each tag's lines
};

}  // namespace

ExportResult exportJsonl(const std::vector<RunFiles>& runs, const ExportOptions& options,
                         const ExportSink& sink) {
  JsonlFormat format(options, sink);
  ExportResult result = detail::exportRuns(runs, options, &format);
  format.finish();
  return result;
}

}  // namespace steptape
