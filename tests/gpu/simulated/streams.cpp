// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstring>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

#include "gpu/simulated/simulated_gpu.h"

#include <c10/core/Allocator.h>
#include <c10/core/impl/DeviceGuardImplInterface.h>

namespace steptape::simulated_gpu {
namespace {

using Clock = std::chrono::steady_clock;

constexpr c10::StreamId kStreamsPerDevice = 8;

std::atomic<std::int64_t> waits{0};
std::atomic<std::int64_t> copiedToHost{0};
std::atomic<std::int64_t> copiedToDevice{0};

/// A point in the work of a stream.
class Mark {
 public:
  void reach() {
    const std::lock_guard<std::mutex> lock(mutex_);
    reached_ = Clock::now();
    isReached_ = true;
    changed_.notify_all();
  }
  void wait() {
    std::unique_lock<std::mutex> lock(mutex_);
    changed_.wait(lock, [this] { return isReached_; });
  }
  bool isReached() {
    const std::lock_guard<std::mutex> lock(mutex_);
    return isReached_;
  }
  Clock::time_point time() {
    wait();
    return reached_;
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  bool isReached_ = false;
  Clock::time_point reached_;
};

class Stream {
 public:
  Stream() {
    std::thread([this] { run(); }).detach();
  }

  void push(std::function<void()> work) {
    const std::lock_guard<std::mutex> lock(mutex_);
    work_.push_back(std::move(work));
    changed_.notify_one();
  }

  std::shared_ptr<Mark> mark() {
    auto mark = std::make_shared<Mark>();
    push([mark] { mark->reach(); });
    return mark;
  }

  bool isIdle() {
    const std::lock_guard<std::mutex> lock(mutex_);
    return work_.empty() && !isWorking_;
  }

 private:
  [[noreturn]] void run() {
    while (true) {
      std::function<void()> work;
      {
        std::unique_lock<std::mutex> lock(mutex_);
        isWorking_ = false;
        changed_.wait(lock, [this] { return !work_.empty(); });
        work = std::move(work_.front());
        work_.pop_front();
        isWorking_ = true;
      }
      work();
    }
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::function<void()>> work_;
  bool isWorking_ = false;
};

/// Never destroyed, like the streams: their threads run until the process ends.
struct Streams {
  std::mutex mutex;
  std::map<std::pair<c10::DeviceIndex, c10::StreamId>, Stream*> byId;

  static Streams& all() {
    static auto& all = *new Streams;
    return all;
  }
};

Stream& streamOf(c10::DeviceIndex device, c10::StreamId id) {
  Streams& all = Streams::all();
  const std::lock_guard<std::mutex> lock(all.mutex);
  Stream*& stream = all.byId[{device, id}];
  if (stream == nullptr) {
    stream = new Stream;
  }
  return *stream;
}

std::vector<Stream*> streamsOf(c10::DeviceIndex device) {
  Streams& all = Streams::all();
  const std::lock_guard<std::mutex> lock(all.mutex);
  std::vector<Stream*> streams;
  for (const auto& [id, stream] : all.byId) {
    if (id.first == device) {
      streams.push_back(stream);
    }
  }
  return streams;
}

Stream& streamOf(const c10::Stream& stream) {
  return streamOf(stream.device_index(), stream.id());
}

thread_local c10::DeviceIndex currentDevice = 0;
thread_local std::array<c10::StreamId, kDevices> currentStreams{};

c10::Stream streamOn(c10::Device device) {
  const c10::DeviceIndex index = device.has_index() ? device.index() : currentDevice;
  return c10::Stream(c10::Stream::UNSAFE, {kType, index},
                     currentStreams.at(static_cast<std::size_t>(index)));
}

/// Device memory and the streams that use it.
struct Block {
  void* pointer;
  c10::Stream stream;
  std::vector<c10::Stream> others;
};

std::mutex blocksMutex;
std::map<void*, std::unique_ptr<Block>>& blocks() {
  static auto& blocks = *new std::map<void*, std::unique_ptr<Block>>;
  return blocks;
}

void freeBlock(void* pointer) {
  std::unique_ptr<Block> block;
  {
    const std::lock_guard<std::mutex> lock(blocksMutex);
    const auto found = blocks().find(pointer);
    block = std::move(found->second);
    blocks().erase(found);
  }
  std::vector<std::shared_ptr<Mark>> marks;
  for (const c10::Stream& other : block->others) {
    marks.push_back(streamOf(other).mark());
  }
  streamOf(block->stream).push([pointer, marks = std::move(marks)] {
    for (const std::shared_ptr<Mark>& mark : marks) {
      mark->wait();
    }
    std::memset(kernelView(pointer), 0xFF, bytesAt(pointer));
    release(pointer);
  });
}

class DeviceAllocator final : public c10::Allocator {
 public:
  c10::DataPtr allocate(std::size_t bytes) override {
    void* const pointer = simulated_gpu::allocate(currentDevice, bytes);
    if (pointer != nullptr) {
      const std::lock_guard<std::mutex> lock(blocksMutex);
      blocks()[pointer] =
          std::make_unique<Block>(Block{pointer, streamOn({kType, currentDevice}), {}});
    }
    return {pointer, pointer, pointer == nullptr ? nullptr : &freeBlock, {kType, currentDevice}};
  }
  c10::DeleterFnPtr raw_deleter() const override { return &freeBlock; }
  void copy_data(void* to, const void* from, std::size_t bytes) const override {
    std::memcpy(kernelView(to), kernelView(from), bytes);
  }
};

DeviceAllocator deviceAllocator;
REGISTER_ALLOCATOR(kType, &deviceAllocator);

class Guard final : public c10::impl::DeviceGuardImplInterface {
 public:
  c10::DeviceType type() const override { return kType; }
  c10::Device exchangeDevice(c10::Device device) const override {
    return {kType, std::exchange(currentDevice, device.index())};
  }
  c10::Device getDevice() const override { return {kType, currentDevice}; }
  void setDevice(c10::Device device) const override { currentDevice = device.index(); }
  void uncheckedSetDevice(c10::Device device) const noexcept override {
    currentDevice = device.index();
  }
  c10::DeviceIndex deviceCount() const noexcept override { return kDevices; }

  c10::Stream getStream(c10::Device device) const override { return streamOn(device); }
  c10::Stream getDefaultStream(c10::Device device) const override {
    return c10::Stream(c10::Stream::UNSAFE, device, 0);
  }
  c10::Stream getStreamFromGlobalPool(c10::Device device, bool /*isHighPriority*/) const override {
    static std::atomic<c10::StreamId> next{0};
    return c10::Stream(c10::Stream::UNSAFE, device, 1 + next++ % (kStreamsPerDevice - 1));
  }
  c10::Stream exchangeStream(c10::Stream stream) const override {
    c10::StreamId& current = currentStreams.at(static_cast<std::size_t>(stream.device_index()));
    return c10::Stream(c10::Stream::UNSAFE, stream.device(), std::exchange(current, stream.id()));
  }
  void* getStreamNativeHandle(c10::Stream stream) const override { return &streamOf(stream); }
  bool queryStream(const c10::Stream& stream) const override { return streamOf(stream).isIdle(); }
  void synchronizeStream(const c10::Stream& stream) const override {
    ++waits;
    streamOf(stream).mark()->wait();
  }
  void synchronizeDevice(c10::DeviceIndex index) const override {
    ++waits;
    for (Stream* const stream : streamsOf(index)) {
      stream->mark()->wait();
    }
  }

  void record(void** event, const c10::Stream& stream, c10::DeviceIndex /*device*/,
              c10::EventFlag /*flag*/) const override {
    if (*event == nullptr) {
      *event = new std::shared_ptr<Mark>;
    }
    markOf(*event) = streamOf(stream).mark();
  }
  void block(void* event, const c10::Stream& stream) const override {
    if (event != nullptr) {
      streamOf(stream).push([mark = markOf(event)] { mark->wait(); });
    }
  }
  bool queryEvent(void* event) const override {
    return event == nullptr || markOf(event)->isReached();
  }
  void synchronizeEvent(void* event) const override {
    ++waits;
    if (event != nullptr) {
      markOf(event)->wait();
    }
  }
  void destroyEvent(void* event, c10::DeviceIndex /*device*/) const noexcept override {
    delete static_cast<std::shared_ptr<Mark>*>(event);
  }
  double elapsedTime(void* from, void* to, c10::DeviceIndex /*device*/) const override {
    return std::chrono::duration<double, std::milli>(markOf(to)->time() - markOf(from)->time())
        .count();
  }

  void recordDataPtrOnStream(const c10::DataPtr& data, const c10::Stream& stream) const override {
    const std::lock_guard<std::mutex> lock(blocksMutex);
    const auto block = blocks().find(data.get());
    if (block != blocks().end()) {
      block->second->others.push_back(stream);
    }
  }

 private:
  static std::shared_ptr<Mark>& markOf(void* event) {
    return *static_cast<std::shared_ptr<Mark>*>(event);
  }
};

C10_REGISTER_GUARD_IMPL(CUDA, Guard)

}  // namespace

void enqueue(void* stream, std::function<void()> work) {
  static_cast<Stream*>(stream)->push(std::move(work));
}

void* makeStream(c10::Device device) {
  auto* const stream = new Stream;
  Streams& all = Streams::all();
  const std::lock_guard<std::mutex> lock(all.mutex);
  all.byId[{device.index(), reinterpret_cast<c10::StreamId>(stream)}] = stream;
  return stream;
}

void* currentStream(c10::Device device) {
  return &streamOf(streamOn(device));
}

void waitForCurrentStream(c10::Device device) {
  ++waits;
  finishCurrentStream(device);
}

void finishCurrentStream(c10::Device device) {
  streamOf(streamOn(device)).mark()->wait();
}

void keepBusy(c10::Device device, std::int64_t millis) {
  enqueue(currentStream(device),
          [millis] { std::this_thread::sleep_for(std::chrono::milliseconds(millis)); });
}

void noteCopy(std::int64_t bytesToHost, std::int64_t bytesToDevice) {
  copiedToHost += bytesToHost;
  copiedToDevice += bytesToDevice;
}

Counts counts() {
  return {waits, copiedToHost, copiedToDevice};
}

}  // namespace steptape::simulated_gpu
