// SPDX-License-Identifier: Apache-2.0
#include "steptape/writer/summary_writer.h"

#include "summary/graph/onnx_graph.h"
#include "writer/writer_core.h"

namespace steptape {

void SummaryWriter::addOnnxGraph(const std::string& path, const GraphOptions& options) {
  if (core_->isActive()) {
    addGraph(onnxGraph(readOnnxModel(path)), options);
  }
}

}  // namespace steptape
