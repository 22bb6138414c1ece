// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <stdexcept>
#include <utility>
#include <vector>

#include "steptape/values/tensor_view.h"

namespace steptape {

/// A device whose copies arrive when the test requests it. Must outlive writers that wait for them.
class FakeDevice {
 public:
  /// Lets every copy arrive, including those queued later.
  void finish() {
    std::lock_guard<std::mutex> lock(mutex_);
    finished_ = true;
    changed_.notify_all();
  }
  /// Makes every copy fail.
  void fail() {
    failed_ = true;
    finish();
  }
  /// Returns whether a thread has waited for a copy.
  bool waited() const { return waited_; }

  /// Returns a tensor whose elements are in flight.
  TensorView copy(std::vector<float> values, std::vector<std::int64_t> shape) {
    // Garbage until the copy has arrived, as in real memory.
    auto memory = std::make_shared<std::vector<float>>(values.size(), -1000.0F);
    auto arrival = std::make_shared<Arrival>(this, memory, std::move(values));
    return {memory->data(), DType::kFloat32, std::move(shape), {}, memory, arrival};
  }

 private:
  struct Arrival final : TensorArrival {
    Arrival(FakeDevice* from, std::shared_ptr<std::vector<float>> to, std::vector<float> elements)
        : device(from), memory(std::move(to)), values(std::move(elements)) {}
    void wait() override {
      device->waitUntilFinished();
      *memory = values;
    }
    FakeDevice* device;
    std::shared_ptr<std::vector<float>> memory;
    std::vector<float> values;
  };

  void waitUntilFinished() {
    std::unique_lock<std::mutex> lock(mutex_);
    waited_ = true;
    changed_.wait_for(lock, std::chrono::seconds(20), [this] { return finished_; });
    if (failed_) {
      throw std::runtime_error("the device was lost");
    }
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  bool finished_ = false;
  std::atomic<bool> failed_{false};
  std::atomic<bool> waited_{false};
};

}  // namespace steptape
