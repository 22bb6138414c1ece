// SPDX-License-Identifier: Apache-2.0
#include "steptape/log/summary_writer.h"

#include "log/writer/run_client.h"
#include "values/kinds/graph/onnx_graph.h"

namespace steptape {

void SummaryWriter::addOnnxGraph(const std::string& path, const GraphOptions& options) {
  if (client_->isActive()) {
    addGraph(detail::values::onnxGraph(detail::events::readOnnxModel(path)), options);
  }
}

}  // namespace steptape
