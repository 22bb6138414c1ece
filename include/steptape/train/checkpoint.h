// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "steptape/base/export.h"
#include "steptape/ranks/communicator.h"
#include "steptape/train/safetensors.h"

#include <ATen/core/Tensor.h>

namespace torch::nn {
class Module;
}
namespace torch::optim {
class Optimizer;
}

namespace steptape {

class LearningRateSchedule;

/// The position of a training run.
struct TrainingProgress {
  std::int64_t epoch = 0;        ///< The epoch to continue with, counted from 0.
  std::int64_t stepInEpoch = 0;  ///< Steps done in that epoch.
  std::int64_t step = 0;         ///< Steps done since the start of the run.
  std::uint64_t seed = 0;        ///< BatchLoader::seed() of the training data.
  int ranks = 1;                 ///< Number of ranks, which a scaled learning rate depends on.

  /// Samples of that epoch that all ranks together have used, for BatchLoader::resumeEpoch(); -1:
  /// unknown.
  std::int64_t samplesDone = -1;

  /// The last logged step: a resumed run passes `writerStep + 1` as WriterOptions::purgeStep, and
  /// one that has no checkpoint yet passes 0. -1 when saving: use `step`. Before you save a loaded
  /// object again, set it to the current value or to -1; a smaller value would hide points.
  std::int64_t writerStep = -1;

  /// Numbers of the caller by name, such as the best accuracy so far.
  std::map<std::string, double> values;

  /// Tensors of the caller by name, such as averages of the parameters. The root's are saved;
  /// loadCheckpoint() and CheckpointStore return them on every rank, in main memory.
  /// readCheckpointProgress() and CheckpointStore::findNewest() leave them out.
  std::map<std::string, at::Tensor> tensors;
};

/// Writes a checkpoint: the module, the optimizer, `progress`, the schedule's base rates, and every
/// rank's random number generators, including those of the devices that hold the module.
///
/// Only the root touches the file. It writes to a temporary name, syncs the file to disk, and
/// renames it: if the job dies at any time, `path` holds either the previous checkpoint or this
/// one, complete. `progress.ranks` is set from `world`. Missing directories are created.
///
/// Collective: every rank calls it, and returns when the file is on disk.
///
/// @param path      The file.
/// @param module    The model.
/// @param optimizer Its optimizer.
/// @param progress  The position of the run.
/// @param world     All ranks of the job.
/// @param schedule  May be null.
/// @throws Error(kIoError) on every rank, with the operating system's error message, if the file
///         cannot be written; Error(kInvalidArgument) on every rank if the module or the optimizer
///         cannot be saved, or a name in `progress` is empty or has a line break.
/// @threads Not thread-safe: only the communicator's thread, one at a time.
/// @cost   The file's size on disk, and an fsync. The file bypasses the page cache, so that it does
///         not displace files that training reads.
/// @source The file is an archive of torch::serialize with the entries `model`, `optimizer`,
///         `progress`, `schedule`, `tensors` and `random`, followed by a line with the CRC-32C of
///         the archive, because LibTorch does not check the checksums of its own format.
STEPTAPE_EXPORT void saveCheckpoint(const std::string& path, const torch::nn::Module& module,
                                    const torch::optim::Optimizer& optimizer,
                                    TrainingProgress progress, Communicator& world,
                                    const LearningRateSchedule* schedule = nullptr);

/// Restores on every rank what saveCheckpoint() wrote. Only the root reads the file.
///
/// Parameters and buffers keep their memory and device. Every rank gets its own random number
/// generators back, so dropout continues as if the run had not stopped. Ranks that the saved job
/// did not have get a seed made of the run's seed, their rank and the step. A schedule gets its
/// base rates back, if the checkpoint has any; its options are the caller's.
///
/// Collective. Nothing is changed if the file is missing, damaged or does not match.
///
/// @param path      The file.
/// @param module    A model of the saved structure.
/// @param optimizer Its optimizer.
/// @param world     All ranks of the job.
/// @param schedule  May be null.
/// @return the position of the saved run.
/// @throws Error(kIoError) on every rank if the file is missing or cannot be read; Error(kDataLoss)
///         if it is damaged; Error(kInvalidArgument) if it holds another model, optimizer or number
///         of base rates, naming the first difference.
/// @threads Not thread-safe: only the communicator's thread, one at a time.
STEPTAPE_EXPORT TrainingProgress loadCheckpoint(const std::string& path, torch::nn::Module& module,
                                                torch::optim::Optimizer& optimizer,
                                                Communicator& world,
                                                LearningRateSchedule* schedule = nullptr);

/// Reads the position of the run from the checkpoint at `path`, without restoring it.
///
/// Collective.
///
/// @throws Error as for loadCheckpoint().
/// @threads Not thread-safe: only the communicator's thread, one at a time.
STEPTAPE_EXPORT TrainingProgress readCheckpointProgress(const std::string& path,
                                                        Communicator& world);

/// Returns the name of a directory's newest checkpoint, `<directory>/checkpoint.pt`: a file if
/// there is only one checkpoint, a link to the newest one if a CheckpointStore keeps several.
STEPTAPE_EXPORT std::string checkpointPath(const std::string& directory);

/// Returns whether the root sees a file at `path`; the same on every rank. Collective.
STEPTAPE_EXPORT bool checkpointExists(const std::string& path, Communicator& world);

/// Options of CheckpointStore. Must be equal on all ranks.
struct CheckpointStoreOptions {
  /// Number of checkpoints to keep besides the best one; at least 1. With 2, a damaged checkpoint
  /// costs the steps since the previous one, not the run.
  std::int64_t keep = 2;
};

/// A checkpoint that a CheckpointStore found.
struct FoundCheckpoint {
  std::string path;
  TrainingProgress progress;
  /// Why newer checkpoints were skipped, one sentence each; usually empty.
  std::vector<std::string> passedOver;
};

/// Selects the names of a checkpoint in a CheckpointStore.
enum class CheckpointRole {
  kNewest,         ///< `checkpoint_<step>.pt`.
  kBest,           ///< `checkpoint_best.pt`.
  kNewestAndBest,  ///< Both names for one file, which is written once.
};

/// How long a checkpoint took.
struct CheckpointTimes {
  std::int64_t step = 0;
  /// Seconds for which it held up this rank's thread: in CheckpointStore::saveAsync(), in
  /// CheckpointCopy::wait() and in CheckpointStore::wait(), called or implied.
  double stallSeconds = 0;
  /// Seconds in which the root's background thread copied and wrote it; 0 on the other ranks.
  double writeSeconds = 0;
};

/// The copy of model and optimizer that CheckpointStore::saveAsync() has begun.
///
/// @threads Not thread-safe: only the thread that changes the model.
class STEPTAPE_EXPORT CheckpointCopy {
 public:
  /// A copy that is complete.
  CheckpointCopy() = default;
  CheckpointCopy(CheckpointCopy&& other) noexcept;
  CheckpointCopy& operator=(CheckpointCopy&& other) noexcept;
  /// As wait().
  ~CheckpointCopy();

  /// Waits until parameters and optimizer state may change, and helps to copy. Not collective: only
  /// the root copies. The second call does nothing.
  void wait();

  /// Returns the path that the checkpoint will have.
  const std::string& path() const { return path_; }

 private:
  friend class CheckpointStore;
  struct Pending;
  CheckpointCopy(std::string path, std::shared_ptr<Pending> pending);

  std::string path_;
  std::shared_ptr<Pending> pending_;  ///< Null on other ranks than the root, and after wait().
};

/// Keeps the checkpoints of a run in a directory of their own:
///
///     checkpoint_1200.pt   after step 1200
///     checkpoint_1400.pt   after step 1400
///     checkpoint.pt        a symbolic link to the newest, see checkpointPath()
///     checkpoint_best.pt   the best so far, as the caller decides
///
///     steptape::CheckpointStore store("runs/exp/checkpoints", world);
///     if (const auto found = store.loadNewest(*model, optimizer)) { progress = found->progress; }
///     ...
///     store.save(*model, optimizer, progress);
///
/// Each is a file of saveCheckpoint() and appears complete or not at all: if the job dies while it
/// writes one, the previous ones remain. Use one directory per run: if a run restarts from an
/// earlier step, or from scratch, its first checkpoint replaces those with later steps. While a job
/// lives that writes there, the checkpoints of another one are refused. Temporary files of jobs
/// that died are removed with the next checkpoint.
///
/// All calls except bestPath() are collectives in which only the root touches the disk. They throw
/// the same error on every rank. While saveAsync() writes, each of them first waits as wait() does.
///
/// @threads Not thread-safe: only the communicator's thread, one at a time.
class STEPTAPE_EXPORT CheckpointStore {
 public:
  /// @throws Error(kInvalidArgument) if `directory` is empty or `options.keep` is less than 1.
  CheckpointStore(std::string directory, std::shared_ptr<Communicator> world,
                  CheckpointStoreOptions options = {});
  CheckpointStore(CheckpointStore&& other) noexcept;
  /// Waits until the checkpoint of saveAsync() is on disk. If it cannot be written, the root prints
  /// the error to stderr. Not collective.
  ~CheckpointStore();

  /// Writes `checkpoint_<progress.step>.pt`, then removes checkpoints beyond
  /// CheckpointStoreOptions::keep.
  ///
  /// @param role Selects other names than that.
  /// @return its path; the first one if it has two names.
  /// @throws Error as for saveCheckpoint(); previous checkpoints then remain.
  ///         Error(kFailedPrecondition) with the process and job that already write there.
  std::string save(const torch::nn::Module& module, const torch::optim::Optimizer& optimizer,
                   TrainingProgress progress, const LearningRateSchedule* schedule = nullptr,
                   CheckpointRole role = CheckpointRole::kNewest);

  /// Replaces `checkpoint_best.pt`, as save() with CheckpointRole::kBest.
  ///
  /// @throws Error as for saveCheckpoint().
  void saveBest(const torch::nn::Module& module, const torch::optim::Optimizer& optimizer,
                TrainingProgress progress, const LearningRateSchedule* schedule = nullptr);

  /// Starts a checkpoint and returns: a thread of the root copies the tensors, then writes the same
  /// file as save(), and training continues meanwhile. The other ranks wait for no disk.
  ///
  ///     steptape::CheckpointCopy copy = store.saveAsync(*model, optimizer, progress);
  ///     model->forward(batch).sum().backward();  // while the thread copies
  ///     copy.wait();                             // before the parameters change
  ///     optimizer.step();
  ///
  /// The checkpoint holds the state at the call. If the result is discarded, its destructor waits
  /// for the copy, which takes a hundredth of the writing. Otherwise call CheckpointCopy::wait()
  /// before parameters or optimizer state change, and before a GradientSync is destroyed. The
  /// module's buffers, which a forward pass may change, are copied before this call returns. So are
  /// the optimizer's options, the schedule and the random numbers. A device copies its own tensors,
  /// in the order of its stream.
  ///
  /// One checkpoint is under way at a time: the call first waits for the one before it. It counts
  /// from the moment at which it is on disk. If the job dies earlier, loadNewest() finds the one
  /// before it. std::exit() waits for it, too.
  ///
  /// @throws Error as for saveCheckpoint(), about this checkpoint or the one before it.
  /// @cost   Between calls, one copy of model and optimizer in the root's memory, page-locked for
  ///         tensors of a GPU. The copies are reused.
  CheckpointCopy saveAsync(const torch::nn::Module& module,
                           const torch::optim::Optimizer& optimizer, TrainingProgress progress,
                           const LearningRateSchedule* schedule = nullptr,
                           CheckpointRole role = CheckpointRole::kNewest);

  /// Waits until the checkpoint of saveAsync() is on disk.
  ///
  /// @return how long it took; nothing if none is under way.
  /// @throws Error(kIoError) on every rank, with the operating system's error message, if it could
  ///         not be written; previous checkpoints then remain.
  std::optional<CheckpointTimes> wait();

  /// Restores the newest checkpoint, or the previous one if it is damaged or cannot be read.
  ///
  /// @return nothing if there is no checkpoint.
  /// @throws Error(kDataLoss) if there are checkpoints but all are unusable, with the reason for
  ///         each; Error(kInvalidArgument) as for loadCheckpoint(), since older checkpoints would
  ///         not match either.
  std::optional<FoundCheckpoint> loadNewest(torch::nn::Module& module,
                                            torch::optim::Optimizer& optimizer,
                                            LearningRateSchedule* schedule = nullptr);

  /// Returns what loadNewest() would restore, without restoring it: for the writer, which is made
  /// first.
  std::optional<FoundCheckpoint> findNewest();

  /// Restores the best checkpoint.
  ///
  /// @return nothing if there is none.
  /// @throws Error as for loadCheckpoint().
  std::optional<TrainingProgress> loadBest(torch::nn::Module& module,
                                           torch::optim::Optimizer& optimizer,
                                           LearningRateSchedule* schedule = nullptr);

  /// Returns `<directory>/checkpoint_best.pt`. Not collective.
  std::string bestPath() const;

  /// Returns the existing checkpoints by their names, newest first, without the best one.
  std::vector<std::string> paths();

 private:
  struct Background;
  struct Claim;

  std::string pathFor(CheckpointRole role, std::int64_t step) const;
  template <typename Use>
  std::optional<FoundCheckpoint> firstUsable(const Use& use);

  std::string directory_;
  std::shared_ptr<Communicator> world_;
  CheckpointStoreOptions options_;
  std::shared_ptr<Claim> claim_;            ///< That the root's process writes there.
  std::unique_ptr<Background> background_;  ///< From the first saveAsync() on.
};

// Models in safetensors files, which PyTorch reads and writes with its package `safetensors`. A
// tensor's name is that of state_dict() in Python: "layer1.0.conv1.weight".

/// Options of loadSafetensors().
struct LoadSafetensorsOptions {
  /// Whether the file and the module must have the same tensors. If false, the call loads those
  /// that match and returns the differences.
  bool strict = true;

  /// Whether a floating-point tensor is converted to the module's floating-point type, as PyTorch's
  /// load_state_dict() does. Values are rounded to the nearest. If false, such a tensor is a
  /// mismatch. Tensors of integers, booleans and complex numbers are never converted.
  bool convert = true;
};

/// How the tensors of a file and a module differ.
struct SafetensorsDifferences {
  std::vector<std::string> missing;     ///< Names in the module only.
  std::vector<std::string> unexpected;  ///< Names in the file only.
  /// Tensors of another shape or type, one text each:
  /// `"fc.bias": got F32 [10]; expected F32 [1000]`.
  std::vector<std::string> mismatching;

  bool empty() const { return missing.empty() && unexpected.empty() && mismatching.empty(); }
};

/// Writes the parameters and buffers of a module to a safetensors file. Python reads it with
/// `safetensors.torch.load_model(model, path)` or `load_file(path)`.
///
/// The file appears when it is complete and on disk, or not at all. It replaces an existing file.
/// Missing directories are created. Tensors may be on any device and need not be contiguous.
///
/// Names that share one tensor, such as tied weights, are written once, under the first name in
/// alphabetical order. The metadata maps each other name to it, as in Python's save_model().
/// Tensors that overlap in another way are written in full.
///
/// Not collective: on several ranks, call it on the root.
///
/// @param path     The file, usually `….safetensors`.
/// @param module   The model.
/// @param metadata Text by name. The entry "format" is "pt" by default, which some Python programs
///                 expect.
/// @throws Error(kInvalidArgument), naming the tensor, if it is sparse or quantized, has no memory
///         or has an invalid name; Error(kIoError) if the file cannot be written.
/// @threads Not thread-safe: no other thread may change the module.
/// @cost   The model's size on disk, and an fsync. Tensors that are on a device or not contiguous
///         are copied one at a time.
STEPTAPE_EXPORT void saveSafetensors(const std::string& path, const torch::nn::Module& module,
                                     SafetensorsMetadata metadata = {});

/// Writes tensors by name, such as a part of a model. Each name is written in full, also if two of
/// them share memory.
///
/// @throws Error as the overload above.
STEPTAPE_EXPORT void saveSafetensors(const std::string& path,
                                     const std::map<std::string, at::Tensor>& tensors,
                                     SafetensorsMetadata metadata = {});

/// Reads parameters and buffers from a safetensors file into a module.
///
/// Each tensor keeps its memory, device and type. Tied names need one of their names in the file;
/// others of them in the file are unexpected. SafetensorsFile reads the metadata.
///
/// Not collective: on several ranks, call it on the root and then broadcastParameters().
///
/// @param path    The file.
/// @param module  The model, of any device.
/// @param options What must be equal.
/// @return the differences; empty if `options.strict`.
/// @throws Error(kInvalidArgument) with all differences if `options.strict`; Error(kIoError) if the
///         file cannot be opened; Error(kDataLoss), naming the tensor, if it is truncated or
///         damaged. In all these cases nothing has changed. If the disk fails or the file shrinks
///         during the call, also Error(kIoError) or Error(kDataLoss), and some tensors may have
///         changed.
/// @threads Not thread-safe: no other thread may use the module.
/// @cost   Reading the file. A contiguous tensor in main memory is read into its place; others are
///         copied one at a time.
STEPTAPE_EXPORT SafetensorsDifferences loadSafetensors(const std::string& path,
                                                       torch::nn::Module& module,
                                                       const LoadSafetensorsOptions& options = {});

/// Reads all tensors of a safetensors file into new tensors in main memory, by name.
///
/// @throws Error(kInvalidArgument), naming the tensor, if this LibTorch does not have its type,
///         such as F4; Error(kIoError) or Error(kDataLoss) as the overload above.
/// @threads Thread-safe.
STEPTAPE_EXPORT std::map<std::string, at::Tensor> loadSafetensors(const std::string& path);

}  // namespace steptape
