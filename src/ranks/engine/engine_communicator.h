// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>

#include "steptape/ranks/communicator.h"

#include "ranks/engine/engine.h"

namespace steptape::detail::ranks {

/// A communicator whose collectives run over a transport.
class STEPTAPE_EXPORT EngineCommunicator : public Communicator {
 public:
  explicit EngineCommunicator(const std::shared_ptr<Transport>& transport);
  ~EngineCommunicator() override;

  int rank() const override { return map().rank(); }
  int size() const override { return map().size(); }
  int localRank() const override { return map().localRank(); }
  int localSize() const override { return map().localSize(); }
  int crossRank() const override { return map().crossRank(); }
  int crossSize() const override { return map().crossSize(); }
  const std::string& nodeName() const override { return map().nodeName(); }

 protected:
  std::unique_ptr<PendingCollective> start(const CollectiveCall& call) override;
  const GroupMap& map() const { return engine_->transport->map(); }
  Transport& transport() const { return *engine_->transport; }

 private:
  std::shared_ptr<Engine> engine_;
};

}  // namespace steptape::detail::ranks
