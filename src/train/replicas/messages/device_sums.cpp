// SPDX-License-Identifier: Apache-2.0
#include "train/replicas/messages/device_sums.h"

#include <cstddef>
#include <cstdint>
#include <utility>

#include "train/replicas/gradients/current_stream.h"
#include "train/replicas/gradients/wire_buffer.h"

#include <ATen/ops/zeros.h>
#include <ATen/ops/zeros_like.h>
#include <c10/core/DeviceGuard.h>
#include <c10/core/Event.h>
#include <c10/core/StreamGuard.h>
#include <c10/core/impl/VirtualGuardImpl.h>

namespace steptape::detail::train {
namespace {

/// LibTorch's number of a stream that it has not made is the stream itself.
///
/// @source c10::cuda::getStreamFromExternal() in c10/cuda/CUDAStream.cpp. It is not called, because
///         its header needs CUDA's.
c10::Stream streamOf(const ranks::NcclGroup& group, c10::Device device) {
  const auto number = reinterpret_cast<std::intptr_t>(group.stream());
  return c10::Stream(c10::Stream::UNSAFE, device, static_cast<c10::StreamId>(number));
}

/// Lets `later` wait for the work that `earlier` holds now.
void order(const c10::Stream& earlier, const c10::Stream& later) {
  c10::Event event(earlier.device_type());
  event.record(earlier);
  event.block(later);
}

/// Returns on which device all buckets are; none if they are on several, or in main memory.
std::optional<c10::Device> deviceOf(const std::vector<GradientBucket>& buckets) {
  std::optional<c10::Device> device;
  for (const GradientBucket& bucket : buckets) {
    if (!bucket.memory.is_cuda() || (device && *device != bucket.memory.device())) {
      return std::nullopt;
    }
    device = bucket.memory.device();
  }
  return device;
}

}  // namespace

std::optional<c10::Device> deviceForSums(const std::vector<GradientBucket>& buckets,
                                         Communicator& world, const GradientSyncOptions& options) {
  const std::optional<c10::Device> device = deviceOf(buckets);
  const bool isSum = options.reduction == GradientReduction::kAverage &&
                     options.compression != Compression::kPowerSgd;
  std::int32_t may = device && isSum ? 1 : 0;
  CollectiveOptions collective;
  collective.name = "whether GPUs sum gradients";
  world.allreduce(ArrayView<std::int32_t>(&may, 1), ReduceOp::kMin, collective);
  return may == 0 ? std::nullopt : device;
}

std::unique_ptr<DeviceSums> DeviceSums::make(const std::vector<GradientBucket>& buckets,
                                             c10::Device device, Communicator& world,
                                             const GradientSyncOptions& options, std::string& why) {
  if (options.ncclLibrary.empty()) {
    return nullptr;
  }
  const c10::DeviceGuard guard(device);
  std::unique_ptr<ranks::NcclGroup> group =
      ranks::NcclGroup::make(world, options.ncclLibrary, world.timeout(), why);
  if (!group) {
    return nullptr;
  }
  std::unique_ptr<DeviceSums> sums(new DeviceSums(buckets, std::move(group), options));
  // NCCL connects the ranks in the first sum of each size, in which the host waits for all of them.
  for (std::size_t bucket = 0; bucket < buckets.size(); ++bucket) {
    sums->add(bucket);
  }
  if (options.maxNorm > 0) {
    sums->fromRoot(at::zeros({}, at::TensorOptions(device).dtype(at::kDouble)), world.isRoot());
  }
  sums->finish();
  currentStream(device).synchronize();
  return sums;
}

DeviceSums::DeviceSums(const std::vector<GradientBucket>& buckets,
                       std::unique_ptr<ranks::NcclGroup> group, const GradientSyncOptions& options)
    : buckets_(buckets),
      group_(std::move(group)),
      predivideFactor_(options.predivideFactor),
      device_(buckets.front().memory.device()),
      stream_(streamOf(*group_, device_)) {
  const c10::impl::VirtualGuardImpl guard(device_.type());
  for (const GradientBucket& bucket : buckets) {
    wires_.push_back(wireFor(bucket.memory, options.compression));
    // The allocator may not reuse the memory before this stream is done with it.
    guard.recordDataPtrOnStream(bucket.memory.storage().data_ptr(), stream_);
    guard.recordDataPtrOnStream(wires_.back().storage().data_ptr(), stream_);
  }
}

void DeviceSums::add(std::size_t bucket) {
  const at::Tensor& memory = buckets_[bucket].memory;
  const at::Tensor& wire = wires_[bucket];
  const c10::DeviceGuard onDevice(device_);
  order(currentStream(device_), stream_);
  const c10::StreamGuard onStream(stream_);
  if (predivideFactor_ != 1) {
    memory.div_(predivideFactor_);
  }
  if (!wire.is_same(memory)) {
    wire.copy_(memory);
  }
  sum(buckets_[bucket].name, wire);
  if (!wire.is_same(memory)) {
    memory.copy_(wire);
  }
}

void DeviceSums::sum(const std::string& name, const at::Tensor& data) {
  group_->sum(name, data.data_ptr(), static_cast<std::size_t>(data.numel()),
              averagedType(data.scalar_type()).value());
  auto ended = std::make_shared<c10::Event>(device_.type());
  ended->record(stream_);
  group_->watch(name, [ended = std::move(ended)] { return ended->query(); });
}

at::Tensor DeviceSums::fromRoot(const at::Tensor& value, bool isRoot) {
  at::Tensor summed = isRoot ? value : at::zeros_like(value);  // x + 0 + 0 ... is exactly x
  const c10::DeviceGuard onDevice(device_);
  order(currentStream(device_), stream_);
  c10::impl::VirtualGuardImpl(device_.type())
      .recordDataPtrOnStream(summed.storage().data_ptr(), stream_);
  {
    const c10::StreamGuard onStream(stream_);
    sum("norm of the gradients", summed);
  }
  order(stream_, currentStream(device_));
  return summed;
}

void DeviceSums::finish() {
  group_->requireUsable();
  order(stream_, currentStream(device_));
}

}  // namespace steptape::detail::train
