// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "steptape/base/status.h"

#include "summary/embedding/embedding_config.h"
#include "summary/embedding/embedding_tsv.h"
#include "summary/image/image.h"
#include "writer/capture.h"
#include "writer/projector_file.h"

namespace steptape::detail {

/// What one call of addEmbedding() has captured.
struct CapturedEmbedding {
  std::string name;       ///< The name in the projector.
  std::string directory;  ///< Within the run's.
  TensorView matrix;      ///< Owns its elements, which may still be in flight.
  std::optional<MetadataTsv> metadata;
  Captured<Pixels> sprite;  ///< Null: none.
  std::int64_t spriteCell = 0;
};

/// Writes an embedding's files, piece by piece, and names them in the run's projector_config.pbtxt
/// when all of them are there.
///
/// However large the matrix is, no more of its text than one piece is in memory.
///
/// @threads Not thread-safe: the backend only.
class ProjectorJob {
 public:
  /// @param runDirectory Where projector_config.pbtxt is.
  ProjectorJob(std::string runDirectory, CapturedEmbedding embedding);

  /// Writes the next piece: part of the text, the sprite, or the config.
  ///
  /// @param again Set to whether there are more pieces.
  /// @return kIoError with the operating system's error message; kDataLoss if an existing
  ///         projector_config.pbtxt cannot be parsed. Neither leaves a partial file. REQUIRES: not
  ///         called again after a failure.
  Status writePiece(bool* again);

 private:
  enum class Stage { kMatrix, kMetadata, kSprite, kConfig };

  Status begin();
  template <typename Text>
  Status writeText(Text* text, const char* name, Stage nextStage);
  Status writeMetadata();
  Status writeSprite();
  Status writeConfig() const;
  std::string pathOf(const char* name) const;

  const std::string runDirectory_;
  CapturedEmbedding embedding_;
  Stage stage_ = Stage::kMatrix;
  std::optional<MatrixTsv> matrix_;
  std::optional<ProjectorFile> file_;  // the one being written
  std::string piece_;
};

}  // namespace steptape::detail
