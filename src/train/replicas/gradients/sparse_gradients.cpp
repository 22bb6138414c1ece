// SPDX-License-Identifier: Apache-2.0
#include "train/replicas/gradients/sparse_gradients.h"

#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

#include <ATen/ops/cat.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/sparse_coo_tensor.h>

namespace steptape::detail::train {
namespace {

/// Rows of a gradient and their indices, in main memory.
struct Rows {
  at::Tensor indices;  // (1, rows), int64.
  at::Tensor values;   // (rows, ...).
};

at::Tensor emptyValues(const at::Tensor& parameter, std::int64_t rows) {
  std::vector<std::int64_t> shape = parameter.sizes().vec();
  shape.front() = rows;
  return at::empty(shape, at::TensorOptions(parameter.scalar_type()));
}

/// Returns this rank's gradient, each row once.
Rows rowsOf(const GradientSlot& slot) {
  at::Tensor gradient = slot.parameter.grad();
  if (!gradient.defined()) {
    return {at::empty({1, 0}, at::TensorOptions(at::kLong)), emptyValues(slot.parameter, 0)};
  }
  gradient = gradient.detach();
  if (!gradient.is_sparse() || gradient.sparse_dim() != 1) {
    gradient = (gradient.is_sparse() ? gradient.to_dense() : gradient).to_sparse(1);
  }
  gradient = gradient.coalesce();
  return {gradient.indices().cpu().contiguous(), gradient.values().cpu().contiguous()};
}

std::string elementBytesOf(const at::Tensor& tensor) {
  return {static_cast<const char*>(tensor.data_ptr()), tensor.nbytes()};
}

void fill(const at::Tensor& tensor, std::string_view bytes) {
  if (!bytes.empty()) {
    std::memcpy(tensor.data_ptr(), bytes.data(), bytes.size());
  }
}

/// Returns a rank's first message: whether it has a gradient, and its indices.
std::string headOf(const GradientSlot& slot, const Rows& rows) {
  return (slot.parameter.grad().defined() ? '\1' : '\0') + elementBytesOf(rows.indices);
}

Rows rowsFrom(const at::Tensor& parameter, std::string_view head, std::string_view values) {
  const std::string_view indices = head.substr(1);
  const auto count = static_cast<std::int64_t>(indices.size() / sizeof(std::int64_t));
  Rows rows{at::empty({1, count}, at::TensorOptions(at::kLong)), emptyValues(parameter, count)};
  fill(rows.indices, indices);
  fill(rows.values, values);
  return rows;
}

/// Returns the rows of all ranks as one gradient. Equal rows are summed in the order of ranks,
/// because coalesce() sorts stably.
at::Tensor sumOf(const std::vector<at::Tensor>& indices, const std::vector<at::Tensor>& values,
                 const at::Tensor& parameter, double scale) {
  const at::ScalarType type = parameter.scalar_type();
  // Summed in float32 and rounded once, as in an allreduce.
  const at::ScalarType sumType = type == at::kDouble ? at::kDouble : at::kFloat;
  const at::Tensor all = at::cat(values).to(sumType);
  const at::Tensor sum =
      at::sparse_coo_tensor(at::cat(indices, 1), all, parameter.sizes(), at::TensorOptions(sumType))
          .coalesce();
  const c10::Device device = parameter.device();
  return at::sparse_coo_tensor(sum.indices().to(device), sum.values().mul(scale).to(device, type),
                               parameter.sizes(), at::TensorOptions(device).dtype(type))
      ._coalesced_(true);
}

}  // namespace

void exchangeSparseGradient(const GradientSlot& slot, Communicator& world, double scale) {
  const Rows mine = rowsOf(slot);
  CollectiveOptions options;
  options.name = "rows of the gradient of " + slot.name;
  const std::vector<std::string> heads = world.allgather(headOf(slot, mine), options);
  options.name = "gradient of " + slot.name;
  const std::vector<std::string> bytes = world.allgather(elementBytesOf(mine.values), options);

  bool anyHasGradient = false;
  std::vector<at::Tensor> indices;
  std::vector<at::Tensor> values;
  for (std::size_t rank = 0; rank < heads.size(); ++rank) {
    anyHasGradient = anyHasGradient || heads[rank].front() != '\0';
    const Rows rows = rowsFrom(slot.parameter, heads[rank], bytes[rank]);
    indices.push_back(rows.indices);
    values.push_back(rows.values);
  }
  if (anyHasGradient) {
    slot.parameter.mutable_grad() = sumOf(indices, values, slot.parameter, scale);
  }
}

}  // namespace steptape::detail::train
