// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Component `images`: reads folders of JPEG and PNG files for training.
///
///     const steptape::ImageFolder folder("imagenet/train");
///     auto source = std::make_shared<steptape::ImageFolderSource>(
///         folder, steptape::ImageTransforms{steptape::RandomResizedCrop{224},
///                                           steptape::RandomHorizontalFlip{}});
///
/// PrefetchLoader of the component `trainer` makes batches of it. The component itself needs no
/// LibTorch.

#include "steptape/base/status.h"         // IWYU pragma: export
#include "steptape/train/image_folder.h"  // IWYU pragma: export
#include "steptape/train/samples.h"       // IWYU pragma: export
