// SPDX-License-Identifier: Apache-2.0
// Fits a small network to a sine. Logs the loss at each step, and the weights at every tenth.
#include <steptape/torch.h>

#include <torch/torch.h>

int main(int argc, char** argv) {
  torch::manual_seed(1);
  const auto x = torch::linspace(-3, 3, 200).unsqueeze(1);
  const auto y = torch::sin(x);
  torch::nn::Sequential model(torch::nn::Linear(1, 32), torch::nn::Tanh(),
                              torch::nn::Linear(32, 1));
  torch::optim::Adam optimizer(model->parameters(), 0.01);

  steptape::SummaryWriter writer(argc > 1 ? argv[1] : "runs/first");
  for (int step = 0; step < 500; ++step) {
    optimizer.zero_grad();
    const auto loss = torch::mse_loss(model->forward(x), y);
    loss.backward();
    optimizer.step();
    writer.addScalar("loss", loss, step);
    if (step % 10 == 0) {
      for (const auto& parameter : model->named_parameters()) {
        writer.addHistogram(parameter.key(), parameter.value(), step);
      }
    }
  }
  writer.close().throwIfError();
}
