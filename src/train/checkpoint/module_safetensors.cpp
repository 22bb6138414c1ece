// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <optional>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "steptape/base/status.h"
#include "steptape/train/checkpoint.h"

#include "base/got_expected.h"
#include "base/text.h"
#include "train/checkpoint/safetensors_types.h"
#include "train/checkpoint/tied_tensors.h"
#include "train/safetensors/tensor_layout.h"

#include <ATen/Functions.h>
#include <torch/nn/module.h>
#include <torch/version.h>

namespace steptape {
namespace {

using detail::base::gotExpected;
using detail::train::NamedTensor;
using detail::train::shownName;
using detail::train::TiedTensor;
using Entry = SafetensorsFile::Entry;

SafetensorsInfo infoOf(const NamedTensor& named) {
  const at::Tensor& tensor = named.tensor;
  const std::string where = "saveSafetensors " + shownName(named.name);
  if (!tensor.defined()) {
    detail::base::reject("an undefined tensor", "a defined one", where);
  }
  const std::optional<SafetensorsDType> dtype =
      detail::train::safetensorsDTypeOf(tensor.scalar_type());
  if (!dtype || tensor.layout() != at::kStrided || tensor.is_meta()) {
    detail::base::reject(tensor.toString(), "a dense tensor in memory, of a type of safetensors",
                         where);
  }
  return {named.name, *dtype, tensor.sizes().vec()};
}

void save(const std::string& path, const std::vector<NamedTensor>& tensors,
          SafetensorsMetadata metadata) {
  metadata.emplace("format", "pt");
  std::vector<SafetensorsInfo> infos;
  infos.reserve(tensors.size());
  for (const NamedTensor& named : tensors) {
    infos.push_back(infoOf(named));
  }
  at::Tensor current;
  const auto elements = [&](std::size_t index) -> const void* {
    // A lazily conjugated or negated tensor has other values than its memory.
    current = tensors[index].tensor.resolve_conj().resolve_neg().cpu().contiguous();
    return current.data_ptr();
  };
  writeSafetensors(path, infos, elements, metadata);
}

/// Reads the elements into the tensor's memory, or converts and copies them to where it is.
void readInto(at::Tensor& tensor, const SafetensorsFile& file, const Entry& entry) {
  const at::ScalarType type = detail::train::scalarTypeOf(entry.dtype).value();
  if (tensor.is_cpu() && tensor.is_contiguous() && tensor.scalar_type() == type &&
      !tensor.is_conj() && !tensor.is_neg()) {
    file.read(entry, tensor.data_ptr());
    tensor.unsafeGetTensorImpl()->bump_version();  // Autograd may have saved it for a backward().
    return;
  }
  const at::Tensor read = at::empty(entry.shape, type);
  file.read(entry, read.data_ptr());
  tensor.copy_(read);
}

bool matches(const Entry& entry, const at::Tensor& tensor, bool convert) {
  const std::optional<at::ScalarType> type = detail::train::scalarTypeOf(entry.dtype);
  return tensor.sizes() == at::IntArrayRef(entry.shape) && type &&
         (*type == tensor.scalar_type() ||
          (convert && at::isFloatingType(*type) && tensor.is_floating_point()));
}

std::string describe(const at::Tensor& tensor) {
  const std::optional<SafetensorsDType> dtype =
      detail::train::safetensorsDTypeOf(tensor.scalar_type());
  return dtype ? detail::train::describe({"", *dtype, tensor.sizes().vec()})
               : std::string(c10::toString(tensor.scalar_type()));
}

/// Which tensor of a module each entry of a file is for.
class LoadPlan {
 public:
  LoadPlan(const SafetensorsFile& file, std::vector<TiedTensor> tensors, bool convert)
      : tensors_(std::move(tensors)) {
    std::unordered_map<std::string_view, const Entry*> entries;
    for (const Entry& entry : file.entries()) {
      entries.emplace(entry.name, &entry);
    }
    for (TiedTensor& tied : tensors_) {
      assign(tied, entries, convert);
    }
    for (const Entry& entry : file.entries()) {
      if (entries.count(entry.name) != 0) {
        differences_.unexpected.push_back(entry.name);
      }
    }
  }

  const SafetensorsDifferences& differences() const { return differences_; }

  void load(const SafetensorsFile& file) const {
    for (const Entry& entry : file.entries()) {  // In the order of the file.
      if (const auto found = targets_.find(&entry); found != targets_.end()) {
        readInto(*found->second, file, entry);
      }
    }
  }

 private:
  /// Takes the entry of `tied` from `entries`.
  void assign(TiedTensor& tied, std::unordered_map<std::string_view, const Entry*>& entries,
              bool convert) {
    for (const std::string& name : tied.names) {
      if (const auto found = entries.find(name); found != entries.end()) {
        const Entry& entry = *found->second;
        entries.erase(found);
        if (matches(entry, tied.tensor, convert)) {
          targets_.emplace(&entry, &tied.tensor);
        } else {
          differences_.mismatching.push_back(
              shownName(name) + ": " +
              gotExpected(detail::train::describe(entry), describe(tied.tensor)));
        }
        return;
      }
    }
    differences_.missing.push_back(tied.names.front());
  }

  std::vector<TiedTensor> tensors_;
  std::unordered_map<const Entry*, at::Tensor*> targets_;
  SafetensorsDifferences differences_;
};

/// "2 missing tensors: "a", "b"", after a semicolon if `text` has anything.
void appendList(std::string& text, const char* kind, std::vector<std::string> items) {
  constexpr std::size_t kMaxShown = 20;
  if (items.empty()) {
    return;
  }
  text += (text.empty() ? "" : "; ") + detail::base::counted(items.size(), kind) + ": ";
  for (std::size_t i = 0; i < std::min(items.size(), kMaxShown); ++i) {
    text += (i == 0 ? "" : ", ") + items[i];
  }
  if (items.size() > kMaxShown) {
    text += " and " + std::to_string(items.size() - kMaxShown) + " more";
  }
}

std::vector<std::string> shownNames(std::vector<std::string> names) {
  for (std::string& name : names) {
    name = shownName(name);
  }
  return names;
}

[[noreturn]] void failAsDifferent(const std::string& path,
                                  const SafetensorsDifferences& differences) {
  std::string text;
  appendList(text, "missing tensor", shownNames(differences.missing));
  appendList(text, "unexpected tensor", shownNames(differences.unexpected));
  appendList(text, "mismatching tensor", differences.mismatching);
  throw Error(ErrorCode::kInvalidArgument,
              "loadSafetensors " + path + ": got a file with " + text +
                  "; expected the tensors of the module (or strict = false, to load those that "
                  "match)");
}

}  // namespace

void saveSafetensors(const std::string& path, const torch::nn::Module& module,
                     SafetensorsMetadata metadata) {
  std::vector<NamedTensor> tensors;
  for (TiedTensor& tied : detail::train::tiedTensors(detail::train::parametersAndBuffers(module))) {
    for (std::size_t i = 1; i < tied.names.size(); ++i) {
      metadata.emplace(tied.names[i], tied.names.front());
    }
    tensors.push_back({std::move(tied.names.front()), std::move(tied.tensor)});
  }
  save(path, tensors, std::move(metadata));
}

void saveSafetensors(const std::string& path, const std::map<std::string, at::Tensor>& tensors,
                     SafetensorsMetadata metadata) {
  std::vector<NamedTensor> named;
  named.reserve(tensors.size());
  for (const auto& [name, tensor] : tensors) {
    named.push_back({name, tensor.defined() ? tensor.detach() : tensor});
  }
  save(path, named, std::move(metadata));
}

SafetensorsDifferences loadSafetensors(const std::string& path, torch::nn::Module& module,
                                       const LoadSafetensorsOptions& options) {
  const SafetensorsFile file(path);
  const LoadPlan plan(file, detail::train::tiedTensors(detail::train::parametersAndBuffers(module)),
                      options.convert);
  if (options.strict && !plan.differences().empty()) {
    failAsDifferent(path, plan.differences());
  }
  plan.load(file);
  return plan.differences();
}

std::map<std::string, at::Tensor> loadSafetensors(const std::string& path) {
  const SafetensorsFile file(path);
  std::map<std::string, at::Tensor> tensors;
  for (const Entry& entry : file.entries()) {
    const std::optional<at::ScalarType> type = detail::train::scalarTypeOf(entry.dtype);
    if (!type) {
      detail::base::reject(detail::train::describe(entry),
                           "a type that LibTorch " TORCH_VERSION " has",
                           "loadSafetensors " + path + ": " + shownName(entry.name));
    }
    if (!detail::train::fitsStrides(entry)) {
      detail::base::reject(detail::train::describe(entry), "strides below 2^63",
                           "loadSafetensors " + path + ": " + shownName(entry.name));
    }
    at::Tensor tensor = at::empty(entry.shape, *type);
    file.read(entry, tensor.data_ptr());
    tensors.emplace(entry.name, std::move(tensor));
  }
  return tensors;
}

}  // namespace steptape
