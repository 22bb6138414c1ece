// SPDX-License-Identifier: Apache-2.0
#include "tools/steptape/traces/profile_diff_text.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <fmt/format.h>
#include <optional>
#include <vector>

#include "tools/steptape/tables/human_text.h"
#include "tools/steptape/tables/json_pieces.h"
#include "tools/steptape/tables/row_table.h"
#include "tools/steptape/terminal/screen_text.h"
#include "tools/steptape/traces/profile_json.h"

namespace steptape::tools {
namespace {

std::string signedMilliseconds(double nanos) {
  // Adding 0 makes a -0 positive.
  return fmt::format("{:+.3f}", (std::round(nanos * 1e-3) + 0.0) * 1e-3);
}

std::string sideText(const std::optional<double>& nanos) {
  return nanos ? fmt::format("{:.3f}", *nanos * 1e-6) : "-";
}

std::string ratioText(const std::array<std::optional<double>, 2>& sides) {
  if (!sides[0]) {
    return "new";
  }
  if (!sides[1]) {
    return "gone";
  }
  return *sides[0] > 0 ? fmt::format("{:.2f}", *sides[1] / *sides[0]) : "-";
}

const char* unitOf(const ProfileDiff& diff) {
  return diff.isPerStep ? "step" : "window";
}

std::string totalLines(const ProfileDiff& diff, const Terminal& terminal) {
  return factLines(
      {fmt::format("a {} of {} ms, was {} ms", unitOf(diff), millisecondsText(diff.means[1].total),
                   millisecondsText(diff.means[0].total)),
       fmt::format("{:+.1f} %", diff.growthPercent())},
      0, terminal);
}

std::string partTable(const ProfileDiff& diff, const Terminal& terminal) {
  if (!diff.isPerStep) {
    return "";
  }
  const std::vector<StepSummaryPart> parts(kStepSummaryParts.begin(), kStepSummaryParts.end());
  const auto sides = [&](const StepSummaryPart& part) {
    return std::array<std::optional<double>, 2>{static_cast<double>(diff.means[0].*part.nanos),
                                                static_cast<double>(diff.means[1].*part.nanos)};
  };
  return tableBelow(
      {wordColumn("a step's", parts, terminal,
                  [](const StepSummaryPart& part) { return part.name; }),
       numberColumn("- ms", parts,
                    [&](const StepSummaryPart& part) { return sideText(sides(part)[0]); }),
       numberColumn("+ ms", parts,
                    [&](const StepSummaryPart& part) { return sideText(sides(part)[1]); }),
       numberColumn("change ms", parts,
                    [&](const StepSummaryPart& part) {
                      return signedMilliseconds(*sides(part)[1] - *sides(part)[0]);
                    }),
       numberColumn("ratio", parts,
                    [&](const StepSummaryPart& part) { return ratioText(sides(part)); })},
      {"- ms", "ratio"}, kProfileIndent, terminal);
}

std::string operatorTable(const ProfileDiff& diff, const OpTableView& view,
                          const Terminal& terminal) {
  const std::size_t count = std::min(diff.operators.size(), view.rows);
  const std::vector<OpDiff> rows(diff.operators.begin(),
                                 diff.operators.begin() + static_cast<std::ptrdiff_t>(count));
  std::vector<TableColumn> columns{
      wordColumn(operatorTitle(view.grouping), rows, terminal,
                 [](const OpDiff& op) { return operatorText(op.name, op.shapes); })};
  if (view.grouping != OpGrouping::kModule) {
    columns.push_back(
        wordColumn("kind", rows, terminal, [](const OpDiff& op) { return spanKindName(op.kind); }));
  }
  columns.push_back(
      numberColumn("- self ms", rows, [](const OpDiff& op) { return sideText(op.self[0]); }));
  columns.push_back(
      numberColumn("+ self ms", rows, [](const OpDiff& op) { return sideText(op.self[1]); }));
  columns.push_back(numberColumn("change ms", rows,
                                 [](const OpDiff& op) { return signedMilliseconds(op.change()); }));
  columns.push_back(
      numberColumn("ratio", rows, [](const OpDiff& op) { return ratioText(op.self); }));
  return tableBelow(std::move(columns), {"kind", "- self ms", "+ self ms"}, kProfileIndent,
                    terminal) +
         leftOutLine(count, diff.operators.size());
}

std::string pairJson(const std::array<std::string, 2>& values) {
  return jsonShortArray({values[0], values[1]});
}

std::string millisecondsJson(const std::optional<double>& nanos) {
  return nanos ? jsonNumber(*nanos / 1e6) : "null";
}

}  // namespace

std::string profileDiffText(const ProfileDiff& diff, const std::array<std::string, 2>& names,
                            const OpTableView& view, const Terminal& terminal) {
  std::string text;
  for (std::size_t side = 0; side < names.size(); ++side) {
    text += factLines({fmt::format("{} {}", "-+"[side], shown(names[side], terminal)),
                       counted(diff.counts[side], unitOf(diff))},
                      0, terminal);
  }
  return text + totalLines(diff, terminal) + partTable(diff, terminal) +
         operatorTable(diff, view, terminal);
}

std::string profileDiffJson(const ProfileDiff& diff, const std::array<std::string, 2>& names,
                            const OpTableView& view) {
  JsonObject parts;
  for (const StepSummaryPart& part : kStepSummaryParts) {
    parts.add(part.name, pairJson({jsonMilliseconds(diff.means[0].*part.nanos),
                                   jsonMilliseconds(diff.means[1].*part.nanos)}));
  }
  std::vector<std::string> operators;
  for (std::size_t i = 0; i < std::min(diff.operators.size(), view.rows); ++i) {
    const OpDiff& op = diff.operators[i];
    operators.push_back(
        JsonObject()
            .add("name", jsonString(op.name))
            .add("kind", jsonString(spanKindName(op.kind)))
            .add("shapes", jsonString(op.shapes))
            .add("self_ms", pairJson({millisecondsJson(op.self[0]), millisecondsJson(op.self[1])}))
            .add("change_ms", jsonNumber(op.change() / 1e6))
            .toString());
  }
  return JsonObject()
      .add("profiles", pairJson({jsonString(names[0]), jsonString(names[1])}))
      .add("per", jsonString(unitOf(diff)))
      .add("counts", pairJson({jsonInteger(diff.counts[0]), jsonInteger(diff.counts[1])}))
      .add("total_ms",
           pairJson({jsonMilliseconds(diff.means[0].total), jsonMilliseconds(diff.means[1].total)}))
      .add("growth_percent", jsonNumber(diff.growthPercent()))
      .add("step_parts_ms", diff.isPerStep ? parts.toString() : "null")
      .add("operators", jsonArray(operators))
      .toString();
}

}  // namespace steptape::tools
