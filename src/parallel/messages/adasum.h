// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "steptape/comm/communicator.h"
#include "steptape/parallel/gradient_sync.h"

#include "parallel/messages/bucket_chain.h"

namespace steptape::detail {

/// Combines two gradients of the same parameter into `result`, which may be one of them: each is
/// shortened by half of what it has in common with the other. Orthogonal ones are added up, equal
/// ones stay as they are. Products are summed in double, in an order that depends on `count` only.
///
/// @source Maleki et al., "Scaling Distributed Training with Adaptive Summation", arXiv:2006.02924,
///         section 3.1.
template <typename T>
void adasum(const T* a, const T* b, T* result, std::size_t count);

/// The pairs in which the ranks combine their gradients.
///
/// With p the largest power of two that is not above the number of ranks, ranks 0 to p - 1 combine
/// in log2(p) levels: with the rank beside, then with the one two further, four further ... Before,
/// rank p + i gives its gradients to rank i, which combines them with its own; after, it gets the
/// result back.
///
///     6 ranks:   0 <- 4   1 <- 5
///                0 -- 1   2 -- 3
///                0 -- 2   1 -- 3
///                0 -> 4   1 -> 5
class AdasumGroups {
 public:
  /// What a rank does with a partner. The lower one of the two is rank 0 of the group.
  struct Step {
    std::shared_ptr<Communicator> group;
    enum class Kind {
      kCombine,  ///< Both get what they make of their gradients together.
      kGive,     ///< The lower rank gets that alone; the higher one waits for the result.
      kReceive,  ///< The higher rank gets what the lower one has.
    } kind;
  };

  /// Collective.
  explicit AdasumGroups(Communicator& world);

  /// Of this rank, in order; none on a single rank.
  const std::vector<Step>& steps() const { return steps_; }

 private:
  std::vector<Step> steps_;
};

/// Makes each parameter's gradient in a bucket the adasum() of all ranks'.
class AdasumChain final : public BucketChain {
 public:
  /// `bucket`, `slots` and `groups` must live as long.
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
  std::size_t started_ = 0;  // Steps.
  std::vector<std::string> ofBoth_;
};

}  // namespace steptape::detail
