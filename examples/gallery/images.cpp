// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <cmath>
#include <complex>
#include <vector>

#include "color.h"
#include "gallery.h"

namespace {

/// Colors each point of the plane by how soon z -> z^2 + c diverges from it: (3, size, size).
std::vector<float> juliaSet(int size, std::complex<double> c) {
  constexpr int kMaxIterations = 120;
  const std::size_t area = static_cast<std::size_t>(size) * static_cast<std::size_t>(size);
  std::vector<float> pixels(3 * area);
  for (std::size_t i = 0; i < area; ++i) {
    const std::size_t width = static_cast<std::size_t>(size);
    const std::size_t row = i / width;
    std::complex<double> z(3.0 * static_cast<double>(i % width) / size - 1.5,
                           3.0 * static_cast<double>(row) / size - 1.5);
    int iterations = 0;
    while (std::norm(z) < 100 && iterations < kMaxIterations) {
      z = z * z + c;
      ++iterations;
    }
    if (iterations == kMaxIterations) {
      continue;  // Black: it does not diverge.
    }
    // The fraction of an iteration makes the transitions between colors smooth.
    const double smooth = iterations + 1 - std::log2(std::log(std::abs(z)));
    const Color color = paletteColor(0.3 + std::sqrt(std::max(smooth, 0.0)) / 7, 0.12);
    for (std::size_t channel = 0; channel < 3; ++channel) {
      pixels[channel * area + i] = color[channel];
    }
  }
  return pixels;
}

/// Along the edge of the Mandelbrot set, where Julia sets look best.
std::complex<double> juliaParameter(double turn) {
  return 0.7885 * std::polar(1.0, 6.283185307179586 * turn);
}

struct Ball {
  int x;
  int y;
  int radius;
};

/// Draws balls against a sky, lit from the upper left: (height, width, 3).
std::vector<std::uint8_t> drawBalls(int width, int height, const std::vector<Ball>& balls) {
  std::vector<std::uint8_t> pixels;
  for (int i = 0; i < width * height; ++i) {
    const int x = i % width;
    const int y = i / width;
    std::array<int, 3> color = {24 + y / 5, 40 + y / 4, 70 + y / 3};
    for (const Ball& ball : balls) {
      const double third = ball.radius / 3.0;
      const double light = 1 - std::hypot(x - ball.x + third, y - ball.y + third) / (5 * third);
      if (std::hypot(x - ball.x, y - ball.y) < ball.radius) {
        color = {60 + static_cast<int>(190 * light), 30 + static_cast<int>(150 * light), 40};
      }
    }
    pixels.insert(pixels.end(), color.begin(), color.end());
  }
  return pixels;
}

}  // namespace

void logImages(steptape::SummaryWriter& writer) {
  for (int step = 0; step < 6; ++step) {
    const std::vector<float> image = juliaSet(256, juliaParameter(0.3 + 0.02 * step));
    writer.addImage("julia", {image.data(), {3, 256, 256}}, step);  // CHW
  }

  std::vector<float> batch;
  for (int i = 0; i < 24; ++i) {
    const std::vector<float> image = juliaSet(64, juliaParameter(0.28 + 0.01 * i));
    batch.insert(batch.end(), image.begin(), image.end());
  }
  writer.addImages("batch", {batch.data(), {24, 3, 64, 64}}, 0);  // NCHW: one grid

  const std::vector<float> small = juliaSet(64, juliaParameter(0.42));
  const std::vector<float> large = juliaSet(160, juliaParameter(0.42));
  writer.addImages("sizes", {{small.data(), {3, 64, 64}}, {large.data(), {3, 160, 160}}}, 0);
}

void logBoxes(steptape::SummaryWriter& writer) {
  const std::vector<Ball> balls = {{70, 110, 45}, {175, 70, 30}, {255, 135, 50}};
  const std::vector<std::uint8_t> pixels = drawBalls(320, 200, balls);
  std::vector<int> boxes;  // (N, 4): left, top, right, bottom
  for (const auto& [x, y, radius] : balls) {
    boxes.insert(boxes.end(), {x - radius, y - radius, x + radius, y + radius});
  }
  writer.addImageWithBoxes("boxes", {pixels.data(), {200, 320, 3}}, {boxes.data(), {3, 4}}, 0,
                           {.dataFormat = "HWC",
                            .labels = {"ball 0.98", "ball 0.71", "large ball 0.93"},
                            .colors = {{255, 214, 0}, {0, 229, 255}, {118, 255, 3}}});
}

/// Rings from two sources that pass through each other.
void logVideos(steptape::SummaryWriter& writer) {
  constexpr int kFrames = 24;
  constexpr int kSize = 96;
  std::vector<float> frames;  // (T, C, H, W)
  for (int t = 0; t < kFrames; ++t) {
    for (std::size_t channel = 0; channel < 3; ++channel) {
      for (int i = 0; i < kSize * kSize; ++i) {
        const double left = std::hypot(i % kSize - 28, i / kSize - 48) / 12;
        const double right = std::hypot(i % kSize - 68, i / kSize - 48) / 12;
        const double phase = static_cast<double>(t) / kFrames;
        const double height =
            std::cos(6.2832 * (left - phase)) + std::cos(6.2832 * (right - phase));
        frames.push_back(paletteColor(0.35 + height / 6, 0.12)[channel]);
      }
    }
  }
  const steptape::TensorView video(frames.data(), {1, kFrames, 3, kSize, kSize});  // NTCHW
  writer.addVideo("rings", video, 0, {.fps = 12});
}
