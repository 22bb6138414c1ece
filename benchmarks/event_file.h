// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>

#include "steptape/events/event.h"

namespace benchmark {

/// Writes the version and `events` events to `path`; `make` makes the i-th event.
void writeEvents(const std::string& path, std::int64_t events,
                 const std::function<steptape::event::Event(std::int64_t)>& make);

/// Returns one `simple_value` per event, as torch.utils.tensorboard and tensorboardX write scalars:
/// ten alternating tags, `curve/100` to `curve/109`, at steps from 0.
steptape::event::Event scalarEvent(std::int64_t i);

/// Returns a tensor of kTensorBytes bytes.
inline constexpr std::size_t kTensorBytes = 512 << 10;
steptape::event::Event tensorEvent(std::int64_t i);

/// Returns an image of 200 KB to 1 MB, 600 KB on average, as tf.summary writes it. Only its first
/// bytes are those of a PNG: readers do not inspect the others.
steptape::event::Event imageEvent(std::int64_t i);

}  // namespace benchmark
