// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "resnet.h"

/// Reads a ResNet of any depth with the names of torchvision, such as ResNet-18 or ResNet-50. The
/// names and shapes in the file tell its size.
///
/// Files of old versions lack `num_batches_tracked`, which only training uses.
///
/// @return the network in evaluation mode.
/// @throws steptape::Error if the file cannot be read or holds another network.
example::ResNet readResNet(const std::string& path);
