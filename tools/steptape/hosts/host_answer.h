// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "log/writer/recovery.h"
#include "tools/steptape/hosts/host_query.h"
#include "tools/steptape/states/rank_view.h"
#include "tools/steptape/states/verdict.h"

namespace steptape::tools {

/// What a machine tells about processes of this user on it.
struct HostAnswer {
  std::vector<RankView> views;
  Surroundings memory;
  double now = 0;  ///< By its clock.
  std::vector<std::string> problems;
  /// What was brought back, if the query recovers; then there are no views.
  steptape::detail::log::RecoveryReport recovery;
};

/// Recovers the runs of this machine's dead processes in these directories and below them.
steptape::detail::log::RecoveryReport recoverBelow(const std::vector<std::string>& directories,
                                                   bool discardsMissing);

/// Looks at the processes of this machine that the query is about, or recovers their runs.
HostAnswer answerHere(const HostQuery& query);

/// Prints the answer for the tool that asks: `steptape answer-host`.
/// @return the exit code.
int answerAskingHost(const std::vector<std::string>& words);

/// Reads what answerAskingHost() has printed on another machine.
/// @throws Error(kDataLoss) if it is something else.
HostAnswer decodeAnswer(const std::string& output);

}  // namespace steptape::tools
