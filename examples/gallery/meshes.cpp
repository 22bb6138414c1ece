// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <cmath>
#include <vector>

#include "color.h"
#include "gallery.h"
#include "turn.h"

namespace {

constexpr int kSegments = 240;  // Along the knot.
constexpr int kSides = 20;      // Around its tube.

using Point = std::array<double, 3>;

/// A point of a trefoil knot; `t` goes from 0 to 1.
Point knot(double t) {
  const double radius = 2 + std::cos(3 * kTurn * t);
  return {radius * std::cos(2 * kTurn * t), radius * std::sin(2 * kTurn * t),
          1.3 * std::sin(3 * kTurn * t)};
}

/// A point of the tube around the knot, at `t` along the knot and at `angle` around it.
Point tubePoint(double t, double angle, double thickness) {
  const Point center = knot(t);
  const Point ahead = knot(t + 1e-3);
  Point tangent;
  for (std::size_t i = 0; i < 3; ++i) {
    tangent[i] = ahead[i] - center[i];
  }
  // Two directions across the tube: `outward` from the axis, made perpendicular to the tangent, and
  // the cross product of both.
  const double length = std::hypot(tangent[0], tangent[1], tangent[2]);
  Point outward = {center[0], center[1], 0};
  const double along = (outward[0] * tangent[0] + outward[1] * tangent[1]) / (length * length);
  for (std::size_t i = 0; i < 3; ++i) {
    outward[i] -= along * tangent[i];
  }
  const double size = std::hypot(outward[0], outward[1], outward[2]);
  Point point;
  for (std::size_t i = 0; i < 3; ++i) {
    const std::size_t j = (i + 1) % 3;
    const std::size_t k = (i + 2) % 3;
    const double across = (tangent[j] * outward[k] - tangent[k] * outward[j]) / length;
    point[i] =
        center[i] + thickness / size * (std::cos(angle) * outward[i] + std::sin(angle) * across);
  }
  return point;
}

/// Two triangles for each cell of the grid of `kSegments` by `kSides` vertices. The grid is closed
/// in both directions.
std::vector<std::int32_t> netFaces() {
  std::vector<std::int32_t> faces;
  for (int segment = 0; segment < kSegments; ++segment) {
    for (int side = 0; side < kSides; ++side) {
      const auto vertex = [&](int down, int right) {
        return (segment + down) % kSegments * kSides + (side + right) % kSides;
      };
      faces.insert(faces.end(), {vertex(0, 0), vertex(1, 0), vertex(1, 1)});
      faces.insert(faces.end(), {vertex(0, 0), vertex(1, 1), vertex(0, 1)});
    }
  }
  return faces;
}

}  // namespace

/// A knot with a swelling that moves along it from step to step.
void logMesh(steptape::SummaryWriter& writer) {
  const std::vector<std::int32_t> faces = netFaces();
  for (std::int64_t step = 0; step < 8; ++step) {
    std::vector<float> vertices, colors;
    for (int i = 0; i < kSegments * kSides; ++i) {
      const int segment = i / kSides;
      const double t = static_cast<double>(segment) / kSegments;
      const double wave = std::cos(kTurn * (3 * t - static_cast<double>(step) / 8));
      const Point point = tubePoint(t, kTurn * (i % kSides) / kSides, 0.5 + 0.2 * wave);
      const Color color = paletteColor(t + 0.12 * wave);
      vertices.insert(vertices.end(), point.begin(), point.end());
      colors.insert(colors.end(), color.begin(), color.end());
    }
    const std::vector<std::int64_t> shape = {kSegments * kSides, 3};
    writer.addMesh("knot", {vertices.data(), shape}, step,
                   {.colors = {{colors.data(), shape}},
                    .faces = {{faces.data(), {2 * kSegments * kSides, 3}}}});
  }
}

/// The path of a point under Lorenz's equations.
void logPointCloud(steptape::SummaryWriter& writer) {
  constexpr int kPoints = 12'000;
  constexpr double kSeconds = 0.005;
  std::vector<float> vertices, colors;
  Point p = {0.1, 0, 20};
  for (int i = 0; i < kPoints; ++i) {
    const Point change = {10 * (p[1] - p[0]), p[0] * (28 - p[2]) - p[1],
                          p[0] * p[1] - 8.0 / 3 * p[2]};
    for (std::size_t k = 0; k < 3; ++k) {
      p[k] += kSeconds * change[k];
    }
    const Color color = paletteColor(static_cast<double>(i) / kPoints);
    for (const double coordinate : {p[0], p[1], p[2] - 25}) {
      vertices.push_back(static_cast<float>(coordinate / 12));
    }
    colors.insert(colors.end(), color.begin(), color.end());
  }
  writer.addMesh("lorenz", {vertices.data(), {kPoints, 3}}, 0,
                 {.colors = {{colors.data(), {kPoints, 3}}},
                  .configJson = R"({"material": {"cls": "PointsMaterial", "size": 0.03}})"});
}
