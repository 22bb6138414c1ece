// SPDX-License-Identifier: Apache-2.0
#pragma once

// Component `torch`: every addX() of <steptape/steptape.h> takes an at::Tensor as well, addGraph()
// takes models, and OpProfiler times LibTorch's operators.
//
//   writer.addScalar("loss", loss, step);
//   writer.addHistogram("conv1/weight", model->conv1->weight, step);
//   writer.addGraph(model, images);
//   steptape::OpProfiler profiler;
//
// It includes only the tensor headers of LibTorch, since `<torch/nn/module.h>` takes ten seconds to
// compile: include the headers of your model, such as `<torch/torch.h>`, yourself.
#include "steptape/steptape.h"             // IWYU pragma: export
#include "steptape/torch/graph.h"          // IWYU pragma: export
#include "steptape/torch/op_profiler.h"    // IWYU pragma: export
#include "steptape/torch/tensor_traits.h"  // IWYU pragma: export
