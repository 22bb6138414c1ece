// SPDX-License-Identifier: Apache-2.0
#include "parallel/wire_buffer.h"

#include <cstddef>
#include <optional>
#include <string>
#include <utility>

#include "steptape/base/error.h"

#include "parallel/averaged_type.h"

#include <ATen/ops/empty.h>
#include <c10/core/Stream.h>
#include <c10/core/impl/VirtualGuardImpl.h>

namespace steptape::detail {
namespace {

DType wireTypeOf(at::ScalarType type) {
  const std::optional<DType> wire = averagedType(type);
  if (!wire) {
    throw Error(ErrorCode::kInvalidArgument, std::string("gradients of type ") +
                                                 at::toString(type) +
                                                 " cannot be added up; wanted " + kAveragedTypes);
  }
  return *wire;
}

}  // namespace

WireBuffer::WireBuffer(at::Tensor tensor) : tensor_(std::move(tensor)), host_(tensor_) {
  if (!tensor_.is_cpu()) {
    // Pinned: else the device's driver copies twice, and in its own time.
    host_ = at::empty(tensor_.sizes(),
                      tensor_.options().device(at::kCPU).pinned_memory(tensor_.is_cuda()));
  }
}

Elements WireBuffer::elements() const {
  return {host_.data_ptr(), static_cast<std::size_t>(host_.numel()),
          wireTypeOf(host_.scalar_type())};
}

void WireBuffer::copyToHost() {
  copy(tensor_, host_);
}

void WireBuffer::copyFromHost() {
  copy(host_, tensor_);
}

void WireBuffer::copy(const at::Tensor& from, const at::Tensor& to) {
  if (from.is_same(to)) {
    return;
  }
  to.copy_(from, /*non_blocking=*/true);
  const c10::Device device = tensor_.device();
  c10::impl::VirtualGuardImpl(device.type()).getStream(device).synchronize();
}

}  // namespace steptape::detail
