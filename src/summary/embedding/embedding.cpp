// SPDX-License-Identifier: Apache-2.0
#include "summary/embedding/embedding.h"

#include <set>
#include <string>

#include "base/utf8.h"
#include "summary/embedding/embedding_config.h"
#include "summary/embedding/sprite.h"
#include "summary/reject.h"
#include "summary/tag.h"

namespace steptape {
namespace {

void checkMatrix(const TensorView& matrix) {
  if (matrix.rank() != 2 || matrix.numel() == 0) {
    detail::reject("embedding", "the matrix has the shape " + matrix.shapeString() +
                                    ", wanted (points, dimensions), neither of them 0");
  }
}

void checkRows(const EmbeddingOptions& options, std::int64_t points) {
  const auto& rows = options.metadata;
  if (static_cast<std::int64_t>(rows.size()) != points) {
    detail::reject("embedding", "metadata has " + std::to_string(rows.size()) + " rows, wanted " +
                                    std::to_string(points) + ", one per row of the matrix");
  }
  const std::size_t columns = rows.front().size();
  if (columns == 0) {
    detail::reject("embedding", "metadata has no cells in its first row, wanted at least one");
  }
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (rows[i].size() != columns) {
      detail::reject("embedding", "metadata has " + std::to_string(rows[i].size()) +
                                      " cells in row " + std::to_string(i) + ", wanted " +
                                      std::to_string(columns) + " as in the first one");
    }
  }
}

void checkHeader(const std::vector<std::string>& header, std::size_t columns) {
  if (header.empty() && columns == 1) {
    return;
  }
  if (header.size() != columns) {
    detail::reject("embedding", "metadataHeader has " + std::to_string(header.size()) +
                                    " titles, wanted " + std::to_string(columns) +
                                    ", one per column of metadata");
  }
  std::set<std::string> titles;
  for (const std::string& title : header) {
    if (title.find_first_not_of(" \t\r\n") == std::string::npos) {
      detail::reject("embedding",
                     "metadataHeader has a blank title, which the projector cannot offer");
    }
    if (!titles.insert(title).second) {
      detail::reject("embedding", "metadataHeader has the title \"" + title +
                                      "\" twice; the projector knows columns by their titles");
    }
  }
}

void checkMetadata(const EmbeddingOptions& options, std::int64_t points) {
  if (!options.metadata.empty()) {
    checkRows(options, points);
    checkHeader(options.metadataHeader, options.metadata.front().size());
  } else if (!options.metadataHeader.empty()) {
    detail::reject("embedding", "metadataHeader has " +
                                    std::to_string(options.metadataHeader.size()) +
                                    " titles, but there is no metadata");
  }
}

void checkImages(const TensorView& images, std::int64_t points) {
  const detail::SpriteGrid grid = detail::spriteGrid(images);
  if (grid.images != points) {
    detail::reject("embedding", "labelImages are " + std::to_string(grid.images) +
                                    " images, wanted " + std::to_string(points) +
                                    ", one per row of the matrix");
  }
}

}  // namespace

void checkEmbeddingTag(std::string_view tag, std::int64_t step) {
  checkTag(tag);
  constexpr std::size_t kMaxName = 255;  // bytes; of nearly every file system
  const std::string directory = detail::embeddingDirectory(replaceInvalidUtf8(tag), step);
  const std::size_t bytes = directory.size() - directory.find('/') - 1;
  if (bytes > kMaxName) {
    detail::reject("embedding", "the tag makes a directory's name of " + std::to_string(bytes) +
                                    " bytes, wanted 255 at most");
  }
}

void checkEmbedding(const TensorView& matrix, const EmbeddingOptions& options) {
  checkMatrix(matrix);
  checkMetadata(options, matrix.shape()[0]);
  if (options.labelImages) {
    checkImages(*options.labelImages, matrix.shape()[0]);
  }
}

}  // namespace steptape
