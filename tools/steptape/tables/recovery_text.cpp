// SPDX-License-Identifier: Apache-2.0
#include "tools/steptape/tables/recovery_text.h"

#include <algorithm>
#include <fmt/format.h>
#include <vector>

#include "tools/steptape/tables/human_text.h"
#include "tools/steptape/tables/json_pieces.h"
#include "tools/steptape/terminal/screen_text.h"

namespace steptape::tools {
namespace {

using steptape::detail::log::RecoveryReport;

std::vector<std::string> textsOf(const std::vector<std::string>& texts) {
  std::vector<std::string> strings;
  strings.reserve(texts.size());
  for (const std::string& text : texts) {
    strings.push_back(jsonString(text));
  }
  return strings;
}

JsonObject identityOf(const RecoveryReport::Process& process) {
  JsonObject object;
  object.add("pid", jsonInteger(process.pid))
      .add("host", jsonString(process.host))
      .add("program", jsonString(process.program))
      .add("runs", jsonArray(textsOf(process.directories)));
  return object;
}

}  // namespace

std::string recoveryText(const RecoveryReport& report, const Terminal& terminal) {
  std::string text;
  for (const RecoveryReport::Process& process : report.processes) {
    text += fmt::format("process {} on {} ({}): {} recovered\n", process.pid,
                        shown(process.host, terminal), shown(process.program, terminal),
                        counted(process.values, "value"));
    for (const std::string& file : process.files) {
      text += fmt::format("  written: {}\n", shown(file, terminal));
    }
    if (process.unreadableValues > 0) {
      text += fmt::format("  lost: {} that it had not yet encoded, such as images\n",
                          counted(process.unreadableValues, "value"));
    }
    for (const std::string& problem : process.problems) {
      text += fmt::format("  problem: {}\n", shown(problem, terminal));
    }
    if (process.isKept) {
      text += "  kept for another try\n";
    }
  }
  for (const RecoveryReport::Process& process : report.living) {
    text +=
        fmt::format("process {} on {} ({}) still runs, and writes its values itself\n", process.pid,
                    shown(process.host, terminal), shown(process.program, terminal));
  }
  return text;
}

std::string recoveryJson(const RecoveryReport& report) {
  std::vector<std::string> processes;
  for (const RecoveryReport::Process& process : report.processes) {
    processes.push_back(identityOf(process)
                            .add("values_recovered", jsonInteger(process.values))
                            .add("values_lost", jsonInteger(process.unreadableValues))
                            .add("files", jsonArray(textsOf(process.files)))
                            .add("problems", jsonArray(textsOf(process.problems)))
                            .add("kept", jsonBool(process.isKept))
                            .toString());
  }
  std::vector<std::string> living;
  for (const RecoveryReport::Process& process : report.living) {
    living.push_back(identityOf(process).toString());
  }
  return JsonObject()
      .add("processes", jsonArray(processes))
      .add("living", jsonArray(living))
      .toString();
}

bool hasProblem(const RecoveryReport& report) {
  return std::any_of(
      report.processes.begin(), report.processes.end(),
      [](const RecoveryReport::Process& process) { return !process.problems.empty(); });
}

}  // namespace steptape::tools
