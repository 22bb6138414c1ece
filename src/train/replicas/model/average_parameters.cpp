// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstddef>
#include <iterator>
#include <optional>
#include <string>
#include <vector>

#include "steptape/train/parameters.h"

#include "base/got_expected.h"
#include "train/replicas/gradients/wire_buffer.h"
#include "train/replicas/model/named_tensors.h"

namespace steptape {
namespace {

/// Limits the memory of an allreduce of many tensors.
constexpr std::size_t kGroupBytes = std::size_t{16} << 20;

/// Tensors of one type in one allreduce.
class AverageGroup {
 public:
  AverageGroup(DType type, Communicator& world) : type_(type), world_(world) {}

  DType type() const { return type_; }

  void add(const at::Tensor& tensor) {
    const at::Tensor flat = tensor.cpu().contiguous();
    if (bytes_ > 0 && bytes_ + flat.nbytes() > kGroupBytes) {
      average();
    }
    tensors_.push_back(tensor);
    flat_.push_back(flat);
    bytes_ += flat.nbytes();
  }

  void average() {
    std::vector<Elements> elements;
    for (const at::Tensor& flat : flat_) {
      elements.emplace_back(flat.data_ptr(), static_cast<std::size_t>(flat.numel()), type_);
    }
    CollectiveOptions options;
    options.name = "averageParameters";
    if (!elements.empty()) {
      world_.allreduceGrouped(elements, ReduceOp::kAverage, options);
    }
    for (std::size_t i = 0; i < flat_.size(); ++i) {
      if (!flat_[i].is_same(tensors_[i])) {
        tensors_[i].copy_(flat_[i]);
      }
    }
    tensors_.clear();
    flat_.clear();
    bytes_ = 0;
  }

 private:
  DType type_;
  Communicator& world_;
  std::vector<at::Tensor> tensors_;
  std::vector<at::Tensor> flat_;  ///< The same tensors if they are flat in main memory.
  std::size_t bytes_ = 0;
};

void checkCanBeAveraged(const torch::OrderedDict<std::string, at::Tensor>& parameters) {
  for (const auto& item : parameters) {
    if (!detail::train::averagedType(item.value().scalar_type())) {
      detail::base::reject(std::string("type ") + at::toString(item.value().scalar_type()),
                           detail::train::kAveragedTypes,
                           "averageParameters " + detail::base::quoted(item.key()));
    }
  }
}

}  // namespace

void averageParameters(torch::nn::Module& module, Communicator& world,
                       const AverageParametersOptions& options) {
  std::vector<detail::train::NamedTensor> tensors;
  detail::train::appendTensors(module.named_parameters(), tensors);
  if (options.buffers) {
    detail::train::appendTensors(module.named_buffers(), tensors);
  }
  detail::train::schemaOf(tensors).checkSameOnAllRanks(world, "averageParameters");
  checkCanBeAveraged(module.named_parameters());
  std::vector<AverageGroup> groups;  // one per type, in the order of the tensors
  for (const auto& [name, tensor] : tensors) {
    const std::optional<DType> type = detail::train::averagedType(tensor.scalar_type());
    if (!type) {
      continue;
    }
    auto group = std::find_if(groups.begin(), groups.end(),
                              [&](const AverageGroup& other) { return other.type() == *type; });
    if (group == groups.end()) {
      groups.emplace_back(*type, world);
      group = std::prev(groups.end());
    }
    group->add(tensor);
  }
  for (AverageGroup& group : groups) {
    group.average();
  }
}

}  // namespace steptape
