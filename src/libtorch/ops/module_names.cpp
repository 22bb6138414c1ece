// SPDX-License-Identifier: Apache-2.0
#include "libtorch/ops/module_names.h"

#include <atomic>
#include <memory>
#include <unordered_map>
#include <vector>

#include "base/mutex.h"

namespace steptape::detail::libtorch {
namespace {

constexpr std::size_t kMaxModules = 65535;  // numbers have 16 bits

using WeakTensor = c10::weak_intrusive_ptr<c10::TensorImpl, c10::UndefinedTensorImpl>;

struct ModuleTable {
  std::unordered_map<const void*, std::uint16_t> moduleByTensor;
  std::vector<WeakTensor> tensors;  // weak references keep addresses from being reused
  std::vector<std::string> names;
};

std::atomic<const ModuleTable*> currentTable{nullptr};

void addTensor(const at::Tensor& tensor, std::uint16_t id, ModuleTable* table) {
  table->moduleByTensor[tensor.unsafeGetTensorImpl()] = id;
  table->tensors.emplace_back(tensor.getIntrusivePtr());
}

void addTensors(const torch::nn::Module& module, std::uint16_t id, ModuleTable* table) {
  for (const auto& parameter : module.named_parameters(/*recurse=*/false)) {
    addTensor(parameter.value(), id, table);
  }
  for (const auto& buffer : module.named_buffers(/*recurse=*/false)) {
    addTensor(buffer.value(), id, table);
  }
}

}  // namespace

void rememberModules(const torch::nn::Module& model, const std::string& name) {
  static auto* const kMutex = new base::Mutex;
  // Operators may read an old table at any time, so tables are never freed. There is one for each
  // model that a program profiles.
  static auto* const kTables = new std::vector<std::unique_ptr<const ModuleTable>>;
  const base::MutexLock lock(*kMutex);
  const ModuleTable* const known = currentTable.load(std::memory_order_relaxed);
  auto table =
      known == nullptr ? std::make_unique<ModuleTable>() : std::make_unique<ModuleTable>(*known);
  for (const auto& module : model.named_modules(name, /*include_self=*/true)) {
    if (table->names.size() == kMaxModules) {
      break;
    }
    std::string path = module.key();
    if (path.empty()) {
      path = module.value()->name();
    }
    table->names.push_back(std::move(path));
    addTensors(*module.value(), static_cast<std::uint16_t>(table->names.size()), table.get());
  }
  currentTable.store(table.get(), std::memory_order_release);
  kTables->push_back(std::move(table));
}

void forgetModules() noexcept {
  currentTable.store(nullptr, std::memory_order_release);
}

std::uint16_t moduleOf(c10::ArrayRef<const c10::IValue> inputs) {
  const ModuleTable* const table = currentTable.load(std::memory_order_acquire);
  if (table == nullptr) {
    return 0;
  }
  for (const c10::IValue& input : inputs) {
    if (!input.isTensor()) {
      continue;
    }
    const auto found = table->moduleByTensor.find(input.toTensor().unsafeGetTensorImpl());
    if (found != table->moduleByTensor.end()) {
      return found->second;
    }
  }
  return 0;
}

std::string moduleName(std::uint16_t moduleId) {
  const ModuleTable* const table = currentTable.load(std::memory_order_acquire);
  return moduleId == 0 || table == nullptr ? "" : table->names.at(moduleId - std::size_t{1});
}

}  // namespace steptape::detail::libtorch
