// SPDX-License-Identifier: Apache-2.0
#include "tools/steptape/tables/curve_report.h"

#include <algorithm>
#include <array>
#include <fmt/format.h>

#include "log/curves/finding_json.h"
#include "tools/steptape/tables/human_text.h"
#include "tools/steptape/tables/json_pieces.h"
#include "tools/steptape/terminal/screen_text.h"

namespace steptape::tools {
namespace {

constexpr std::array<CurveRule, 8> kRules{
    CurveRule::kNotFinite, CurveRule::kSpike,  CurveRule::kDivergence,   CurveRule::kNoChange,
    CurveRule::kStopped,   CurveRule::kParted, CurveRule::kStepsWrapped, CurveRule::kMilliseconds};

}  // namespace

std::string curveFindingLine(const std::string& run, const CurveFinding& finding,
                             const Terminal& terminal) {
  return fmt::format("{}: {}: {}: {}\n", shown(run, terminal), curveRuleName(finding.rule),
                     shown(finding.tag, terminal), shown(finding.message, terminal));
}

std::string curveSummaryLine(const std::string& run, std::size_t tags, std::size_t points,
                             std::size_t findings, const Terminal& terminal) {
  return fmt::format("{}: {} of {}: {}\n", shown(run, terminal), counted(points, "point"),
                     counted(tags, "scalar tag"),
                     findings == 0 ? "no findings" : counted(findings, "finding"));
}

std::string curveFindingJson(const CurveFinding& finding) {
  return "{" + detail::log::findingMembers(finding) +
         ", \"message\": " + jsonString(finding.message) + "}";
}

std::vector<std::string> curveRuleNames() {
  std::vector<std::string> names;
  for (const CurveRule rule : kRules) {
    names.emplace_back(curveRuleName(rule));
  }
  return names;
}

CurveRule curveRuleOf(const std::string& name) {
  return *std::find_if(kRules.begin(), kRules.end(),
                       [&](CurveRule rule) { return name == curveRuleName(rule); });
}

}  // namespace steptape::tools
