// SPDX-License-Identifier: Apache-2.0
#include "train/checkpoint/checkpoint_archive.h"

#include <cstring>
#include <sstream>
#include <string_view>
#include <unordered_set>

#include "steptape/train/learning_rate_schedule.h"
#include "steptape/train/recipe.h"

#include "base/crc32c.h"
#include "train/checkpoint/archive_tensors.h"
#include "train/checkpoint/random_state.h"
#include "train/replicas/model/named_tensors.h"
#include "train/replicas/model/optimizer_archive.h"
#include "train/replicas/model/rank_failures.h"

#include <ATen/Context.h>
#include <torch/nn/module.h>
#include <torch/optim/optimizer.h>

namespace steptape::detail::train {
namespace {

using torch::serialize::InputArchive;
using torch::serialize::OutputArchive;

// Entries of the archive.
constexpr const char* kModel = "model";
constexpr const char* kModelSchema = "model_schema";
constexpr const char* kOptimizer = "optimizer";
constexpr const char* kOptimizerSchema = "optimizer_schema";
constexpr const char* kSchedule = "schedule";
constexpr const char* kRandom = "random";
constexpr const char* kNumbers = "progress";
constexpr const char* kValueNames = "value_names";
constexpr const char* kValues = "values";
constexpr const char* kTensorNames = "tensor_names";
constexpr const char* kTensors = "tensors";

/// What is checksummed is written next, while it is in the processor's cache.
constexpr std::size_t kChecksummedBytes = 1 << 17;

/// The last line of the file, "\nCRC-32C 0x8a9136aa\n".
std::string checksumLine(base::Crc32c ofArchive) {
  return "\nCRC-32C " + ofArchive.toString() + "\n";
}

at::Tensor toTensor(const std::string& bytes) {
  at::Tensor tensor = at::empty({static_cast<std::int64_t>(bytes.size())}, at::kByte);
  std::memcpy(tensor.data_ptr(), bytes.data(), bytes.size());
  return tensor;
}

/// Returns null if the tensor has no storage, such as a sparse one.
const void* storageOf(const at::Tensor& tensor) {
  return tensor.has_storage() ? tensor.storage().unsafeGetStorageImpl() : nullptr;
}

std::string toBytes(const at::Tensor& tensor) {
  return {static_cast<const char*>(tensor.data_ptr()), tensor.nbytes()};
}

at::Tensor toTensor(const std::vector<double>& numbers) {
  return at::tensor(numbers, at::kDouble);
}

std::vector<double> toNumbers(const at::Tensor& tensor) {
  const double* first = tensor.data_ptr<double>();
  return {first, first + tensor.numel()};
}

void writeProgress(OutputArchive& archive, const TrainingProgress& progress) {
  archive.write(kNumbers, at::tensor({progress.epoch, progress.stepInEpoch, progress.step,
                                      static_cast<std::int64_t>(progress.seed),
                                      static_cast<std::int64_t>(progress.ranks),
                                      progress.samplesDone, progress.writerStep},
                                     at::kLong));
  std::string names;
  std::vector<double> values;
  for (const auto& [name, value] : progress.values) {
    names += name + '\n';
    values.push_back(value);
  }
  archive.write(kValueNames, c10::IValue(names));
  archive.write(kValues, toTensor(values));
}

at::Tensor readTensor(InputArchive& archive, const std::string& key) {
  at::Tensor tensor;
  archive.read(key, tensor);
  return tensor;
}

std::string readString(InputArchive& archive, const std::string& key) {
  c10::IValue value;
  archive.read(key, value);
  return value.toStringRef();
}

TrainingProgress readProgress(InputArchive& archive) {
  constexpr std::int64_t kCount = 7;
  const at::Tensor numbers = readTensor(archive, kNumbers);
  TORCH_CHECK(numbers.numel() == kCount, "progress has ", numbers.numel(), " numbers; expected ",
              kCount);
  const std::int64_t* number = numbers.data_ptr<std::int64_t>();
  TrainingProgress progress;
  progress.epoch = number[0];
  progress.stepInEpoch = number[1];
  progress.step = number[2];
  progress.seed = static_cast<std::uint64_t>(number[3]);
  progress.ranks = static_cast<int>(number[4]);
  progress.samplesDone = number[5];
  progress.writerStep = number[6];
  std::istringstream names(readString(archive, kValueNames));
  for (const double value : toNumbers(readTensor(archive, kValues))) {
    std::string name;
    std::getline(names, name);
    progress.values[name] = value;
  }
  return progress;
}

/// Numbers the tensors, because an archive allows fewer names than TrainingProgress.
void writeTensors(OutputArchive& archive, const std::map<std::string, at::Tensor>& tensors) {
  if (tensors.empty()) {
    return;
  }
  std::string names;
  OutputArchive numbered(archive.compilation_unit());
  std::size_t number = 0;
  for (const auto& [name, tensor] : tensors) {
    names += name + '\n';
    numbered.write(std::to_string(number++), tensor);
  }
  archive.write(kTensorNames, c10::IValue(names));
  archive.write(kTensors, numbered);
}

/// Loads the values into the existing memory of the tensors, because others may hold views of it.
void loadInPlace(torch::nn::Module& module, InputArchive& archive) {
  const std::vector<NamedTensor> before = parametersAndBuffers(module);
  std::vector<at::Tensor> tensors = module.parameters();
  const std::vector<at::Tensor> buffers = module.buffers();
  tensors.insert(tensors.end(), buffers.begin(), buffers.end());
  const auto pointBack = [&] {
    for (std::size_t i = 0; i < tensors.size(); ++i) {
      tensors[i].set_data(before[i].tensor);
    }
  };
  try {
    module.load(archive);  // gives the tensors other memory
    for (std::size_t i = 0; i < tensors.size(); ++i) {
      before[i].tensor.copy_(tensors[i].detach());
    }
  } catch (...) {
    pointBack();
    throw;
  }
  pointBack();
}

}  // namespace

CheckpointContent::CheckpointContent(const torch::nn::Module& module,
                                     const torch::optim::Optimizer& optimizer,
                                     const LearningRateSchedule* schedule,
                                     const TrainingProgress& progress)
    : optimizer_(archive_.compilation_unit()), optimizerSchema_(schemaOf(optimizer).text()) {
  writeProgress(archive_, progress);
  writeTensors(archive_, progress.tensors);
  archive_.write(kModelSchema, c10::IValue(schemaOf(parametersAndBuffers(module)).text()));
  OutputArchive modelArchive(archive_.compilation_unit());
  module.save(modelArchive);
  archive_.write(kModel, modelArchive);
  writeOptimizer(optimizer, optimizer_);
  if (schedule != nullptr) {
    baseRates_ = schedule->baseRates();
  }
}

void CheckpointContent::useCopies(const torch::nn::Module& module, TensorCopies& copies) {
  std::unordered_set<const void*> parameters;
  for (const at::Tensor& parameter : module.parameters()) {
    parameters.insert(storageOf(parameter));
  }
  const auto copyOf = [&](const at::Tensor& tensor, bool isCopiedNow) {
    at::Tensor copy = isCopiedNow ? copies.addNow(tensor) : copies.add(tensor);
    if (tensor.use_count() > 1) {
      // LibTorch writes a longer form for a tensor with several references. To get the same bytes
      // as for the original, the copy needs another reference too.
      held_.push_back(copy);
    }
    return copy;
  };
  replaceTensors(archive_, [&](const at::Tensor& tensor) {
    return copyOf(tensor, parameters.count(storageOf(tensor)) == 0);
  });
  replaceTensors(optimizer_, [&](const at::Tensor& tensor) { return copyOf(tensor, false); });
}

void CheckpointContent::write(const ByteSink& sink) {
  archive_.write(kOptimizerSchema, c10::IValue(optimizerSchema_));
  archive_.write(kOptimizer, optimizer_);
  if (baseRates_) {
    archive_.write(kSchedule, toTensor(*baseRates_));
  }
  OutputArchive randomArchive(archive_.compilation_unit());
  for (std::size_t rank = 0; rank < randomStates_.size(); ++rank) {
    randomArchive.write(std::to_string(rank), toTensor(randomStates_[rank]));
  }
  archive_.write(kRandom, randomArchive);
  base::Crc32c checksum;
  archive_.save_to([&](const void* data, std::size_t size) {
    std::string_view bytes(static_cast<const char*>(data), size);
    while (!bytes.empty()) {
      const std::string_view piece = bytes.substr(0, kChecksummedBytes);
      checksum = base::extend(checksum, piece);
      sink(piece);
      bytes.remove_prefix(piece.size());
    }
    return size;
  });
  sink(checksumLine(checksum));
}

std::string encodeProgress(const TrainingProgress& progress) {
  OutputArchive archive;
  writeProgress(archive, progress);
  return bytesOf(archive);
}

TrainingProgress decodeProgress(const std::string& bytes) {
  InputArchive archive;
  openArchive(archive, bytes);
  return readProgress(archive);
}

std::string CheckpointArchive::open(const std::string& bytes) {
  static const std::size_t kLineBytes = checksumLine({}).size();
  const std::size_t archiveBytes = bytes.size() - std::min(bytes.size(), kLineBytes);
  const std::string_view line = std::string_view(bytes).substr(archiveBytes);
  if (line.substr(0, line.find("0x")) != "\nCRC-32C ") {
    return "its end is missing, at " + std::to_string(bytes.size()) + " bytes";
  }
  if (line != checksumLine(base::crc32c(std::string_view(bytes).substr(0, archiveBytes)))) {
    return "its bytes are not those that its checksum is of";
  }
  return failureOf([&] {
    // Into main memory: the devices of the rank that saved may not exist here.
    openArchive(archive_, bytes.substr(0, archiveBytes), at::kCPU);
    progress_ = readProgress(archive_);
  });
}

std::string CheckpointArchive::differenceFrom(const torch::nn::Module& module,
                                              const torch::optim::Optimizer& optimizer,
                                              const LearningRateSchedule* schedule) {
  const std::string model = schemaOf(parametersAndBuffers(module)).text();
  if (const std::string saved = readString(archive_, kModelSchema); saved != model) {
    return "the model: " + firstDifference(saved, model);
  }
  const std::string optimizerSchema = schemaOf(optimizer).text();
  if (const std::string saved = readString(archive_, kOptimizerSchema); saved != optimizerSchema) {
    return "the optimizer: " + firstDifference(saved, optimizerSchema);
  }
  at::Tensor rates;
  if (schedule != nullptr && archive_.try_read(kSchedule, rates) &&
      static_cast<std::size_t>(rates.numel()) != schedule->baseRates().size()) {
    return "the schedule: got " + std::to_string(rates.numel()) + " base rates; expected " +
           std::to_string(schedule->baseRates().size());
  }
  return {};
}

void CheckpointArchive::restore(torch::nn::Module& module, torch::optim::Optimizer& optimizer,
                                LearningRateSchedule* schedule, int rank) {
  restoreRandomState(module, rank);
  InputArchive modelArchive;
  archive_.read(kModel, modelArchive);
  loadInPlace(module, modelArchive);
  InputArchive optimizerArchive;
  archive_.read(kOptimizer, optimizerArchive);
  const c10::Device device = deviceOf(optimizer);
  replaceTensors(optimizerArchive, [&](const at::Tensor& tensor) { return tensor.to(device); });
  optimizerFromArchive(optimizer, optimizerArchive);
  at::Tensor rates;
  if (schedule != nullptr && archive_.try_read(kSchedule, rates)) {
    schedule->setBaseRates(toNumbers(rates));
  }
}

std::map<std::string, at::Tensor> CheckpointArchive::tensors() {
  std::map<std::string, at::Tensor> tensors;
  c10::IValue names;
  if (!archive_.try_read(kTensorNames, names)) {
    return tensors;
  }
  InputArchive numbered;
  archive_.read(kTensors, numbered);
  std::istringstream lines(names.toStringRef());
  for (std::string name; std::getline(lines, name);) {
    const std::size_t number = tensors.size();
    tensors.emplace(name, readTensor(numbered, std::to_string(number)).cpu());
  }
  return tensors;
}

void CheckpointArchive::restoreRandomState(const torch::nn::Module& module, int rank) {
  InputArchive randomArchive;
  archive_.read(kRandom, randomArchive);
  at::Tensor state;
  if (randomArchive.try_read(std::to_string(rank), state)) {
    setRandomState(module, toBytes(state));
    return;
  }
  // Includes the step, because an earlier rank of this number has used the first numbers already.
  at::manual_seed(rankSeed(progress_.seed + static_cast<std::uint64_t>(progress_.step), rank));
}

}  // namespace steptape::detail::train
