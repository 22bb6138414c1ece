// SPDX-License-Identifier: Apache-2.0
// `fault_program train`: a job that trains a small network. One rank fails as the arguments
// specify: see Fault.
//
//   how=gradients|fit    a loop around GradientSync::step(), or a Trainer
//   dir=DIR              directory of event files and checkpoints
//   resume               resumes from the newest checkpoint
//   timeout=MS           Communicator::timeout(), once all ranks have started
//   ranksPerNode=N       as MpiCommunicatorOptions::ranksPerNode
//   checkpoints=async    the loop trains on while a thread writes them, as a Trainer does
//   memory=messages      uses no shared memory
//   lacksMemory=RANK     that rank gets no shared memory
//
// The root prints the parameters at the end. The tests in this folder start it and check how it
// ends.

#include <chrono>
#include <csignal>
#include <iomanip>
#include <iostream>
#include <limits>
#include <optional>
#include <sstream>
#include <string>
#include <sys/resource.h>

#include <steptape/mpi.h>

#include "faults/arguments.h"
#include "faults/fault.h"
#include "faults/fault_program.h"
#include "faults/mpi_world.h"
#include "faults/small_job.h"

namespace steptape::test {
namespace {

/// During its lifetime, this process gets no shared memory: the first rank cannot make a file of
/// more than a page, as if /dev/shm were full, and the others cannot open it.
class NoSharedMemory {
 public:
  explicit NoSharedMemory(bool isFirst) : resource_(isFirst ? RLIMIT_FSIZE : RLIMIT_NOFILE) {
    std::signal(SIGXFSZ, SIG_IGN);
    getrlimit(resource_, &before_);
    rlimit limit = before_;
    limit.rlim_cur = isFirst ? 4096 : 0;
    setrlimit(resource_, &limit);
  }
  ~NoSharedMemory() { setrlimit(resource_, &before_); }
  NoSharedMemory(const NoSharedMemory&) = delete;
  NoSharedMemory& operator=(const NoSharedMemory&) = delete;

 private:
  decltype(RLIMIT_FSIZE) resource_;
  rlimit before_{};
};

class Job {
 public:
  Job(const Arguments& arguments, World world)
      : arguments_(arguments),
        world_(std::move(world)),
        fault_(arguments, world_->rank()),
        optimizer_(net_->parameters(), momentumOptions()),
        store_(checkpoints(), world_),
        writer_(directory() + "/run", world_, writerOptions()) {
    net_->inForward = [this](torch::Tensor& output) { inForward(output); };
  }

  void run() {
    if (arguments_.text("how") == "fit") {
      fit();
    } else {
      train();
    }
    writer_.close().throwIfError();
    tellParameters();
  }

 private:
  std::string directory() const { return arguments_.text("dir"); }
  std::string checkpoints() const { return directory() + "/checkpoints"; }
  bool resumes() const { return arguments_.text("resume", "no") != "no"; }

  DistributedWriterOptions writerOptions() {
    DistributedWriterOptions options;
    options.rankPolicy = RankPolicy::kPerRank;
    if (resumes()) {
      const auto found = store_.findNewest();
      options.writer.purgeStep = found ? found->progress.writerStep + 1 : 0;
    }
    return options;
  }

  GradientSyncOptions syncOptions() const {
    GradientSyncOptions options;
    options.useSharedMemory = arguments_.text("memory") != "messages";
    return options;
  }

  void inForward(torch::Tensor& output) {
    if (steps_ == 0 && arguments_.number("lacksMemory", -1) == world_->rank()) {
      noSharedMemory_.emplace(world_->isRoot());
    }
    fault_.pass(Place::kForward, steps_);
    output.register_hook(
        [this](const torch::Tensor& /*gradient*/) { fault_.pass(Place::kBackward, steps_); });
  }

  /// A loop as users write it.
  void train() {
    std::int64_t step = 0;
    if (resumes()) {
      const FoundCheckpoint found = store_.loadNewest(*net_, optimizer_).value();
      step = found.progress.step;
      tell("resumed from " + found.path);
    }
    broadcastParameters(*net_, *world_);
    GradientSync sync(net_->named_parameters(), world_, syncOptions());
    CheckpointCopy copy;  // Ends before the memory that `sync` shares.
    ImageLoader batches = loader(*world_);
    while (step < kSteps) {
      steps_ = step;
      Batch batch;
      batches.startEpoch(0, step % batches.batches());
      batches.next(batch);
      optimizer_.zero_grad();
      const torch::Tensor loss = torch::nll_loss(net_->forward(batch.inputs), batch.targets);
      loss.backward();
      copy.wait();
      sync.step(optimizer_);
      noSharedMemory_.reset();
      ++step;
      writer_.addReduced("loss/train", loss.item<double>(), step);
      writer_.reduce(step);
      if (step % kStepsBetweenCheckpoints == 0) {
        TrainingProgress progress;
        progress.step = step;
        if (arguments_.text("checkpoints") == "async") {
          copy = store_.saveAsync(*net_, optimizer_, progress);
        } else {
          store_.save(*net_, optimizer_, progress);
        }
      }
    }
    tell(sync.describe());
  }

  void fit() {
    TrainerOptions options;
    options.epochs = 9;
    options.maxSteps = kSteps;
    options.gradientSync = syncOptions();
    options.checkpointDirectory = checkpoints();
    options.checkpointEverySteps = kStepsBetweenCheckpoints;
    options.resume = resumes();
    options.stragglerSteps = 2;
    ImageLoader train = loader(*world_);
    ImageLoader test = testLoader(*world_);
    Trainer trainer(net_, optimizer_, world_, writer_, options);
    trainer.on(TrainerEvent::kAfterBatch, [this](TrainingContext& context) {
      noSharedMemory_.reset();
      fault_.pass(Place::kCallback, steps_);
      steps_ = context.step;
    });
    trainer.fit(train, test);
  }

  void tell(const std::string& text) { logFromRoot(*world_, text + "\n", std::cout); }

  void tellParameters() {
    std::ostringstream text;
    text << "parameters:" << std::setprecision(std::numeric_limits<float>::max_digits10);
    for (const torch::Tensor& parameter : net_->parameters()) {
      const torch::Tensor flat = parameter.detach().flatten();
      for (std::int64_t i = 0; i < flat.numel(); ++i) {
        text << ' ' << flat[i].item<float>();
      }
    }
    tell(text.str());
  }

  const Arguments& arguments_;
  World world_;
  Fault fault_;
  std::shared_ptr<SmallNet> net_ = std::make_shared<SmallNet>();
  torch::optim::SGD optimizer_;
  CheckpointStore store_;
  DistributedWriter writer_;
  std::int64_t steps_ = 0;  // done before the current pass
  std::optional<NoSharedMemory> noSharedMemory_;
};

}  // namespace

void train(int argc, char** argv) {
  const Arguments arguments(argc, argv);
  const Environment environment(argc, argv);
  try {
    const auto world = makeWorld(arguments.number("ranksPerNode", 0));
    torch::manual_seed(static_cast<std::uint64_t>(world->rank()) + 1);
    Job job(arguments, world);
    // Only now: on a busy machine, one rank may open its files much later than another.
    world->barrier();
    world->setTimeout(std::chrono::milliseconds(arguments.number("timeout", 30000)));
    job.run();
  } catch (const std::exception& error) {
    environment.abort(error.what());
  }
}

}  // namespace steptape::test
