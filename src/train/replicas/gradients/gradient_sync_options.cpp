// SPDX-License-Identifier: Apache-2.0
#include "train/replicas/gradients/gradient_sync_options.h"

#include <cstdint>
#include <string>
#include <utility>

#include "steptape/base/status.h"

namespace steptape::detail::train {
namespace {

[[noreturn]] void throwOutOfRange(const char* option, const std::string& got, const char* wanted) {
  throw Error(ErrorCode::kInvalidArgument,
              std::string("GradientSync: got ") + option + " = " + got + "; expected " + wanted);
}

}  // namespace

void checkOptions(const GradientSyncOptions& options) {
  for (const auto& [name, value] : {std::pair{"bucketBytes", options.bucketBytes},
                                    std::pair{"firstBucketBytes", options.firstBucketBytes},
                                    std::pair{"accumulationSteps", options.accumulationSteps},
                                    std::pair{"powerSgd.rank", options.powerSgd.rank}}) {
    if (value <= 0) {
      throwOutOfRange(name, std::to_string(value), "a positive number");
    }
  }
  if (!(options.predivideFactor > 0)) {
    throwOutOfRange("predivideFactor", std::to_string(options.predivideFactor),
                    "a positive number");
  }
  if (!(options.maxNorm >= 0)) {
    throwOutOfRange("maxNorm", std::to_string(options.maxNorm), "a positive number, or 0 for none");
  }
}

TensorSchema schemaOf(const GradientSyncOptions& options) {
  TensorSchema schema;
  const auto add = [&schema](const char* name, auto value) {
    schema.add(std::string(name) + " = " + std::to_string(value));
  };
  add("bucketBytes", options.bucketBytes);
  add("firstBucketBytes", options.firstBucketBytes);
  add("compression", static_cast<int>(options.compression));
  add("powerSgd.rank", options.powerSgd.rank);
  add("powerSgd.startAfterSteps", options.powerSgd.startAfterSteps);
  add("powerSgd.seed", options.powerSgd.seed);
  add("reduction", static_cast<int>(options.reduction));
  add("sparse", static_cast<int>(options.sparse));
  add("predivideFactor", options.predivideFactor);
  add("accumulationSteps", options.accumulationSteps);
  add("maxNorm", options.maxNorm);
  add("useSharedMemory", static_cast<int>(options.useSharedMemory));
  add("overlap", static_cast<int>(options.overlap));
  add("gradientAsBucketView", static_cast<int>(options.gradientAsBucketView));
  schema.add("ncclLibrary = " + options.ncclLibrary);
  return schema;
}

}  // namespace steptape::detail::train
