// SPDX-License-Identifier: Apache-2.0
#include <map>
#include <utility>

#include "steptape/events/plugin_content.h"
#include "steptape/log/rewrite.h"

#include "base/got_expected.h"
#include "base/utf8.h"
#include "log/reader/run_events.h"
#include "log/rewrite/prepare_rewrite.h"
#include "log/writer/whole_run.h"

namespace steptape {
namespace {

using detail::log::RunEvents;
using detail::log::RunTag;
using detail::log::RunValue;
using detail::log::WholeRun;

/// Names the tags of the new run.
/// @throws Error(kInvalidArgument) if two get one name.
std::vector<RewrittenTag> renamed(const std::vector<RunTag>& tags, const RewriteOptions& options) {
  std::vector<RewrittenTag> result;
  std::map<std::string, std::string> origins;
  for (const RunTag& tag : tags) {
    std::optional<std::string> name =
        options.rename ? options.rename(tag.name) : std::optional<std::string>(tag.name);
    if (name && !detail::base::isValidUtf8(*name)) {
      name = detail::base::replaceInvalidUtf8(*name);  // a part of a letter was replaced
    }
    result.push_back({tag.name, name.value_or("")});
    if (!name) {
      continue;
    }
    if (name->empty()) {
      detail::base::reject("an empty name for " + detail::base::quoted(tag.name), "a name",
                           "rewrite");
    }
    const auto [known, isNew] = origins.emplace(*name, tag.name);
    if (!isNew) {
      detail::base::reject("the name " + detail::base::quoted(*name) + " for " +
                               detail::base::quoted(known->second) + " and for " +
                               detail::base::quoted(tag.name),
                           "another name for each tag", "rewrite");
    }
  }
  return result;
}

/// @throws Error(kInvalidArgument) if the sum does not fit.
std::int64_t shifted(std::int64_t step, std::int64_t by) {
  std::int64_t sum = 0;
  if (__builtin_add_overflow(step, by, &sum)) {
    detail::base::reject("step " + std::to_string(step) + " shifted by " + std::to_string(by),
                         "a step of 64 bits", "rewrite");
  }
  return sum;
}

/// The event of a value; its first value of a tag names the plugin.
event::Event eventOf(const RunValue& value, const RunTag& tag, const std::string& name,
                     bool isFirst) {
  event::Event event;
  event.wallTime = value.wallTime;
  event.step = value.step;
  const std::string& plugin = tag.metadata.pluginName;
  if (plugin == kGraphsPlugin && value.data != nullptr) {
    const std::string& bytes = std::get<event::Tensor>(value.data->data).strings.front();
    if (tag.name == kMetaGraphTag) {
      event.what = event::MetaGraphDef{bytes};
    } else {
      event.what = event::GraphDef{bytes};
    }
    return event;
  }
  if (plugin == kTaggedRunMetadataPlugin && value.data != nullptr) {
    event.what =
        event::TaggedRunMetadata{name, std::get<event::Tensor>(value.data->data).strings.front()};
    return event;
  }
  event::Value copy;
  if (const event::Value* const given = value.data != nullptr ? value.data : value.number) {
    copy = *given;
  } else {
    copy.data = static_cast<float>(value.scalar);
  }
  copy.tag = name;
  const bool saysMore = !tag.metadata.displayName.empty() || !tag.metadata.description.empty();
  const bool isBare = std::holds_alternative<float>(copy.data) && !saysMore;
  if (isFirst && !copy.metadata && !isBare) {
    copy.metadata = tag.metadata;
  }
  event.what = event::Summary{{std::move(copy)}};
  return event;
}

bool isWanted(const RunValue& value, const RewriteOptions& options) {
  return (!options.fromStep || value.step >= *options.fromStep) &&
         (!options.toStep || value.step <= *options.toStep);
}

}  // namespace

RewriteResult rewriteRun(const RunFiles& run, const std::string& directory,
                         const RewriteOptions& options) {
  WholeRun output(directory, "rewrite");
  RewriteResult result = detail::log::prepareRewrite(run, options, &output);
  output.appear();
  return result;
}

RewriteResult detail::log::prepareRewrite(const RunFiles& run, const RewriteOptions& options,
                                          WholeRun* output) {
  RunEventsOptions reading;
  reading.onProgress = options.onProgress;
  RunEvents events(run, std::move(reading));
  RewriteResult result;
  result.tags = renamed(events.tags(), options);
  for (RunValue value; events.next(&value);) {
    RewrittenTag& tag = result.tags[value.tag];
    if (tag.newName.empty() || !isWanted(value, options)) {
      ++result.valuesLeftOut;
      continue;
    }
    event::Event event =
        eventOf(value, events.tags()[value.tag], tag.newName, /*isFirst=*/tag.values == 0);
    event.step = shifted(value.step, options.stepShift);
    output->add(std::move(event));
    ++tag.values;
    ++result.values;
  }
  output->finish();
  result.damage = events.damage();
  return result;
}

}  // namespace steptape
