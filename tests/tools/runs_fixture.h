// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "tools/tool_fixture.h"

namespace steptape {

using RunJson = nlohmann::json;

class RunsCommand : public ToolFixture {
 protected:
  /// Writes a run as another library does, with the hyperparameters of a trial.
  void writeRun(const std::string& name, const Hparams& hparams,
                const std::vector<event::Event>& events) const {
    event::Value start;
    start.tag = "_hparams_/session_start_info";
    start.metadata.emplace();
    start.metadata->pluginName = event::kHparamsPlugin;
    start.metadata->pluginContent = encodeHparamsContent(HparamsSessionStart{hparams});
    start.data = event::Tensor{event::TensorType::kFloat, {}, std::string(4, '\0'), {}};
    std::vector<event::Event> all{version(), eventAt(0, event::Summary{{start}})};
    all.insert(all.end(), events.begin(), events.end());
    writeEvents(name + "/" + kFile, all);
  }
  /// Three trials, of which the second is the best at its end, and the third was the best before.
  void writeTrials() const {
    writeRun("runs/a", {{"lr", 0.1}, {"opt", "sgd"}, {"batch", 32}},
             {simpleScalar("loss", 3, 0), simpleScalar("loss", 2, 1)});
    writeRun("runs/b", {{"lr", 0.01}, {"opt", "adam"}, {"batch", 32}},
             {simpleScalar("loss", 3, 0), simpleScalar("loss", 1, 1)});
    writeRun("runs/c", {{"lr", 0.001}, {"opt", "adam"}, {"batch", 32}},
             {simpleScalar("loss", 0.5F, 0), simpleScalar("loss", 4, 1)});
  }

  Outcome runs(const std::string& arguments) const { return steptape("runs " + arguments); }
  RunJson json(const std::string& arguments) const {
    const Outcome outcome = runs(arguments + " --json");
    EXPECT_EQ(outcome.exitCode, 0) << outcome.error;
    return RunJson::parse(outcome.out).at("runs");
  }
  /// Returns the last part of the directory of each run, in the order of the rows.
  std::vector<std::string> names(const std::string& arguments) const {
    std::vector<std::string> names;
    for (const RunJson& run : json(arguments)) {
      const std::string directory = run.at("run");
      names.push_back(directory.substr(directory.rfind('/') + 1));
    }
    return names;
  }
};

}  // namespace steptape
