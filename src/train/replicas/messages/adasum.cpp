// SPDX-License-Identifier: Apache-2.0
#include "train/replicas/messages/adasum.h"

#include <array>
#include <string_view>
#include <type_traits>

#include <c10/util/BFloat16.h>
#include <c10/util/Half.h>

namespace steptape::detail::train {
namespace {

// Independent sums: in a single sum, each addition would wait for the previous one.
constexpr std::size_t kLanes = 8;

struct Products {
  double aa = 0;
  double ab = 0;
  double bb = 0;
};

template <typename T>
Products productsOf(const T* a, const T* b, std::size_t count) {
  std::array<double, kLanes> aa{};
  std::array<double, kLanes> ab{};
  std::array<double, kLanes> bb{};
  const auto add = [&](std::size_t i, std::size_t lane) {
    const auto x = static_cast<double>(a[i]);
    const auto y = static_cast<double>(b[i]);
    aa[lane] += x * x;
    ab[lane] += x * y;
    bb[lane] += y * y;
  };
  const std::size_t whole = count / kLanes * kLanes;
  for (std::size_t i = 0; i < whole; i += kLanes) {
    for (std::size_t lane = 0; lane < kLanes; ++lane) {
      add(i + lane, lane);
    }
  }
  for (std::size_t i = whole; i < count; ++i) {
    add(i, i - whole);
  }
  Products sums;
  for (std::size_t lane = 0; lane < kLanes; ++lane) {
    sums.aa += aa[lane];
    sums.ab += ab[lane];
    sums.bb += bb[lane];
  }
  return sums;
}

/// Returns the weight of a gradient in the result. A zero gradient does not overlap with the other.
double remainder(double product, double square) {
  return square > 0 ? 1 - product / (2 * square) : 1;
}

template <typename T>
T rounded(double value) {
  // 16-bit types are converted to float.
  using Source = std::conditional_t<std::is_same_v<T, double>, double, float>;
  return T(static_cast<Source>(value));
}

template <typename Function>
void withWireType(at::ScalarType type, Function&& function) {
  switch (type) {
    case at::kDouble:
      return function(double());
    case at::kHalf:
      return function(c10::Half());
    case at::kBFloat16:
      return function(c10::BFloat16());
    default:
      return function(float());
  }
}

}  // namespace

template <typename T>
void adasum(const T* a, const T* b, T* result, std::size_t count) {
  const Products products = productsOf(a, b, count);
  const double ofA = remainder(products.ab, products.aa);
  const double ofB = remainder(products.ab, products.bb);
  for (std::size_t i = 0; i < count; ++i) {
    result[i] = rounded<T>(ofA * static_cast<double>(a[i]) + ofB * static_cast<double>(b[i]));
  }
}
template void adasum(const float*, const float*, float*, std::size_t);
template void adasum(const double*, const double*, double*, std::size_t);
template void adasum(const c10::Half*, const c10::Half*, c10::Half*, std::size_t);
template void adasum(const c10::BFloat16*, const c10::BFloat16*, c10::BFloat16*, std::size_t);

AdasumGroups::AdasumGroups(Communicator& world) {
  const int size = world.size();
  const int rank = world.rank();
  int power = 1;
  while (power * 2 <= size) {
    power *= 2;
  }
  const bool isExtra = rank >= power;
  std::shared_ptr<Communicator> fold;
  if (power < size) {
    const bool isFolded = isExtra || rank + power < size;
    fold = world.split(isFolded ? rank % power : -1, rank);
  }
  if (fold) {
    steps_.push_back({fold, Step::Kind::kGive});
  }
  for (int distance = 1; distance < power; distance *= 2) {
    // The lower rank of the pair defines its color.
    if (auto pair = world.split(isExtra ? -1 : rank & ~distance, rank)) {
      steps_.push_back({std::move(pair), Step::Kind::kCombine});
    }
  }
  if (fold) {
    steps_.push_back({fold, Step::Kind::kReceive});
  }
}

AdasumChain::AdasumChain(const GradientBucket& bucket, const std::vector<GradientSlot>& slots,
                         const AdasumGroups& groups, Compression compression)
    : BucketChain(bucket), slots_(slots), groups_(groups), compressed_(bucket.memory, compression) {
  collective_.name = bucket.name;
}

std::optional<ChainLink> AdasumChain::advanceBucket() {
  const std::vector<AdasumGroups::Step>& steps = groups_.steps();
  if (started_ == 0) {
    compressed_.compress();
  } else {
    finish(steps[started_ - 1]);
  }
  if (started_ < steps.size()) {
    return start(steps[started_++]);
  }
  compressed_.decompress();
  started_ = 0;
  return std::nullopt;
}

ChainLink AdasumChain::start(const AdasumGroups::Step& step) {
  const bool isLast = started_ == groups_.steps().size();
  const Elements mine = compressed_.wire().elements();
  if (step.kind == AdasumGroups::Step::Kind::kReceive) {
    return {step.group->broadcastAsync(mine.data(), mine.bytes(), 0, collective_), isLast};
  }
  const std::string_view bytes(static_cast<const char*>(mine.data()), mine.bytes());
  return {step.group->allgatherAsync(bytes, ofBoth_, collective_), isLast};
}

void AdasumChain::finish(const AdasumGroups::Step& step) {
  const bool gave = step.kind == AdasumGroups::Step::Kind::kGive && step.group->rank() == 1;
  if (step.kind != AdasumGroups::Step::Kind::kReceive && !gave) {
    combine();
  }
}

void AdasumChain::combine() {
  const at::Tensor& host = compressed_.wire().host();
  withWireType(host.scalar_type(), [&](auto zero) {
    using T = decltype(zero);
    const auto* const a = reinterpret_cast<const T*>(ofBoth_[0].data());
    const auto* const b = reinterpret_cast<const T*>(ofBoth_[1].data());
    auto* const result = static_cast<T*>(host.data_ptr());
    for (const std::size_t index : bucket().slots) {
      const std::int64_t offset = slots_[index].offset;
      adasum(a + offset, b + offset, result + offset,
             static_cast<std::size_t>(slots_[index].parameter.numel()));
    }
  });
}

}  // namespace steptape::detail::train
