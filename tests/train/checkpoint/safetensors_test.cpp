// SPDX-License-Identifier: Apache-2.0
#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "steptape/ranks/testing.h"
#include "steptape/train/checkpoint.h"

#include "support/content_of.h"
#include "support/expect_error.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <torch/torch.h>

namespace steptape {
namespace {

using test::expectError;
using test::expectInvalidArgument;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Pair;
using Tensors = std::map<std::string, at::Tensor>;

/// A network with parameters and buffers in a submodule.
struct NetImpl : torch::nn::Module {
  explicit NetImpl(std::int64_t classes = 3)
      : features(register_module("features", torch::nn::Sequential(torch::nn::Conv2d(2, 4, 3),
                                                                   torch::nn::BatchNorm2d(4)))),
        fc(register_module("fc", torch::nn::Linear(4, classes))) {}

  torch::Tensor forward(const torch::Tensor& x) {
    return fc->forward(features->forward(x).mean({2, 3}));
  }

  torch::nn::Sequential features;
  torch::nn::Linear fc;
};
TORCH_MODULE(Net);

/// The same weight under two names.
struct Tied : torch::nn::Module {
  struct Layer : torch::nn::Module {
    explicit Layer(const torch::Tensor& weight) { register_parameter("weight", weight); }
  };

  Tied() {
    const torch::Tensor weight = torch::rand({2, 3});
    register_module("encoder", std::make_shared<Layer>(weight));
    register_module("decoder", std::make_shared<Layer>(weight));
    register_parameter("bias", torch::rand({2}));
  }
};

/// All parameters and buffers, copied.
Tensors stateOf(const torch::nn::Module& module) {
  Tensors state;
  for (const auto& item : module.named_parameters()) {
    state[item.key()] = item.value().detach().clone();
  }
  for (const auto& item : module.named_buffers()) {
    state[item.key()] = item.value().detach().clone();
  }
  return state;
}

void expectEqual(const Tensors& got, const Tensors& expected) {
  ASSERT_EQ(got.size(), expected.size());
  for (const auto& [name, tensor] : expected) {
    ASSERT_EQ(got.count(name), 1u) << name;
    EXPECT_EQ(got.at(name).scalar_type(), tensor.scalar_type()) << name;
    EXPECT_TRUE(torch::equal(got.at(name), tensor)) << name;
  }
}

class SafetensorsModel : public ::testing::Test {
 protected:
  testing::TempDir dir_;
  std::string path_ = dir_.string() + "/model.safetensors";
};

TEST_F(SafetensorsModel, RestoresParametersAndBuffersInTheirPlaces) {
  Net saved;
  saved->forward(torch::rand({5, 2, 4, 4}));  // changes the buffers
  saveSafetensors(path_, *saved, {{"epoch", "3"}});
  EXPECT_THAT(SafetensorsFile(path_).metadata(),
              ElementsAre(Pair("epoch", "3"), Pair("format", "pt")));
  Net loaded;
  const void* const memory = loaded->fc->weight.data_ptr();
  EXPECT_TRUE(loadSafetensors(path_, *loaded).empty());
  expectEqual(stateOf(*loaded), stateOf(*saved));
  EXPECT_EQ(stateOf(*loaded).count("features.1.num_batches_tracked"), 1u);
  EXPECT_EQ(loaded->fc->weight.data_ptr(), memory);
  EXPECT_TRUE(loaded->fc->weight.requires_grad());
}

TEST_F(SafetensorsModel, RestoresTensorsByName) {
  const Tensors tensors{{"scalar", torch::tensor(1.5)},
                        {"empty", torch::empty({0, 3}, torch::kLong)},
                        {"größe", torch::tensor({true, false})}};
  saveSafetensors(path_, tensors);
  expectEqual(loadSafetensors(path_), tensors);
}

TEST_F(SafetensorsModel, WritesValuesAndNotMemory) {
  const torch::Tensor numbers = torch::arange(24, torch::kFloat).view({2, 3, 2, 2});
  const torch::Tensor complex = torch::complex(numbers, numbers + 1);
  const Tensors tensors{{"transposed", numbers.transpose(0, 1)},
                        {"channels_last", numbers.contiguous(at::MemoryFormat::ChannelsLast)},
                        {"expanded", torch::tensor(2.0F).expand({3, 2})},
                        {"slice", numbers.narrow(1, 1, 1)},
                        {"conjugate", torch::conj(complex)},
                        {"negative", torch::imag(torch::conj(complex))}};
  ASSERT_TRUE(tensors.at("conjugate").is_conj());
  ASSERT_TRUE(tensors.at("negative").is_neg());
  saveSafetensors(path_, tensors);
  expectEqual(loadSafetensors(path_), tensors);
}

TEST_F(SafetensorsModel, LoadsIntoTensorsThatAreNotContiguous) {
  torch::nn::Linear saved(3, 4);
  saveSafetensors(path_, *saved);
  torch::nn::Linear loaded(3, 4);
  loaded->weight.set_data(torch::zeros({3, 4}).t());
  loadSafetensors(path_, *loaded);
  EXPECT_TRUE(torch::equal(loaded->weight, saved->weight));
  EXPECT_FALSE(loaded->weight.is_contiguous());
}

TEST_F(SafetensorsModel, TellsAutogradThatParametersHaveChanged) {
  torch::nn::Linear model(3, 4);
  saveSafetensors(path_, *model);
  const torch::Tensor input = torch::rand({2, 3}, torch::requires_grad());
  const torch::Tensor output = model->forward(input);
  loadSafetensors(path_, *model);
  EXPECT_THROW(output.sum().backward(), c10::Error) << "the gradient would be of other weights";
}

TEST_F(SafetensorsModel, NamesAllDifferencesAndChangesNothing) {
  Net saved(5);
  Tensors tensors = stateOf(*saved);
  tensors.erase("features.0.bias");
  tensors.erase("features.1.running_var");
  tensors["head"] = torch::ones({2});
  tensors["features.1.num_batches_tracked"] = torch::tensor(2, torch::kInt);
  saveSafetensors(path_, tensors);
  Net model;
  const Tensors before = stateOf(*model);
  expectInvalidArgument(
      [&] { loadSafetensors(path_, *model); },
      "loadSafetensors " + path_ +
          ": got a file with 2 missing tensors: \"features.0.bias\", \"features.1.running_var\"; "
          "1 unexpected tensor: \"head\"; 3 mismatching tensors: "
          "\"fc.bias\": got F32 [5]; expected F32 [3], "
          "\"fc.weight\": got F32 [5, 4]; expected F32 [3, 4], "
          "\"features.1.num_batches_tracked\": got I32 []; expected I64 []; expected the tensors "
          "of the module (or strict = false, to load those that match)");
  expectEqual(stateOf(*model), before);
}

TEST_F(SafetensorsModel, LoadsMatchingTensorsIfNotStrict) {
  Net saved(5);
  Tensors tensors = stateOf(*saved);
  tensors.erase("features.0.bias");
  tensors["head"] = torch::ones({2});
  saveSafetensors(path_, tensors);
  Net model;
  Tensors expected = stateOf(*model);
  for (const char* const name : {"features.0.weight", "features.1.weight"}) {
    expected[name] = tensors[name];
  }
  LoadSafetensorsOptions options;
  options.strict = false;
  const SafetensorsDifferences differences = loadSafetensors(path_, *model, options);
  EXPECT_THAT(differences.missing, ElementsAre("features.0.bias"));
  EXPECT_THAT(differences.unexpected, ElementsAre("head"));
  EXPECT_THAT(differences.mismatching,
              ElementsAre("\"fc.bias\": got F32 [5]; expected F32 [3]",
                          "\"fc.weight\": got F32 [5, 4]; expected F32 [3, 4]"));
  expectEqual(stateOf(*model), expected);
}

TEST_F(SafetensorsModel, ShortensLongListsOfDifferences) {
  torch::nn::Sequential model;
  for (int i = 0; i < 50; ++i) {
    model->push_back(torch::nn::Linear(1, 1));
  }
  saveSafetensors(path_, Tensors{});
  expectError(ErrorCode::kInvalidArgument,
              "100 missing tensors: \"0.bias\", \"0.weight\", \"1.bias\", ",
              [&] { loadSafetensors(path_, *model); });
  expectError(ErrorCode::kInvalidArgument, " and 80 more; expected",
              [&] { loadSafetensors(path_, *model); });
}

TEST_F(SafetensorsModel, ConvertsFloatingPointTypesUnlessToldNotTo) {
  torch::nn::Linear model(3, 2);
  const torch::Tensor weight = torch::tensor({0.1, -2.5, 3.0, 4.0, 5.0, 1e-7}).view({2, 3});
  saveSafetensors(path_, {{"weight", weight.to(torch::kHalf)},
                          {"bias", torch::tensor({1.0, 1e-9}, torch::kDouble)}});
  LoadSafetensorsOptions exact;
  exact.convert = false;
  expectError(ErrorCode::kInvalidArgument, "\"bias\": got F64 [2]; expected F32 [2]",
              [&] { loadSafetensors(path_, *model, exact); });
  loadSafetensors(path_, *model);
  EXPECT_TRUE(torch::equal(model->weight, weight.to(torch::kHalf).to(torch::kFloat)));
  EXPECT_TRUE(torch::equal(model->bias, torch::tensor({1.0F, 1e-9F})));
  model->to(torch::kBFloat16);
  loadSafetensors(path_, *model);
  EXPECT_TRUE(torch::equal(model->weight, weight.to(torch::kHalf).to(torch::kBFloat16)));
  saveSafetensors(path_, {{"weight", torch::ones({2, 3}, torch::kInt)}, {"bias", model->bias}});
  expectError(ErrorCode::kInvalidArgument, "\"weight\": got I32 [2, 3]; expected BF16 [2, 3]",
              [&] { loadSafetensors(path_, *model); });
}

TEST_F(SafetensorsModel, WritesTiedTensorsOnce) {
  Tied saved;
  ASSERT_EQ(saved.named_parameters().size(), 3u);
  saveSafetensors(path_, saved);
  const SafetensorsFile file(path_);
  EXPECT_EQ(file.entries().size(), 2u);
  EXPECT_THAT(file.metadata(),
              ElementsAre(Pair("encoder.weight", "decoder.weight"), Pair("format", "pt")));
  Tied loaded;
  loadSafetensors(path_, loaded);
  expectEqual(stateOf(loaded), stateOf(saved));
}

TEST_F(SafetensorsModel, ReadsATiedTensorUnderAnyOfItsNames) {
  Tied saved;
  Tensors tensors = stateOf(saved);
  Tied loaded;
  saveSafetensors(path_, tensors);  // both names
  expectError(ErrorCode::kInvalidArgument, "1 unexpected tensor: \"encoder.weight\"",
              [&] { loadSafetensors(path_, loaded); });
  tensors.erase("decoder.weight");
  saveSafetensors(path_, tensors);
  loadSafetensors(path_, loaded);
  expectEqual(stateOf(loaded), stateOf(saved));
  tensors.erase("encoder.weight");
  saveSafetensors(path_, tensors);
  expectError(ErrorCode::kInvalidArgument, "1 missing tensor: \"decoder.weight\"",
              [&] { loadSafetensors(path_, loaded); });
}

TEST_F(SafetensorsModel, NamesATensorThatCannotBeSaved) {
  saveSafetensors(path_, {{"w", torch::ones({2})}});
  const std::string before = test::contentOf(path_);
  expectInvalidArgument(
      [&] {
        saveSafetensors(path_, {{"sparse", torch::eye(2).to_sparse()}});
      },
      "saveSafetensors \"sparse\": got SparseCPUFloatType; expected a dense tensor in memory, of a "
      "type of safetensors");
  expectInvalidArgument(
      [&] {
        saveSafetensors(path_, {{"c", torch::ones({2}, torch::kComplexDouble)}});
      },
      "saveSafetensors \"c\": got CPUComplexDoubleType; expected a dense tensor in memory, of a "
      "type "
      "of safetensors");
  expectInvalidArgument(
      [&] {
        saveSafetensors(path_, {{"meta", torch::empty({2}, torch::kMeta)}});
      },
      "saveSafetensors \"meta\": got MetaFloatType; expected a dense tensor in memory, of a type "
      "of "
      "safetensors");
  expectError(ErrorCode::kInvalidArgument, "saveSafetensors \"none\": got an undefined tensor",
              [&] {
                saveSafetensors(path_, {{"none", torch::Tensor()}});
              });
  EXPECT_EQ(test::contentOf(path_), before);
}

TEST_F(SafetensorsModel, NamesATensorWhoseTypeLibTorchLacks) {
  writeSafetensors(path_, {{"w", SafetensorsDType::kF6E2M3, {4}}},
                   [](std::size_t) { return "abc"; });
  expectError(ErrorCode::kInvalidArgument,
              "loadSafetensors " + path_ +
                  ": \"w\": got F6_E2M3 [4]; expected a type that LibTorch " TORCH_VERSION " has",
              [this] { loadSafetensors(path_); });
}

TEST_F(SafetensorsModel, ChangesNothingIfTheFileIsDamagedOrMissing) {
  Net model;
  const Tensors before = stateOf(*model);
  expectError(ErrorCode::kIoError, path_, [&] { loadSafetensors(path_, *model); });
  saveSafetensors(path_, *Net());
  std::filesystem::resize_file(path_, std::filesystem::file_size(path_) - 1);
  expectError(ErrorCode::kDataLoss, "the file is truncated",
              [&] { loadSafetensors(path_, *model); });
  expectEqual(stateOf(*model), before);
}

}  // namespace
}  // namespace steptape
