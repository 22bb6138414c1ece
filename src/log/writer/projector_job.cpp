// SPDX-License-Identifier: Apache-2.0
#include "log/writer/projector_job.h"

#include <cerrno>
#include <system_error>
#include <utility>

#include "log/writer/file_system.h"

namespace steptape::detail::log {
namespace {

constexpr std::size_t kPiece = std::size_t{64} << 10;
constexpr const char* kTensors = "tensors.tsv";
constexpr const char* kMetadata = "metadata.tsv";
constexpr const char* kSprite = "sprite.png";

Status systemError(const std::string& what, int error) {
  return {ErrorCode::kIoError, what + ": " + std::generic_category().message(error)};
}

}  // namespace

ProjectorJob::ProjectorJob(std::string runDirectory, CapturedEmbedding embedding)
    : runDirectory_(std::move(runDirectory)), embedding_(std::move(embedding)) {}

std::string ProjectorJob::pathOf(const char* name) const {
  return runDirectory_ + "/" + embedding_.directory + "/" + name;
}

Status ProjectorJob::writePiece(bool* again) {
  *again = true;
  switch (stage_) {
    case Stage::kMatrix: {
      Status begun = matrix_ ? Status() : begin();
      return begun.ok() ? writeText(&*matrix_, kTensors, Stage::kMetadata) : begun;
    }
    case Stage::kMetadata:
      return writeMetadata();
    case Stage::kSprite:
      return writeSprite();
    case Stage::kConfig:
      break;
  }
  *again = false;
  return writeConfig();
}

Status ProjectorJob::begin() {
  embedding_.matrix.waitForElements();
  matrix_.emplace(embedding_.matrix);
  // Room for the element or row that exceeds the piece.
  piece_.reserve(kPiece + (kPiece >> 4));
  const std::string directory = runDirectory_ + "/" + embedding_.directory;
  const int error = FileSystem::current().createDirectories(directory);
  return error == 0 ? Status() : systemError("cannot create the directory " + directory, error);
}

template <typename Text>
Status ProjectorJob::writeText(Text* text, const char* name, Stage nextStage) {
  if (!file_) {
    file_.emplace(pathOf(name));
  }
  piece_.clear();
  const bool isMore = text->next(kPiece - 64, &piece_);
  Status status = file_->append(piece_);
  if (!status.ok() || isMore) {
    return status;
  }
  status = file_->commit();
  file_.reset();
  stage_ = nextStage;
  return status;
}

Status ProjectorJob::writeMetadata() {
  if (!embedding_.metadata) {
    stage_ = Stage::kSprite;
    return {};
  }
  return writeText(&*embedding_.metadata, kMetadata, Stage::kSprite);
}

Status ProjectorJob::writeSprite() {
  stage_ = Stage::kConfig;
  if (!embedding_.sprite) {
    return {};
  }
  ProjectorFile file(pathOf(kSprite));
  Status status = file.append(values::encodePng(*embedding_.sprite()));
  return status.ok() ? file.commit() : status;
}

Status ProjectorJob::writeConfig() const {
  values::EmbeddingEntry entry;
  entry.tensorName = embedding_.name;
  entry.tensorPath = embedding_.directory + "/" + kTensors;
  if (embedding_.metadata) {
    entry.metadataPath = embedding_.directory + "/" + kMetadata;
  }
  if (embedding_.sprite) {
    entry.spritePath = embedding_.directory + "/" + kSprite;
    entry.spriteCell = embedding_.spriteCell;
  }
  // Read again each time, because other processes may have written the file.
  const std::string path = runDirectory_ + "/projector_config.pbtxt";
  std::string before;
  const int error = FileSystem::current().read(path, &before);
  if (error != 0 && error != ENOENT) {
    return systemError("cannot read " + path, error);
  }
  const auto after = values::withEmbedding(before, entry);
  if (!after) {
    return {ErrorCode::kDataLoss,
            path +
                ": got another format; expected a projector config in text format. "
                "The file is unchanged, and the embedding \"" +
                embedding_.name + "\" is in " + embedding_.directory};
  }
  ProjectorFile file(path);
  Status status = file.append(*after);
  return status.ok() ? file.commit() : status;
}

}  // namespace steptape::detail::log
