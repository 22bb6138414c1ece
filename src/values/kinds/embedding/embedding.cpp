// SPDX-License-Identifier: Apache-2.0
#include "values/kinds/embedding/embedding.h"

#include <set>
#include <string>

#include "base/utf8.h"
#include "values/kinds/embedding/embedding_config.h"
#include "values/kinds/embedding/sprite.h"
#include "values/kinds/reject.h"
#include "values/kinds/tag.h"

namespace steptape::detail::values {
namespace {

void checkMatrix(const TensorView& matrix) {
  if (matrix.rank() != 2 || matrix.numel() == 0) {
    base::reject("a matrix of shape " + matrix.shapeString(),
                 "(points, dimensions), neither of them 0");
  }
}

void checkRows(const EmbeddingOptions& options, std::int64_t points) {
  const auto& rows = options.metadata;
  if (static_cast<std::int64_t>(rows.size()) != points) {
    base::reject(std::to_string(rows.size()) + " rows of metadata",
                 std::to_string(points) + ", one per row of the matrix");
  }
  const std::size_t columns = rows.front().size();
  if (columns == 0) {
    base::reject("no cells in row 0 of metadata", "at least one");
  }
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (rows[i].size() != columns) {
      base::reject(
          std::to_string(rows[i].size()) + " cells in row " + std::to_string(i) + " of metadata",
          std::to_string(columns) + " as in row 0");
    }
  }
}

void checkHeader(const std::vector<std::string>& header, std::size_t columns) {
  if (header.empty() && columns == 1) {
    return;
  }
  if (header.size() != columns) {
    base::reject(std::to_string(header.size()) + " titles in metadataHeader",
                 std::to_string(columns) + ", one per column of metadata");
  }
  std::set<std::string> titles;
  for (const std::string& title : header) {
    if (title.find_first_not_of(" \t\r\n") == std::string::npos) {
      base::reject("a blank title in metadataHeader", "titles that the projector can list");
    }
    if (!titles.insert(title).second) {
      base::reject("the title " + base::quoted(title) + " twice in metadataHeader",
                   "distinct titles, by which the projector finds columns");
    }
  }
}

void checkMetadata(const EmbeddingOptions& options, std::int64_t points) {
  if (!options.metadata.empty()) {
    checkRows(options, points);
    checkHeader(options.metadataHeader, options.metadata.front().size());
  } else if (!options.metadataHeader.empty()) {
    base::reject(
        std::to_string(options.metadataHeader.size()) + " titles in metadataHeader and no metadata",
        "a row of metadata per point");
  }
}

void checkImages(const TensorView& images, std::int64_t points) {
  const SpriteGrid grid = spriteGrid(images);
  if (grid.images != points) {
    base::reject(std::to_string(grid.images) + " images in labelImages",
                 std::to_string(points) + ", one per row of the matrix");
  }
}

}  // namespace

void checkEmbeddingTag(std::string_view tag, std::int64_t step) {
  checkTag(tag);
  constexpr std::size_t kMaxName = 255;  // bytes; the limit of nearly every file system
  const std::string directory = embeddingDirectory(base::replaceInvalidUtf8(tag), step);
  const std::size_t bytes = directory.size() - directory.find('/') - 1;
  if (bytes > kMaxName) {
    base::reject("a tag that makes a directory name of " + std::to_string(bytes) + " bytes",
                 "at most 255");
  }
}

void checkEmbedding(const TensorView& matrix, const EmbeddingOptions& options) {
  checkMatrix(matrix);
  checkMetadata(options, matrix.shape()[0]);
  if (options.labelImages) {
    checkImages(*options.labelImages, matrix.shape()[0]);
  }
}

}  // namespace steptape::detail::values
