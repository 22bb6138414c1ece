// SPDX-License-Identifier: Apache-2.0
#include "metrics/writer/open_on_all_ranks.h"

#include <optional>

#include "ranks/communicator/run_on_all_ranks.h"

namespace steptape::detail::metrics {

SummaryWriter openOnAllRanks(Communicator& communicator,
                             const std::function<SummaryWriter()>& open) {
  std::optional<SummaryWriter> writer;
  ranks::runOnAllRanks(communicator, "open a run", [&] { writer.emplace(open()); });
  return std::move(*writer);
}

std::string valueOfRoot(Communicator& communicator, const std::string& value) {
  return communicator.broadcastObject(value, 0);
}

}  // namespace steptape::detail::metrics
