// SPDX-License-Identifier: Apache-2.0
#include "steptape/trainer/gradient_sync.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "steptape/base/error.h"

#include "trainer/tensor_schema.h"

#include <ATen/ops/from_blob.h>
#include <ATen/ops/zeros.h>

namespace steptape {
namespace {

/// One parameter's place in a bucket.
struct Slot {
  std::string name;
  at::Tensor parameter;
  at::Tensor gradient;  ///< Shares the bucket's memory.
};

void checkParameter(const std::string& name, const at::Tensor& parameter) {
  const at::ScalarType type = parameter.scalar_type();
  if ((type != at::kFloat && type != at::kDouble) || !parameter.device().is_cpu()) {
    throw Error(ErrorCode::kInvalidArgument, "GradientSync cannot average the gradient of " + name +
                                                 ", which is " + at::toString(type) + " on " +
                                                 parameter.device().str() +
                                                 "; wanted Float or Double on cpu");
  }
}

/// A tensor on the bucket's memory. Not a view in the sense of autograd, which would forbid what
/// optimizers do with gradients: detach_().
at::Tensor shareMemory(const at::Tensor& bucket, std::int64_t offset, at::IntArrayRef shape) {
  auto* data = static_cast<char*>(bucket.data_ptr()) + offset * bucket.element_size();
  return at::from_blob(
      data, shape, [bucket](void*) {}, bucket.options());
}

/// Brings the gradient that backward() made into the bucket, if it is not there already.
void moveIntoBucket(const Slot& slot) {
  at::Tensor& gradient = slot.parameter.mutable_grad();
  if (gradient.is_same(slot.gradient)) {
    return;
  }
  if (!gradient.defined()) {
    std::memset(slot.gradient.data_ptr(), 0, slot.gradient.nbytes());
  } else if (gradient.layout() != at::kStrided) {
    throw Error(ErrorCode::kInvalidArgument,
                "the gradient of " + slot.name + " is sparse; GradientSync wants a dense one");
  } else if (gradient.is_contiguous()) {
    std::memcpy(slot.gradient.data_ptr(), gradient.data_ptr(), slot.gradient.nbytes());
  } else {
    slot.gradient.copy_(gradient.detach());
  }
  gradient = slot.gradient;
}

}  // namespace

struct GradientSync::Bucket {
  at::ScalarType type;
  std::vector<Slot> slots;
  std::int64_t elements = 0;
  at::Tensor memory;

  bool hasRoomFor(const at::Tensor& parameter, std::int64_t bytes) const {
    return (elements + parameter.numel()) * parameter.element_size() <= bytes;
  }

  void add(const std::string& name, const at::Tensor& parameter) {
    slots.push_back({name, parameter, {}});
    elements += parameter.numel();
  }

  void allocate() {
    memory = at::zeros({elements}, at::TensorOptions().dtype(type));
    std::int64_t offset = 0;
    for (Slot& slot : slots) {
      slot.gradient = shareMemory(memory, offset, slot.parameter.sizes());
      offset += slot.parameter.numel();
    }
  }

  template <typename T>
  void average(Communicator& world) {
    world.allreduce(Span<T>(memory.data_ptr<T>(), static_cast<std::size_t>(elements)),
                    ReduceOp::kAverage);
  }
};

GradientSync::GradientSync(const torch::OrderedDict<std::string, at::Tensor>& parameters,
                           std::shared_ptr<Communicator> world, const GradientSyncOptions& options)
    : world_(std::move(world)) {
  if (options.bucketBytes <= 0) {
    throw Error(ErrorCode::kInvalidArgument,
                "GradientSync got bucketBytes = " + std::to_string(options.bucketBytes) +
                    ", wanted a positive number");
  }
  detail::TensorSchema schema;
  for (const auto& item : parameters) {
    schema.add(item.key(), item.value());
    if (!item.value().requires_grad()) {
      continue;
    }
    checkParameter(item.key(), item.value());
    bucketFor(item.value(), options.bucketBytes).add(item.key(), item.value());
  }
  schema.checkSameOnAllRanks(*world_, "GradientSync");
  for (Bucket& bucket : buckets_) {
    bucket.allocate();
  }
}

GradientSync::~GradientSync() = default;

GradientSync::Bucket& GradientSync::bucketFor(const at::Tensor& parameter, std::int64_t bytes) {
  const at::ScalarType type = parameter.scalar_type();
  const auto last = std::find_if(buckets_.rbegin(), buckets_.rend(),
                                 [type](const Bucket& bucket) { return bucket.type == type; });
  if (last != buckets_.rend() && last->hasRoomFor(parameter, bytes)) {
    return *last;
  }
  buckets_.push_back(Bucket{type, {}, 0, {}});
  return buckets_.back();
}

void GradientSync::synchronize() {
  if (world_->size() == 1) {
    return;
  }
  for (Bucket& bucket : buckets_) {
    std::for_each(bucket.slots.begin(), bucket.slots.end(), moveIntoBucket);
    if (bucket.type == at::kFloat) {
      bucket.average<float>(*world_);
    } else {
      bucket.average<double>(*world_);
    }
  }
}

}  // namespace steptape
