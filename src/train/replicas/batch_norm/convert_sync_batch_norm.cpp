// SPDX-License-Identifier: Apache-2.0
#include <cstddef>
#include <memory>
#include <string>

#include "steptape/train/sync_batch_norm.h"

#include <torch/nn/modules/container/any.h>
#include <torch/nn/modules/container/sequential.h>

namespace steptape {
namespace {

template <typename BatchNorm>
SyncBatchNorm convertedAs(const torch::nn::Module& module,
                          const std::shared_ptr<Communicator>& world) {
  const auto* batchNorm = module.as<BatchNorm>();
  return batchNorm == nullptr ? nullptr : SyncBatchNorm(*batchNorm, world);
}

/// Returns null for a module that is not a BatchNorm.
SyncBatchNorm converted(const torch::nn::Module& module,
                        const std::shared_ptr<Communicator>& world) {
  for (const auto convert :
       {&convertedAs<torch::nn::BatchNorm1dImpl>, &convertedAs<torch::nn::BatchNorm2dImpl>,
        &convertedAs<torch::nn::BatchNorm3dImpl>}) {
    if (SyncBatchNorm layer = convert(module, world)) {
      return layer;
    }
  }
  return nullptr;
}

bool isBatchNorm(const torch::nn::Module& module) {
  return module.as<torch::nn::BatchNorm1dImpl>() != nullptr ||
         module.as<torch::nn::BatchNorm2dImpl>() != nullptr ||
         module.as<torch::nn::BatchNorm3dImpl>() != nullptr;
}

class Converter {
 public:
  explicit Converter(std::shared_ptr<Communicator> world) : world_(std::move(world)) {}

  void convert(torch::nn::Module& module, const std::string& name) {
    if (auto* sequential = module.as<torch::nn::SequentialImpl>()) {
      convertLayers(*sequential, name);
    }
    for (const auto& child : module.named_children()) {
      const std::string childName = joined(name, child.key());
      if (isBatchNorm(*child.value())) {
        result_.left.push_back(childName);
      } else {
        convert(*child.value(), childName);
      }
    }
  }

  const SyncBatchNormConversion& result() const { return result_; }

 private:
  static std::string joined(const std::string& name, const std::string& child) {
    return name.empty() ? child : name + "." + child;
  }

  void convertLayers(torch::nn::SequentialImpl& sequential, const std::string& name) {
    // A container calls the layers of one list, and has them registered in another.
    const auto children = sequential.named_children();
    auto layer = sequential.begin();
    for (std::size_t i = 0; i < children.size(); ++i, ++layer) {
      if (SyncBatchNorm synced = converted(*children[i].value(), world_)) {
        *layer = torch::nn::AnyModule(synced);
        sequential.replace_module(children[i].key(), synced);
        result_.converted.push_back(joined(name, children[i].key()));
      }
    }
  }

  std::shared_ptr<Communicator> world_;
  SyncBatchNormConversion result_;
};

}  // namespace

SyncBatchNormConversion convertSyncBatchNorm(torch::nn::Module& module, Communicator& world) {
  Converter converter(world.duplicate());
  converter.convert(module, "");
  return converter.result();
}

}  // namespace steptape
