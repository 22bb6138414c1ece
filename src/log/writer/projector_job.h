// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "steptape/base/status.h"

#include "log/writer/capture.h"
#include "log/writer/projector_file.h"
#include "values/kinds/embedding/embedding_config.h"
#include "values/kinds/embedding/embedding_tsv.h"
#include "values/kinds/image/image.h"

namespace steptape::detail::log {

/// The captured arguments of one addEmbedding().
struct CapturedEmbedding {
  std::string name;       ///< The name in the projector.
  std::string directory;  ///< Within the run's directory.
  TensorView matrix;      ///< Owns its elements, which may still be in flight.
  std::optional<values::MetadataTsv> metadata;
  Captured<values::Pixels> sprite;  ///< Null: no sprite.
  std::int64_t spriteCell = 0;
};

/// Writes an embedding's files, piece by piece, and then adds them to the run's
/// projector_config.pbtxt.
///
/// At most one piece of the matrix's text is in memory, however large the matrix is.
///
/// @threads Not thread-safe: only for the backend.
class ProjectorJob {
 public:
  /// @param runDirectory Directory of projector_config.pbtxt.
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
  std::optional<values::MatrixTsv> matrix_;
  std::optional<ProjectorFile> file_;  // the file that is being written
  std::string piece_;
};

}  // namespace steptape::detail::log
