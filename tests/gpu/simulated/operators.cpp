// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstring>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "gpu/simulated/simulated_gpu.h"

#include <ATen/ATen.h>
#include <ATen/ops/_reshape_alias_native.h>
#include <ATen/ops/as_strided_native.h>
#include <ATen/ops/unfold_native.h>
#include <ATen/ops/view_native.h>
#include <c10/core/DeviceGuard.h>
#include <torch/library.h>

namespace steptape::simulated_gpu {
namespace {

bool isOnDevice(const at::Tensor& tensor) {
  return tensor.defined() && tensor.device().type() == kType;
}

/// Returns the same elements as a tensor for kernels.
at::Tensor kernelTensor(const at::Tensor& tensor) {
  return isOnDevice(tensor)
             ? at::from_blob(kernelView(tensor.data_ptr()), tensor.sizes(), tensor.strides(),
                             tensor.options().device(at::kCPU).requires_grad(false))
             : tensor;
}

/// The arguments of an operator as its kernel on the processor takes them.
class KernelCall {
 public:
  KernelCall(const c10::OperatorHandle& op, const torch::jit::Stack& stack) : op_(op) {
    const std::size_t count = op.schema().arguments().size();
    for (const c10::IValue& argument : torch::jit::last(stack, count)) {
      held_.push_back(argument);
      arguments_.push_back(converted(argument));
    }
    for (std::size_t argument = 0; device_ && argument < count; ++argument) {
      const c10::TypePtr type = op.schema().arguments()[argument].type();
      if (arguments_[argument].isNone() && type->str() == "Generator?") {
        arguments_[argument] = at::globalContext().defaultGenerator(*device_);
      }
    }
  }

  const std::optional<c10::Device>& device() const { return device_; }

  torch::jit::Stack run() const {
    torch::jit::Stack stack = arguments_;
    op_.redispatchBoxed(c10::DispatchKeySet(c10::DispatchKey::CPU), &stack);
    return stack;
  }

  /// Returns the argument that result number `result` is, if its schema says so.
  const c10::IValue* argumentOf(std::size_t result) const {
    const c10::FunctionSchema& schema = op_.schema();
    const c10::AliasInfo* const alias = schema.returns()[result].alias_info();
    if (alias == nullptr) {
      return nullptr;
    }
    for (std::size_t argument = 0; argument < schema.arguments().size(); ++argument) {
      const c10::AliasInfo* const other = schema.arguments()[argument].alias_info();
      if (other != nullptr && *other == *alias) {
        return &held_[argument];
      }
    }
    return nullptr;
  }
  const at::Tensor& kernelArgument(const c10::IValue* argument) const {
    return arguments_[static_cast<std::size_t>(argument - held_.data())].toTensor();
  }

  /// Returns whether it only changes elements of its arguments.
  bool isInPlace() const {
    const c10::FunctionSchema& schema = op_.schema();
    for (std::size_t result = 0; result < schema.returns().size(); ++result) {
      const c10::IValue* const changed = argumentOf(result);
      if (changed == nullptr || !changed->isTensor() || (isOut() && !isAlsoInput(*changed))) {
        return false;
      }
    }
    return !schema.returns().empty();
  }

 private:
  /// Returns whether the results go to arguments that the kernel may resize.
  bool isOut() const { return op_.schema().overload_name().find("out") != std::string::npos; }
  bool isAlsoInput(const c10::IValue& out) const {
    return std::count_if(held_.begin(), held_.end(), [&](const c10::IValue& argument) {
             return argument.isTensor() && argument.toTensor().is_same(out.toTensor());
           }) > 1;
  }

  c10::IValue converted(const c10::IValue& value) {
    if (value.isTensor()) {
      return converted(value.toTensor());
    }
    if (value.isTensorList()) {
      c10::List<at::Tensor> list;
      for (const at::Tensor& tensor : value.toTensorVector()) {
        list.push_back(converted(tensor));
      }
      return list;
    }
    if (value.isOptionalTensorList()) {
      c10::List<std::optional<at::Tensor>> list;
      for (const std::optional<at::Tensor>& tensor : value.toOptionalTensorVector()) {
        list.push_back(tensor ? std::optional<at::Tensor>(converted(*tensor)) : std::nullopt);
      }
      return list;
    }
    if (value.isDevice() && value.toDevice().type() == kType) {
      device_ = value.toDevice();
      return c10::Device(at::kCPU);
    }
    return value;
  }
  at::Tensor converted(const at::Tensor& tensor) {
    if (isOnDevice(tensor)) {
      device_ = tensor.device();
    }
    return kernelTensor(tensor);
  }

  c10::OperatorHandle op_;
  std::vector<c10::IValue> held_;  // keeps the device's tensors alive
  torch::jit::Stack arguments_;
  std::optional<c10::Device> device_;
};

at::Tensor onDevice(const at::Tensor& result, c10::Device device) {
  at::Tensor copy = at::empty_strided(result.sizes(), result.strides(),
                                      result.options().device(device).requires_grad(false));
  kernelTensor(copy).copy_(result);
  return copy;
}

/// Returns whether the host waits for the operator on a GPU: its result is in main memory, or has a
/// size that the GPU computes.
bool hostAwaits(const c10::OperatorHandle& op) {
  const std::vector<c10::Argument>& results = op.schema().returns();
  const std::string& name = op.schema().name();
  return name == "aten::nonzero" || name == "aten::masked_select" ||
         std::any_of(results.begin(), results.end(), [](const c10::Argument& result) {
           return result.type()->kind() != c10::TypeKind::TensorType &&
                  result.type()->kind() != c10::TypeKind::ListType;
         });
}

void runOnProcessor(const c10::OperatorHandle& op, torch::jit::Stack* stack) {
  KernelCall call(op, *stack);
  const c10::Device device = call.device().value_or(c10::Device(kType, 0));
  const std::size_t results = op.schema().returns().size();
  if (call.isInPlace()) {
    torch::jit::Stack same;
    for (std::size_t result = 0; result < results; ++result) {
      same.push_back(*call.argumentOf(result));
    }
    torch::jit::drop(*stack, op.schema().arguments().size());
    enqueue(currentStream(device), [call = std::move(call)] { call.run(); });
    stack->insert(stack->end(), same.begin(), same.end());
    return;
  }
  if (hostAwaits(op)) {
    waitForCurrentStream(device);
  } else {
    finishCurrentStream(device);
  }
  const torch::jit::Stack made = call.run();
  torch::jit::drop(*stack, op.schema().arguments().size());
  for (std::size_t result = 0; result < results; ++result) {
    const c10::IValue& value = made[result];
    const c10::IValue* const argument = call.argumentOf(result);
    if (argument != nullptr && argument->isTensor()) {
      const at::Tensor& target = argument->toTensor();
      const at::Tensor& kernel = call.kernelArgument(argument);
      if (!target.sizes().equals(kernel.sizes())) {  // an `out` that the kernel has resized
        target.resize_(kernel.sizes());
        kernelTensor(target).copy_(kernel);
      }
      stack->push_back(target);
    } else if (value.isTensor() && value.toTensor().defined()) {
      stack->push_back(onDevice(value.toTensor(), device));
    } else if (value.isTensorList()) {
      std::vector<at::Tensor> list;
      for (const at::Tensor& tensor : value.toTensorVector()) {
        list.push_back(onDevice(tensor, device));
      }
      stack->push_back(list);
    } else {
      stack->push_back(value);
    }
  }
}

c10::Device deviceOr(std::optional<c10::Device> device) {
  const c10::Device wanted = device.value_or(c10::Device(kType));
  return wanted.has_index() ? wanted : c10::impl::getDeviceGuardImpl(kType)->getDevice();
}

at::Tensor emptyOf(at::IntArrayRef sizes, std::optional<at::ScalarType> type,
                   std::optional<at::Layout> /*layout*/, std::optional<at::Device> device,
                   std::optional<bool> /*pinned*/, std::optional<at::MemoryFormat> format) {
  const c10::DeviceGuard guard(deviceOr(device));
  return at::detail::empty_generic(sizes, c10::GetAllocator(kType),
                                   c10::DispatchKeySet(c10::DispatchKey::CUDA),
                                   c10::dtype_or_default(type), format);
}

at::Tensor emptyStrided(at::IntArrayRef sizes, at::IntArrayRef strides,
                        std::optional<at::ScalarType> type, std::optional<at::Layout> /*layout*/,
                        std::optional<at::Device> device, std::optional<bool> /*pinned*/) {
  const c10::DeviceGuard guard(deviceOr(device));
  return at::detail::empty_strided_generic(sizes, strides, c10::GetAllocator(kType),
                                           c10::DispatchKeySet(c10::DispatchKey::CUDA),
                                           c10::dtype_or_default(type));
}

const at::Tensor& resize(const at::Tensor& self, at::IntArrayRef sizes,
                         std::optional<at::MemoryFormat> /*format*/) {
  c10::TensorImpl* const tensor = self.unsafeGetTensorImpl();
  tensor->set_sizes_contiguous(sizes);
  const std::size_t bytes =
      (static_cast<std::size_t>(tensor->numel() + tensor->storage_offset())) * tensor->itemsize();
  const c10::Storage& storage = tensor->unsafe_storage();
  if (bytes > storage.nbytes()) {
    const c10::DeviceGuard guard(self.device());
    finishCurrentStream(self.device());
    c10::DataPtr memory = c10::GetAllocator(kType)->allocate(bytes);
    if (storage.nbytes() > 0) {
      std::memcpy(kernelView(memory.get()), kernelView(storage.data()), storage.nbytes());
    }
    storage.unsafeGetStorageImpl()->set_data_ptr_noswap(std::move(memory));
    storage.unsafeGetStorageImpl()->set_nbytes(bytes);
  }
  return self;
}

/// Only views of the whole storage, so nothing grows.
at::Tensor& setStorage(at::Tensor& self, c10::Storage storage, c10::SymInt offset,
                       c10::SymIntArrayRef sizes, c10::SymIntArrayRef strides) {
  c10::TensorImpl* const tensor = self.unsafeGetTensorImpl();
  tensor->set_storage_keep_dtype(std::move(storage));
  tensor->set_sizes_and_strides(C10_AS_INTARRAYREF_SLOW(sizes), C10_AS_INTARRAYREF_SLOW(strides),
                                offset.expect_int());
  return self;
}

/// The processor's kernel draws from the processor's generator.
std::tuple<at::Tensor, at::Tensor> dropout(const at::Tensor& input, double probability,
                                           std::optional<bool> isTraining) {
  const double kept = isTraining.value_or(true) ? 1 - probability : 1;
  const at::Tensor mask =
      at::empty(input.sizes(), input.options().dtype(at::kFloat)).bernoulli_(kept);
  return {input * mask * (kept == 0 ? 0 : 1 / kept), mask.to(at::kBool)};
}

at::Tensor& copy(at::Tensor& to, const at::Tensor& self, bool isNonBlocking) {
  const auto bytes = static_cast<std::int64_t>(to.nbytes());
  noteCopy(isOnDevice(to) ? 0 : bytes, isOnDevice(self) ? 0 : bytes);
  const c10::Device device = isOnDevice(to) ? to.device() : self.device();
  enqueue(currentStream(device), [self, to] { kernelTensor(to).copy_(kernelTensor(self)); });
  if (!isNonBlocking && !(isOnDevice(self) && isOnDevice(to))) {
    waitForCurrentStream(device);
  }
  return to;
}

TORCH_LIBRARY_IMPL(_, CUDA, library) {
  library.fallback(torch::CppFunction::makeFromBoxedFunction<&runOnProcessor>());
}

TORCH_LIBRARY_IMPL(aten, CUDA, library) {
  library.impl("empty.memory_format", &emptyOf);
  library.impl("empty_strided", &emptyStrided);
  library.impl("resize_", &resize);
  library.impl("copy_", &copy);
  library.impl("native_dropout", &dropout);
  library.impl("set_.source_Storage_storage_offset", &setStorage);
  library.impl("as_strided", &at::native::as_strided_tensorimpl);
  library.impl("view",
               static_cast<at::Tensor (*)(const at::Tensor&, at::IntArrayRef)>(&at::native::view));
  library.impl("_reshape_alias", &at::native::_reshape_alias);
  library.impl("unfold", &at::native::unfold);
}

}  // namespace
}  // namespace steptape::simulated_gpu
