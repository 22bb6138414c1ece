// SPDX-License-Identifier: Apache-2.0
// Training on a folder of images that worker threads read.
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include <steptape/images.h>

#include "metrics/read_back.h"
#include "support/image_files.h"
#include "train/loop/training_fixture.h"

namespace steptape::test {
namespace {

class ImageTraining : public Training {
 protected:
  void SetUp() override { writeImageFolder(folder(), 2, 12); }

  std::string folder() const { return dir_.string() + "/images"; }

  std::shared_ptr<ImageFolderSource> source(const ImageTransforms& transforms) const {
    return std::make_shared<ImageFolderSource>(ImageFolder(folder()), transforms);
  }

  /// The points of the loss in two epochs, and the weights after them.
  std::pair<Points, torch::Tensor> train(std::int64_t workers) {
    torch::manual_seed(1);
    const torch::nn::Sequential net(torch::nn::Flatten(), torch::nn::Linear(3 * 16 * 16, 2),
                                    torch::nn::LogSoftmax(1));
    torch::optim::SGD optimizer(net->parameters(), 0.01);
    const World world = oneRank();
    const std::string log = logDir() + std::to_string(workers);
    DistributedWriter writer(log, world);
    TrainerOptions options;
    options.epochs = 2;
    options.progress = ProgressStyle::kNone;
    Trainer trainer(net, optimizer, world, writer, options);
    PrefetchLoaderOptions prefetch;
    prefetch.workers = workers;
    PrefetchLoader loader(source({RandomResizedCrop{16}, RandomHorizontalFlip{}}), {24, *world}, 5,
                          prefetch);
    PrefetchLoader test(source({Resize{20}, CenterCrop{16}}), {24, *world}, 10, prefetch);
    trainer.fit(loader, test);
    writer.close().throwIfError();
    return {readPoints(log)["loss/train"], torch::cat({net->parameters()[0].view(-1)})};
  }
};

TEST_F(ImageTraining, IsTheSameWithAnyNumberOfWorkers) {
  const auto [losses, weights] = train(0);
  EXPECT_EQ(losses.size(), 10u);
  for (const std::int64_t workers : {1, 2, 4}) {
    const auto [otherLosses, otherWeights] = train(workers);
    EXPECT_EQ(otherLosses, losses) << workers << " workers";
    EXPECT_TRUE(torch::equal(otherWeights, weights)) << workers << " workers";
  }
}

TEST_F(ImageTraining, EndsWithTheNameOfAFileThatIsDamagedMeanwhile) {
  const std::string file = folder() + "/class1/3.jpg";  // Of 24: 12 of class0, 0, 1, 10, 11, 2.
  std::filesystem::resize_file(file, 200);
  const Error error = errorOf([&] { train(2); });
  EXPECT_EQ(std::string(error.what()), "PrefetchLoader: sample 17 in epoch 0: image \"" + file +
                                           "\": damaged: Premature end of JPEG file");
}

}  // namespace
}  // namespace steptape::test
