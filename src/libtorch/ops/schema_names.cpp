// SPDX-License-Identifier: Apache-2.0
#include "libtorch/ops/schema_names.h"

#include <memory>
#include <vector>

#include "steptape/process/zone.h"

#include <ATen/core/dispatch/Dispatcher.h>

namespace steptape::detail::libtorch {

std::atomic<const AddressTable*> schemaNames{nullptr};

AddressTable::AddressTable(std::size_t addresses) {
  std::size_t size = 16;
  while (size < 2 * addresses) {
    size *= 2;
    --shift_;
  }
  slots_.resize(size);
}

namespace {

/// Addresses of deregistered operators may be reused for other texts.
class ForgetOnDeregistration final : public c10::OpRegistrationListener {
 public:
  void onOperatorRegistered(const c10::OperatorHandle&) override {}
  void onOperatorDeregistered(const c10::OperatorHandle&) override {
    schemaNames.store(nullptr, std::memory_order_relaxed);
  }
};

const AddressTable* tableOfAllOperators() {
  auto& dispatcher = c10::Dispatcher::singleton();
  std::vector<c10::OperatorHandle> operators;
  for (const c10::OperatorName& name : dispatcher.getAllOpNames()) {
    if (const auto found = dispatcher.findSchema(name)) {
      operators.push_back(*found);
    }
  }
  auto made = std::make_unique<AddressTable>(operators.size());
  for (const c10::OperatorHandle& op : operators) {
    const std::string& name = op.schema().name();
    made->add(name.c_str(), internSpanName(SpanKind::kOperator, name));
  }
  return made.release();  // hooks on any thread may use it until the process ends
}

}  // namespace

void learnSchemaNames() {
  static const bool kIsLearned = [] {
    // Never destroyed, which would remove the listener: operators are deregistered until the
    // process ends.
    new c10::RegistrationHandleRAII(c10::Dispatcher::singleton().addRegistrationListener(
        std::make_unique<ForgetOnDeregistration>()));
    schemaNames.store(tableOfAllOperators(), std::memory_order_release);
    return true;
  }();
  static_cast<void>(kIsLearned);
}

}  // namespace steptape::detail::libtorch
