// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

#include "faults/arguments.h"

namespace steptape::test {

/// Where a rank fails: in the forward pass, in the backward pass, in the exchange of the gradients,
/// or in a callback of the Trainer.
enum class Place { kForward, kBackward, kExchange, kCallback };

/// A failure of one rank of a job, at one place of one step.
class Fault {
 public:
  /// `fault` is the kind: none, killed, exits, vanishes, throws, sleeps or stops; `at`: forward,
  /// backward, exchange or callback; `by`: the rank that fails; `in`: its step;
  /// `dir`: a directory of all ranks.
  Fault(const Arguments& arguments, int rank);

  /// Call it where the failure may happen.
  void pass(Place place, std::int64_t step) const;

 private:
  void fail() const;

  std::string kind_;
  Place place_;
  std::int64_t step_;
  bool isOwn_;           // this rank fails
  std::string pidFile_;  // of the process that fails in the exchange
};

}  // namespace steptape::test
