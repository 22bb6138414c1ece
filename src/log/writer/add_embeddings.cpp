// SPDX-License-Identifier: Apache-2.0
#include <memory>
#include <string>
#include <utility>

#include "steptape/log/summary_writer.h"

#include "log/writer/call_site.h"
#include "log/writer/capture.h"
#include "log/writer/captured_pixels.h"
#include "log/writer/captured_value.h"
#include "log/writer/projector_job.h"
#include "log/writer/run_client.h"
#include "values/kinds/embedding/embedding.h"
#include "values/kinds/embedding/embedding_config.h"
#include "values/kinds/embedding/sprite.h"

namespace steptape {
namespace {

/// Returns the approximate memory of the cells.
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

void SummaryWriter::addEmbedding(std::string_view tag, const TensorView& matrix, std::int64_t step,
                                 const EmbeddingOptions& options) {
  const std::string name = client_->validTag(tag);
  if (!client_->isActive()) {
    return;
  }
  const detail::log::CallSite site("addEmbedding", name);
  site.run([&] {
    detail::values::checkEmbeddingTag(name, step);
    detail::values::checkEmbedding(matrix, options);
  });
  // A view whose elements are in flight already owns them.
  detail::log::CapturedEmbedding embedding{detail::values::embeddingName(name, step),
                                           detail::values::embeddingDirectory(name, step),
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
    const detail::values::SpriteGrid grid = detail::values::spriteGrid(*options.labelImages);
    embedding.spriteCell = grid.cell;
    embedding.sprite = detail::log::capture(
        {*options.labelImages}, site,
        [reporter = &client_->context().reporter(), name](const auto& views) {
          detail::values::Pixels pixels = detail::values::spritePixels(views.front());
          detail::log::reportUnshown("labelImages of " + detail::base::quoted(name), pixels.unshown,
                                     reporter);
          return pixels;
        });
    bytes += static_cast<std::size_t>(grid.side() * grid.side() * options.labelImages->shape()[1]);
  }
  auto job = std::make_shared<detail::log::ProjectorJob>(client_->context().directory(),
                                                         std::move(embedding));
  detail::log::CapturedValue files;
  files.bytes = bytes;
  // Writes one piece at a time, so that the backend can handle scalars in between.
  files.work = [job](const detail::log::CapturedValue::Place& place) {
    return job->writePiece(place.again);
  };
  client_->handOver(std::move(files));
}

}  // namespace steptape
