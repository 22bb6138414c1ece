// SPDX-License-Identifier: Apache-2.0
#include "tools/steptape/tables/check_report.h"

#include <fmt/format.h>
#include <vector>

#include "storage/s3/bucket_url.h"
#include "tools/steptape/tables/human_text.h"
#include "tools/steptape/tables/json_pieces.h"
#include "tools/steptape/terminal/screen_text.h"

namespace steptape::tools {
namespace {

const char* affectedBy(const Finding& finding) {
  // If one reader loses something, a note for the other one is irrelevant.
  const ReaderEffect worst = std::max(finding.fastServer, finding.pythonLoader);
  if (finding.fastServer == finding.pythonLoader) {
    return "both readers";
  }
  return finding.fastServer == worst ? "fast data server" : "Python loader";
}

const char* severityOf(const Finding& finding) {
  return finding.isLoss() ? "loss" : "note";
}

const char* verdictOf(ReaderEffect effect) {
  switch (effect) {
    case ReaderEffect::kNone:
      return "shows everything";
    case ReaderEffect::kNote:
      return "shows everything, see the notes";
    case ReaderEffect::kLoss:
      return "does not show everything";
  }
  return "";
}

/// Returns the effect as a word for programs.
std::string effectJson(ReaderEffect effect) {
  switch (effect) {
    case ReaderEffect::kNone:
      return jsonString("none");
    case ReaderEffect::kNote:
      return jsonString("note");
    case ReaderEffect::kLoss:
      return jsonString("loss");
  }
  return "";
}

}  // namespace

std::string findingLine(const Finding& finding, const Terminal& terminal) {
  const std::string tag = finding.tag.empty() ? "" : fmt::format("'{}': ", finding.tag);
  const std::string again = finding.count == 1 ? "" : fmt::format(" ({} times)", finding.count);
  return shown(fmt::format("{}:{}: {} [{}; {}] {}{}{}", finding.path, finding.offset,
                           severityOf(finding), finding.rule, affectedBy(finding), tag,
                           finding.message, again),
               terminal) +
         '\n';
}

std::string summaryLine(const RunFiles& run, const CheckReport& report, const Terminal& terminal) {
  const std::string more =
      report.moreFindings == 0
          ? ""
          : fmt::format("; {} not listed", counted(report.moreFindings, "more finding"));
  const bool isDirectory =
      run.isWholeDirectory || steptape::detail::storage::isBucketUrl(run.directory);
  return fmt::format("{}: {}, {}, {}; fast data server: {}; Python loader: {}{}\n",
                     shown(isDirectory ? run.directory : run.files.front(), terminal),
                     counted(run.files.size(), "file"), counted(report.records, "record"),
                     humanBytes(report.bytes), verdictOf(report.fastServer),
                     verdictOf(report.pythonLoader), more);
}

std::string findingJson(const Finding& finding) {
  return JsonObject()
      .add("file", jsonString(finding.path))
      .add("offset", jsonInteger(finding.offset))
      .add("bytes", jsonInteger(finding.bytes))
      .add("rule", jsonString(finding.rule))
      .add("severity", jsonString(severityOf(finding)))
      .add("fast_data_server", effectJson(finding.fastServer))
      .add("python_loader", effectJson(finding.pythonLoader))
      .add("tag", jsonString(finding.tag))
      .add("count", jsonInteger(finding.count))
      .add("message", jsonString(finding.message))
      .toString();
}

std::string runJson(const RunFiles& run, const CheckReport& report) {
  std::vector<std::string> findings;
  for (const Finding& finding : report.findings) {
    findings.push_back(findingJson(finding));
  }
  return JsonObject()
      .add("run", jsonString(run.directory))
      .add("files", jsonInteger(std::uint64_t{run.files.size()}))
      .add("records", jsonInteger(report.records))
      .add("bytes", jsonInteger(report.bytes))
      .add("fast_data_server", effectJson(report.fastServer))
      .add("python_loader", effectJson(report.pythonLoader))
      .add("findings", jsonArray(findings))
      .add("more_findings", jsonInteger(report.moreFindings))
      .toString();
}

}  // namespace steptape::tools
