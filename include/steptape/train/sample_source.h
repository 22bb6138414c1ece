// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "steptape/base/export.h"

namespace steptape {

/// The random numbers of one sample in one epoch.
///
/// They depend on seed, epoch and sample only. An augmentation that draws from them is therefore
/// the same on every thread, on every rank and after every resume.
///
/// @threads Not thread-safe: one thread at a time.
/// @source SplitMix64: Steele, Lea, Flood, "Fast Splittable Pseudorandom Number Generators",
///         OOPSLA 2014.
class STEPTAPE_EXPORT SampleRandom {
 public:
  SampleRandom(std::uint64_t seed, std::int64_t epoch, std::int64_t sample);

  /// Returns 64 random bits.
  std::uint64_t bits();
  /// Returns a number in [low, high).
  double uniform(double low = 0, double high = 1);
  /// Returns an integer in [0, bound). `bound` must be positive.
  std::int64_t below(std::int64_t bound);

 private:
  std::uint64_t state_;
};

/// A data set whose samples are read one by one, such as ImageFolderSource. PrefetchLoader reads
/// them on its worker threads. Derive from it for other data.
///
/// @threads const methods may run concurrently.
class STEPTAPE_EXPORT SampleSource {
 public:
  SampleSource() = default;
  SampleSource(const SampleSource&) = delete;
  SampleSource& operator=(const SampleSource&) = delete;
  virtual ~SampleSource();

  /// Returns the number of samples.
  virtual std::int64_t size() const = 0;

  /// Returns the shape of each sample's input, such as {3, 224, 224}.
  virtual std::vector<std::int64_t> shape() const = 0;

  /// Writes the input of sample `index` to `input`, which has room for the floats of shape() in
  /// row-major order, and returns the sample's target, such as its class.
  ///
  /// @throws Error that names the file, for one that cannot be read. PrefetchLoader adds the
  ///         number of the sample.
  virtual std::int64_t read(std::int64_t index, SampleRandom& random, float* input) const = 0;
};

}  // namespace steptape
