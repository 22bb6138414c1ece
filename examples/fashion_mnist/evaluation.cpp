// SPDX-License-Identifier: Apache-2.0
#include "evaluation.h"

#include <algorithm>
#include <string>
#include <vector>

#include <steptape/torch.h>
#include <steptape/train/batch_loader.h>

#ifdef FASHION_MNIST_WITH_FIGURES
#include <steptape/figure.h>
#endif

namespace {

constexpr std::int64_t kBatchSize = 1000;
constexpr std::int64_t kEmbeddedImages = 1000;

const std::vector<std::string>& classNames() {
  static const std::vector<std::string> kNames = {"T-shirt", "trouser", "pullover", "dress",
                                                  "coat",    "sandal",  "shirt",    "sneaker",
                                                  "bag",     "boot"};
  return kNames;
}

/// The network's predictions for all test images.
struct Predictions {
  torch::Tensor probabilities;  // (images, classes)
  torch::Tensor features;       // (images, width of the last layer)
};

Predictions predict(Classifier& model, const steptape::ImageDataset& test) {
  const torch::NoGradGuard noGrad;
  const bool wasTraining = model.is_training();
  model.eval();
  std::vector<torch::Tensor> probabilities;
  std::vector<torch::Tensor> features;
  steptape::DistributedSamplerOptions inOrder;
  inOrder.shuffle = false;
  steptape::ImageLoader loader(test, {test.size(), steptape::Communicator(), inOrder}, kBatchSize);
  for (steptape::Batch batch; loader.next(batch);) {
    features.push_back(model.features(batch.inputs));
    probabilities.push_back(model.classify(features.back()).exp());
  }
  model.train(wasTraining);
  return {torch::cat(probabilities), torch::cat(features)};
}

void logConfusion(steptape::DistributedWriter& writer, const torch::Tensor& predicted,
                  const torch::Tensor& labels, std::int64_t step) {
#ifdef FASHION_MNIST_WITH_FIGURES
  const auto classes = static_cast<std::int64_t>(classNames().size());
  const torch::Tensor counts =
      torch::bincount(labels * classes + predicted, {}, classes * classes).view({classes, classes});
  // Letters are large enough for TensorBoard's default image size of 350 pixels.
  steptape::CanvasOptions canvas;
  canvas.title = "Fashion-MNIST, test images";
  canvas.width = 700;
  canvas.height = 640;
  canvas.dpi = 160;
  steptape::ConfusionMatrixOptions matrix;
  matrix.colorbar = false;  // The cells show their numbers.
  steptape::Figure figure(canvas);
  figure.confusionMatrix(counts, classNames(), matrix);
  writer.addFigure("test_confusion", figure, step);
#else
  static_cast<void>(writer), static_cast<void>(predicted), static_cast<void>(labels);
  static_cast<void>(step);
#endif
}

void logCurves(steptape::DistributedWriter& writer, const Predictions& predictions,
               const torch::Tensor& labels, std::int64_t step) {
  for (std::size_t i = 0; i < classNames().size(); ++i) {
    const auto number = static_cast<std::int64_t>(i);
    // Rounding makes some probabilities slightly greater than 1.
    writer.addPrCurve("classes/" + classNames()[i], labels == number,
                      predictions.probabilities.select(1, number).clamp(0, 1), step);
  }
}

void logEmbedding(steptape::DistributedWriter& writer, const Predictions& predictions,
                  const steptape::ImageDataset& test, std::int64_t step) {
  const std::int64_t count = std::min(kEmbeddedImages, test.size());
  const torch::Tensor thumbnails = test.images().narrow(0, 0, count);
  steptape::EmbeddingOptions options;
  options.labelImages = thumbnails;
  for (std::int64_t i = 0; i < count; ++i) {
    options.metadata.push_back(
        {classNames().at(static_cast<std::size_t>(test.labels()[i].item<std::int64_t>()))});
  }
  writer.addEmbedding("last_layer", predictions.features.narrow(0, 0, count), step, options);
}

}  // namespace

void logEvaluation(steptape::DistributedWriter& writer, Classifier& model,
                   const steptape::ImageDataset& test, std::int64_t step) {
  if (!writer.isEnabled()) {
    return;
  }
  const Predictions predictions = predict(model, test);
  logConfusion(writer, predictions.probabilities.argmax(1), test.labels(), step);
  logCurves(writer, predictions, test.labels(), step);
  logEmbedding(writer, predictions, test, step);
}

void logHyperparameters(steptape::DistributedWriter& writer, const Options& options, int ranks,
                        const steptape::TrainingResult& result) {
  writer.addHparams(
      {{"lr", options.lr},
       {"momentum", options.momentum},
       {"batch_size", options.batchSize},
       {"ranks", ranks},
       {"seed", options.seed}},
      {{"accuracy/test", result.metric("accuracy")}, {"loss/test", result.metric("loss")}});
}
