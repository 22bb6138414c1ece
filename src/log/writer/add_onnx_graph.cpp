// SPDX-License-Identifier: Apache-2.0
#include "steptape/log/summary_writer.h"

#include "log/writer/writer_core.h"
#include "values/kinds/graph/onnx_graph.h"

namespace steptape {

void SummaryWriter::addOnnxGraph(const std::string& path, const GraphOptions& options) {
  if (core_->isActive()) {
    addGraph(detail::values::onnxGraph(detail::events::readOnnxModel(path)), options);
  }
}

}  // namespace steptape
