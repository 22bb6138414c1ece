// SPDX-License-Identifier: Apache-2.0
#include <steptape/torch.h>

#include "gallery.h"
#include "resnet.h"

void logModuleGraph(steptape::SummaryWriter& writer) {
  ResNet model;
  model->eval();
  writer.addGraph(model, torch::ones({4, 3, 32, 32}));
}
