// SPDX-License-Identifier: Apache-2.0
#include <memory>
#include <string>
#include <utility>

#include "steptape/summary/embedding.h"
#include "steptape/writer/summary_writer.h"

#include "summary/embedding_config.h"
#include "summary/sprite.h"
#include "writer/capture.h"
#include "writer/projector_job.h"
#include "writer/writer_core.h"

namespace steptape {
namespace {

/// About what the cells take.
std::size_t bytesOf(const std::vector<std::vector<std::string>>& rows) {
  std::size_t bytes = 0;
  for (const auto& row : rows) {
    for (const std::string& cell : row) {
      bytes += sizeof(std::string) + cell.size();
    }
  }
  return bytes;
}

}  // namespace

void SummaryWriter::addEmbedding(const TensorView& matrix, const EmbeddingOptions& options) {
  const std::string tag = core_->validTag(options.tag);
  if (!core_->isActive()) {
    return;
  }
  checkEmbedding(matrix, options);
  // A view that is in flight owns its elements already.
  CapturedEmbedding embedding{detail::embeddingName(tag, options.step),
                              detail::embeddingDirectory(tag, options.step),
                              matrix.isInFlight() ? matrix : matrix.copy(),
                              {},
                              {},
                              0};
  std::size_t bytes = matrix.nbytes();
  if (!options.metadata.empty()) {
    embedding.metadata.emplace(options.metadataHeader, options.metadata);
    bytes += bytesOf(options.metadata);
  }
  if (options.labelImages) {
    const detail::SpriteGrid grid = detail::spriteGrid(*options.labelImages);
    embedding.spriteCell = grid.cell;
    embedding.sprite = capture({*options.labelImages},
                               [](const auto& views) { return spritePixels(views.front()); });
    bytes += static_cast<std::size_t>(grid.side() * grid.side() * options.labelImages->shape()[1]);
  }
  auto job = std::make_shared<ProjectorJob>(core_->directory(), std::move(embedding));
  core_->addFiles(bytes, [job](bool* again) { return job->writePiece(again); });
}

}  // namespace steptape
