// SPDX-License-Identifier: Apache-2.0
#pragma once

// Component `torch`: every addX() of <steptape/steptape.h> also takes an at::Tensor, addGraph()
// takes models, and OpProfiler measures the operators of LibTorch.
//
//   writer.addScalar("loss", loss, step);
//   writer.addHistogram("conv1/weight", model->conv1->weight, step);
//   writer.addGraph(model, images);
//   steptape::OpProfiler profiler;
//
// It includes only the tensors of LibTorch, because <torch/nn/module.h> takes ten seconds to
// compile. Include the headers of your model, such as <torch/torch.h>, yourself.
#include "steptape/libtorch/module_graph.h"   // IWYU pragma: export
#include "steptape/libtorch/op_profiler.h"    // IWYU pragma: export
#include "steptape/libtorch/tensor_traits.h"  // IWYU pragma: export
#include "steptape/steptape.h"                // IWYU pragma: export
