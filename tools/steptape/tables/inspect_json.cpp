// SPDX-License-Identifier: Apache-2.0
#include "tools/steptape/tables/inspect_json.h"

#include <cmath>
#include <vector>

#include "tools/steptape/tables/json_pieces.h"

namespace steptape::tools {
namespace {

/// @param wallTime NaN: unknown.
std::string timeJson(double wallTime) {
  return std::isnan(wallTime) ? "null" : jsonNumber(wallTime);
}

std::string tagJson(const TagSummary& tag) {
  const event::SummaryMetadata& metadata = tag.part.series->metadata;
  JsonObject json;
  json.add("tag", jsonString(tag.tag))
      .add("plugin", jsonString(tag.part.plugin()))
      .add("points", jsonInteger(tag.points()))
      .add("first_step", jsonInteger(tag.firstStep))
      .add("last_step", jsonInteger(tag.lastStep));
  if (tag.scalars) {
    json.add("first_value", jsonNumber(tag.scalars->first))
        .add("last_value", jsonNumber(tag.scalars->last))
        .add("min_value", jsonNumber(tag.scalars->least))
        .add("max_value", jsonNumber(tag.scalars->largest))
        .add("not_finite", jsonInteger(tag.scalars->notFinite));
  } else {
    json.add("contents", jsonString(tag.contents));
  }
  return json.add("first_wall_time", timeJson(tag.span.first))
      .add("last_wall_time", timeJson(tag.span.last))
      .add("display_name", jsonString(metadata.displayName))
      .add("description", jsonString(metadata.description))
      .toString();
}

std::string problemJson(const Damage& problem) {
  return JsonObject()
      .add("file", jsonString(problem.path))
      .add("offset", jsonInteger(problem.offset))
      .add("bytes", jsonInteger(problem.bytes))
      .add("damaged", jsonBool(problem.outcome != ReadOutcome::kTruncated))
      .add("message", jsonString(problem.status.message()))
      .toString();
}

}  // namespace

std::string inspectJson(const RunSummary& run) {
  std::vector<std::string> files;
  std::vector<std::string> problems;
  for (const FileSummary& file : run.files) {
    files.push_back(JsonObject()
                        .add("file", jsonString(file.path))
                        .add("bytes", jsonInteger(file.bytes))
                        .toString());
    for (const Damage& problem : file.damage) {
      problems.push_back(problemJson(problem));
    }
  }
  std::vector<std::string> tags;
  for (const TagSummary& tag : run.tags) {
    tags.push_back(tagJson(tag));
  }
  return JsonObject()
      .add("run", jsonString(run.directory))
      .add("files", jsonInteger(run.files.size()))
      .add("bytes", jsonInteger(run.bytes))
      .add("points", jsonInteger(run.points))
      .add("first_wall_time", timeJson(run.span.first))
      .add("last_wall_time", timeJson(run.span.last))
      .add("file_list", jsonArray(files))
      .add("tags", jsonArray(tags))
      .add("notes", jsonStrings(run.notes))
      .add("problems", jsonArray(problems))
      .toString();
}

}  // namespace steptape::tools
