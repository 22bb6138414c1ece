// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "steptape/ranks/communicator.h"
#include "steptape/train/gradient_sync.h"

#include "train/replicas/messages/bucket_chain.h"

namespace steptape::detail::train {

/// Combines two gradients of a parameter into `result`, which may be one of them: reduces each by
/// half of its projection on the other. Orthogonal gradients are added, and equal ones stay
/// unchanged. Products are summed in double, in an order that depends only on `count`.
///
/// @source Maleki et al., "Scaling Distributed Training with Adaptive Summation", arXiv:2006.02924,
///          section 3.1.
template <typename T>
void adasum(const T* a, const T* b, T* result, std::size_t count);

/// The pairs in which the ranks combine their gradients.
///
/// Let p be the largest power of two that does not exceed the number of ranks. Ranks 0 to p - 1
/// combine in log2(p) levels: with the neighbor, then with the rank two away, then four away, and
/// so on. Before that, rank p + i sends its gradients to rank i, which combines them with its own;
/// after it, rank p + i receives the result.
///
///     6 ranks:   0 <- 4   1 <- 5
///                0 -- 1   2 -- 3
///                0 -- 2   1 -- 3
///                0 -> 4   1 -> 5
class AdasumGroups {
 public:
  /// The action of a rank with a partner. The lower one of the two is rank 0 of the group.
  struct Step {
    std::shared_ptr<Communicator> group;
    enum class Kind {
      kCombine,  ///< Both receive the combination of their gradients.
      kGive,     ///< Only the lower rank receives it; the higher one waits for the result.
      kReceive,  ///< The higher rank receives the lower rank's gradients.
    } kind;
  };

  /// Collective.
  explicit AdasumGroups(Communicator& world);

  /// Returns this rank's steps in order; none on a single rank.
  const std::vector<Step>& steps() const { return steps_; }

 private:
  std::vector<Step> steps_;
};

/// Replaces each parameter's gradient in a bucket by the adasum() of all ranks.
class AdasumChain final : public BucketChain {
 public:
  /// `bucket`, `slots` and `groups` must outlive it.
  AdasumChain(const GradientBucket& bucket, const std::vector<GradientSlot>& slots,
              const AdasumGroups& groups, Compression compression);

 private:
  std::optional<ChainLink> advanceBucket() override;
  ChainLink start(const AdasumGroups::Step& step);
  void finish(const AdasumGroups::Step& step);
  void combine();

  const std::vector<GradientSlot>& slots_;
  const AdasumGroups& groups_;
  CollectiveOptions collective_;
  CompressedBucket compressed_;
  std::size_t started_ = 0;  // number of steps
  std::vector<std::string> ofBoth_;
};

}  // namespace steptape::detail::train
