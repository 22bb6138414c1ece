// SPDX-License-Identifier: Apache-2.0
#include "train/replicas/messages/power_sgd.h"

#include <cmath>
#include <random>

#include <ATen/CPUGeneratorImpl.h>
#include <ATen/ops/mm.h>
#include <ATen/ops/randn.h>
#include <ATen/ops/zeros.h>
#include <ATen/ops/zeros_like.h>

namespace steptape::detail::train {
namespace {

/// A column depends linearly on the previous ones if its remainder is not larger than rounding
/// errors.
constexpr double kRounding = 1e-5;

at::ScalarType computeType(at::ScalarType type) {
  return type == at::kDouble ? at::kDouble : at::kFloat;
}

/// Returns the gradient as a matrix whose rows are those of its first dimension.
at::Tensor matrixOf(const GradientBucket& bucket, const GradientSlot& slot) {
  if (slot.gradient.dim() == 2) {
    return slot.gradient;
  }
  return bucket.memory.narrow(0, slot.offset, slot.gradient.numel())
      .view({slot.gradient.size(0), -1});
}

at::Tensor flatBuffer(const GradientBucket& bucket, std::int64_t elements) {
  return at::zeros({elements},
                   bucket.memory.options().dtype(computeType(bucket.memory.scalar_type())));
}

std::int64_t firstElements(const GradientBucket& bucket, const std::vector<GradientSlot>& slots,
                           std::int64_t rank) {
  std::int64_t elements = 0;
  for (const std::size_t index : bucket.slots) {
    const at::Tensor& gradient = slots[index].gradient;
    elements += PowerSgd::compresses(gradient, rank) ? gradient.size(0) * rank : gradient.numel();
  }
  return elements;
}

std::int64_t secondElements(const GradientBucket& bucket, const std::vector<GradientSlot>& slots,
                            std::int64_t rank) {
  std::int64_t elements = 0;
  for (const std::size_t index : bucket.slots) {
    const at::Tensor& gradient = slots[index].gradient;
    if (PowerSgd::compresses(gradient, rank)) {
      elements += gradient.numel() / gradient.size(0) * rank;
    }
  }
  return elements;
}

/// Fills the matrix with the same numbers on every rank.
void fillRandomly(const at::Tensor& matrix, std::uint64_t seed) {
  const at::Generator generator = at::detail::createCPUGenerator(seed);
  matrix.copy_(at::randn(matrix.sizes(), generator, matrix.options().device(at::kCPU)));
}

/// A column of a row-major matrix, computed in double.
template <typename T>
class Column {
 public:
  Column(T* matrix, std::int64_t rows, std::int64_t columns, std::int64_t column)
      : first_(matrix + column), rows_(rows), stride_(columns) {}

  double dot(const Column& other) const {
    double sum = 0;
    for (std::int64_t row = 0; row < rows_; ++row) {
      sum += static_cast<double>(at(row)) * static_cast<double>(other.at(row));
    }
    return sum;
  }
  double length() const { return std::sqrt(dot(*this)); }

  void subtract(const Column& other, double factor) const {
    for (std::int64_t row = 0; row < rows_; ++row) {
      at(row) = static_cast<T>(static_cast<double>(at(row)) -
                               factor * static_cast<double>(other.at(row)));
    }
  }
  void scale(double factor) const {
    for (std::int64_t row = 0; row < rows_; ++row) {
      at(row) = static_cast<T>(static_cast<double>(at(row)) * factor);
    }
  }
  void fillRandomly(std::mt19937_64& random) const {
    for (std::int64_t row = 0; row < rows_; ++row) {
      at(row) = static_cast<T>(static_cast<double>(random()) * 0x1p-64 - 0.5);
    }
  }

 private:
  T& at(std::int64_t row) const { return first_[row * stride_]; }

  T* first_;
  std::int64_t rows_;
  std::int64_t stride_;
};

/// Subtracts the projections of the last column on the previous ones.
/// @return its remaining length.
template <typename T>
double subtractOthers(const std::vector<Column<T>>& columns) {
  const Column<T>& last = columns.back();
  // Twice: the first pass leaves rounding errors in a column that nearly vanishes.
  for (int pass = 0; pass < 2; ++pass) {
    for (std::size_t other = 0; other + 1 < columns.size(); ++other) {
      last.subtract(columns[other], last.dot(columns[other]));
    }
  }
  return last.length();
}

}  // namespace

template <typename T>
bool orthogonalize(T* matrix, std::int64_t rows, std::int64_t columns) {
  std::mt19937_64 random;  // NOLINT(cert-msc51-cpp): equal on all ranks.
  std::vector<Column<T>> done;
  for (std::int64_t column = 0; column < columns; ++column) {
    done.emplace_back(matrix, rows, columns, column);
    const double before = done.back().length();
    if (!std::isfinite(before)) {
      return false;
    }
    double length = subtractOthers(done);
    if (length <= kRounding * before) {
      done.back().fillRandomly(random);
      length = subtractOthers(done);
    }
    done.back().scale(1 / length);
  }
  return true;
}
template bool orthogonalize(float*, std::int64_t, std::int64_t);
template bool orthogonalize(double*, std::int64_t, std::int64_t);

bool PowerSgd::compresses(const at::Tensor& gradient, std::int64_t rank) {
  if (gradient.dim() < 2 || gradient.numel() == 0) {
    return false;
  }
  const std::int64_t rows = gradient.size(0);
  const std::int64_t columns = gradient.numel() / rows;
  return rank * (rows + columns) * 2 < rows * columns;
}

PowerSgd::PowerSgd(const GradientBucket& bucket, const std::vector<GradientSlot>& slots,
                   Communicator& world, const GradientSyncOptions& options)
    : BucketChain(bucket),
      world_(world),
      predivideFactor_(options.predivideFactor),
      stepsBefore_(options.powerSgd.startAfterSteps),
      uncompressed_(bucket, world, options),
      first_(flatBuffer(bucket, firstElements(bucket, slots, options.powerSgd.rank))),
      second_(flatBuffer(bucket, secondElements(bucket, slots, options.powerSgd.rank))) {
  collective_.name = bucket.name;
  for (const std::size_t index : bucket.slots) {
    const GradientSlot& slot = slots[index];
    if (compresses(slot.gradient, options.powerSgd.rank)) {
      addMatrix(matrixOf(bucket, slot), options.powerSgd.seed + index, options.powerSgd.rank);
    } else {
      addWhole(bucket.memory.narrow(0, slot.offset, slot.gradient.numel()));
    }
  }
}

void PowerSgd::addMatrix(const at::Tensor& gradient, std::uint64_t seed, std::int64_t rank) {
  const std::int64_t n = gradient.size(0);
  const std::int64_t m = gradient.size(1);
  Matrix matrix;
  matrix.gradient = gradient;
  matrix.error = at::zeros_like(gradient, gradient.options().dtype(first_.tensor().scalar_type()));
  matrix.p = first_.tensor().narrow(0, firstUsed_, n * rank).view({n, rank});
  matrix.hostP = first_.host().narrow(0, firstUsed_, n * rank).view({n, rank});
  matrix.q = second_.tensor().narrow(0, secondUsed_, m * rank).view({m, rank});
  matrix.seed = seed;
  fillRandomly(matrix.q, seed);
  matrices_.push_back(std::move(matrix));
  firstUsed_ += n * rank;
  secondUsed_ += m * rank;
}

void PowerSgd::addWhole(const at::Tensor& gradient) {
  const std::int64_t elements = gradient.numel();
  whole_.push_back({gradient, first_.tensor().narrow(0, firstUsed_, elements)});
  firstUsed_ += elements;
}

std::optional<ChainLink> PowerSgd::advanceBucket() {
  if (stepsBefore_ > 0) {
    std::optional<ChainLink> link = uncompressed_.advance();
    stepsBefore_ -= link ? 0 : 1;
    return link;
  }
  switch (stage_++) {
    case 0:
      return sendFirst();
    case 1:
      return sendSecond();
    default:
      finish();
      stage_ = 0;
      return std::nullopt;
  }
}

ChainLink PowerSgd::send(WireBuffer& buffer, bool isLast) {
  buffer.copyToHost();
  return {world_.allreduceAsync(buffer.elements(), ReduceOp::kSum, collective_), isLast};
}

ChainLink PowerSgd::sendFirst() {
  if (predivideFactor_ != 1) {
    bucket().memory.div_(predivideFactor_);
  }
  for (const Matrix& matrix : matrices_) {
    // From here on, the error holds what this rank wants to send; finish() subtracts what was sent.
    matrix.error.add_(matrix.gradient);
    matrix.p.copy_(at::mm(matrix.error, matrix.q));
  }
  for (const Whole& whole : whole_) {
    whole.copy.copy_(whole.gradient);
  }
  return send(first_, /*isLast=*/false);
}

ChainLink PowerSgd::sendSecond() {
  for (Matrix& matrix : matrices_) {
    const std::int64_t rows = matrix.hostP.size(0);
    const std::int64_t columns = matrix.hostP.size(1);
    matrix.isFinite =
        matrix.hostP.scalar_type() == at::kDouble
            ? orthogonalize(static_cast<double*>(matrix.hostP.data_ptr()), rows, columns)
            : orthogonalize(static_cast<float*>(matrix.hostP.data_ptr()), rows, columns);
  }
  first_.copyFromHost();
  for (const Matrix& matrix : matrices_) {
    matrix.q.copy_(at::mm(matrix.error.t(), matrix.p));
  }
  return send(second_, /*isLast=*/true);
}

void PowerSgd::finish() {
  second_.copyFromHost();
  for (const Matrix& matrix : matrices_) {
    const at::Tensor sum = at::mm(matrix.p, matrix.q.t());
    matrix.gradient.copy_(sum);
    if (matrix.isFinite) {
      matrix.error.sub_(sum, 1.0 / world_.size());
    } else {
      matrix.error.zero_();
      fillRandomly(matrix.q, matrix.seed);
    }
  }
  for (const Whole& whole : whole_) {
    whole.gradient.copy_(whole.copy);
  }
}

}  // namespace steptape::detail::train
