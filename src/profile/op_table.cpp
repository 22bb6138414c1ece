// SPDX-License-Identifier: Apache-2.0
#include "steptape/profile/op_table.h"

#include <algorithm>
#include <cmath>
#include <set>
#include <vector>

#include "steptape/summary/text.h"

namespace steptape {
namespace {

std::string zeroPadded(std::int64_t value, std::size_t digits) {
  const std::string text = std::to_string(value);
  return text.size() < digits ? std::string(digits - text.size(), '0') + text : text;
}

/// `nanos` in units of 1000 ns or 1000000 ns, with three decimals; of integers, so that no locale
/// changes the point.
std::string microseconds(std::int64_t nanos) {
  return std::to_string(nanos / 1000) + "." + zeroPadded(nanos % 1000, 3);
}
std::string milliseconds(std::int64_t nanos) {
  return microseconds((nanos + 500) / 1000);
}

std::string percent(std::int64_t part, std::int64_t whole) {
  const double share = whole > 0 ? static_cast<double>(part) / static_cast<double>(whole) : 0.0;
  const std::int64_t permille = std::llround(share * 1000.0);
  return std::to_string(permille / 10) + "." + std::to_string(permille % 10);
}

/// A code span, in which the underscores of "aten::add_" are not Markdown.
std::string code(std::string name) {
  std::replace(name.begin(), name.end(), '`', '\'');
  return "`" + name + "`";
}

std::vector<std::string> row(std::size_t rank, const OpStats& op, std::int64_t allSelfNanos) {
  const auto calls = static_cast<std::int64_t>(op.calls);
  return {std::to_string(rank),           code(op.name),
          spanKindName(op.kind),       std::to_string(op.calls),
          milliseconds(op.self.count()),  percent(op.self.count(), allSelfNanos),
          milliseconds(op.total.count()), microseconds(op.total.count() / calls)};
}

std::string notes(const OpProfile& profile, std::size_t rows) {
  std::string text = "\nWindow of " + milliseconds(profile.wall.count()) + " ms, " +
                     percent(profile.covered.count(), profile.wall.count()) +
                     " % of it inside recorded spans.";
  if (rows < profile.operators.size()) {
    text += " The " + std::to_string(profile.operators.size() - rows) +
            " operators with the least self time are left out.";
  }
  if (profile.dropped > 0) {
    text += " **" + std::to_string(profile.dropped) +
            " spans were dropped**: raise recordsPerThread or call step() more often.";
  }
  return text + "\n";
}

}  // namespace

std::string opTable(const OpProfile& profile, const OpTableOptions& options) {
  std::int64_t allSelfNanos = 0;
  for (const OpStats& op : profile.operators) {
    allSelfNanos += op.self.count();
  }
  std::vector<std::vector<std::string>> rows;
  for (const OpStats& op : profile.operators) {
    if (rows.size() == options.maxRows) {
      break;
    }
    rows.push_back(row(rows.size() + 1, op, allSelfNanos));
  }
  return markdownTable(
             {"#", "operator", "kind", "calls", "self ms", "self %", "total ms", "mean µs"}, rows) +
         notes(profile, rows.size());
}

void writeOpStats(SummaryWriter& writer, const OpProfile& profile, std::int64_t step,
                  const OpTableOptions& options) {
  writer.addText("profile/operators", opTable(profile, options), step);
  std::set<std::string> used;
  for (const OpStats& op : profile.operators) {
    if (used.size() == options.maxScalars) {
      break;
    }
    std::string tag = "profile/self_ms/" + op.name;
    if (!used.insert(tag).second) {
      tag += std::string(" (") + spanKindName(op.kind) + ")";
      used.insert(tag);
    }
    const std::chrono::duration<double, std::milli> self = op.self;
    writer.addScalar(tag, self.count(), step);
  }
}

}  // namespace steptape
