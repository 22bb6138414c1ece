// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <string>

#include "steptape/train/image_folder.h"

#include "train/images/image_decoder.h"

namespace steptape::detail::train {

/// What to make of an image, from its size.
using PlanOf = std::function<ImagePlan(Size image)>;

/// Uses the pixels that the first step of the plan needs.
using UsePart = std::function<void(const DecodedPart& part, const ImagePlan& plan)>;

/// Reads an image file and decodes what its plan needs. @throws as decodeImage().
void readImage(const std::string& path, const DecodeOptions& options, const PlanOf& planOf,
               const UsePart& use);

}  // namespace steptape::detail::train
