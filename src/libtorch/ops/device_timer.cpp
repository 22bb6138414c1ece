// SPDX-License-Identifier: Apache-2.0
#include "libtorch/ops/device_timer.h"

#include <torch/version.h>

#if TORCH_VERSION_MAJOR > 2 || (TORCH_VERSION_MAJOR == 2 && TORCH_VERSION_MINOR >= 4)

#include <algorithm>
#include <optional>

#include "steptape/base/clock.h"

#include <c10/core/Event.h>
#include <c10/core/impl/VirtualGuardImpl.h>

namespace steptape::detail::libtorch {
namespace {

/// Maximum number of calls that take() has not read; further ones are dropped, because a blocked
/// stream must not fill the memory.
constexpr std::size_t kMaxCalls = std::size_t{1} << 16;

/// Devices report the time between two events as a 32-bit float in milliseconds, which is exact to
/// 0.1 us if they are not much farther apart than this.
constexpr double kAnchorNanos = 1e9;

bool isTimed(c10::DeviceType type) {
  return type != c10::DeviceType::CPU && type != c10::DeviceType::Meta;
}

std::optional<c10::Device> deviceOf(const at::Tensor& tensor) {
  return tensor.defined() && isTimed(tensor.device().type())
             ? std::optional<c10::Device>(tensor.device())
             : std::nullopt;
}

std::optional<c10::Device> deviceOf(const c10::IValue& input) {
  if (input.isTensor()) {
    return deviceOf(input.toTensor());
  }
  if (input.isTensorList()) {
    const auto tensors = input.toTensorList();
    return tensors.empty() ? std::nullopt : deviceOf(tensors.get(0));
  }
  if (input.isDevice() && isTimed(input.toDevice().type())) {
    const c10::Device device = input.toDevice();
    return device.has_index() ? device : c10::impl::VirtualGuardImpl(device.type()).getDevice();
  }
  return std::nullopt;
}

std::optional<c10::Device> deviceOf(c10::ArrayRef<const c10::IValue> inputs) {
  for (const c10::IValue& input : inputs) {
    if (const auto device = deviceOf(input)) {
      return device;
    }
  }
  return std::nullopt;
}

c10::Event timingEvent(c10::Device device) {
  return c10::Event(device.type(), c10::EventFlag::BACKEND_DEFAULT);
}

double nanosBetween(const c10::Event& from, const c10::Event& to) {
  return from.elapsedTime(to) * 1e6;
}

std::uint64_t ticksOf(double nanos) {
  return static_cast<std::uint64_t>(std::max(0.0, nanos) / TickConverter::nanosPerTick());
}

}  // namespace

/// A moment on the clocks of both device and host.
struct DeviceTimer::Anchor {
  explicit Anchor(c10::Device device) : event(timingEvent(device)) {
    const c10::impl::VirtualGuardImpl guard(device.type());
    // Uses an idle stream: no work delays the event, and no work is waited for.
    const c10::Stream stream = guard.getStreamFromGlobalPool(device);
    event.record(stream);  // creates the event, which takes longer
    event.synchronize();
    const std::uint64_t before = readTicks();
    event.record(stream);
    event.synchronize();
    ticks = before + (readTicks() - before) / 2;
  }

  c10::Event event;
  std::uint64_t ticks = 0;
};

/// A call on a device.
struct DeviceTimer::Call {
  Call(c10::Device on, const c10::Stream& its)
      : device(on), stream(its), start(timingEvent(on)), stop(timingEvent(on)) {}

  c10::Device device;
  c10::Stream stream;
  c10::Event start;
  c10::Event stop;
  std::shared_ptr<const Anchor> anchor;  ///< Before `start`.
  std::uint64_t ticks = 0;               ///< Its start on the host.
  std::uint64_t payload = 0;
  std::uint16_t nameId = 0;
};

struct DeviceTimer::OpenCall {
  const void* owner = nullptr;
  std::optional<Call> call;
};

/// The spans of one stream, collected by take().
class DeviceTimer::StreamSpans {
 public:
  /// @return false if the device has not finished the call.
  bool add(const Call& call, bool waits) {
    if (isBehind_ && !waits) {
      return false;
    }
    if (waits) {
      call.stop.synchronize();
    } else if (!call.stop.query()) {
      isBehind_ = true;  // so are all later calls on this stream
      return false;
    }
    // The clocks were compared with an error of some microseconds, but nothing runs before its
    // launch.
    const std::uint64_t start = std::max(
        call.ticks, call.anchor->ticks + ticksOf(nanosBetween(call.anchor->event, call.start)));
    const std::uint64_t ticks = ticksOf(nanosBetween(call.start, call.stop));
    records_.push_back({start, start + ticks, call.payload, call.nameId, 0, 0, SpanKind::kDevice,
                        /*flags=*/0, 0});
    return true;
  }

  ArrayView<const SpanRecord> inOrderOfEnds() {
    std::stable_sort(records_.begin(), records_.end(),
                     [](const auto& a, const auto& b) { return a.endTicks < b.endTicks; });
    return {records_.data(), records_.size()};
  }

 private:
  bool isBehind_ = false;
  std::vector<SpanRecord> records_;
};

DeviceTimer& DeviceTimer::instance() {
  // Never destroyed: at the end of a program, devices may be gone before their events.
  static DeviceTimer& timer = *new DeviceTimer;
  return timer;
}

bool DeviceTimer::hasDevices() {
  for (int i = 0; i < c10::COMPILE_TIME_MAX_DEVICE_TYPES; ++i) {
    const auto type = static_cast<c10::DeviceType>(i);
    if (isTimed(type) && c10::impl::hasDeviceGuardImpl(type) &&
        c10::impl::getDeviceGuardImpl(type)->deviceCount() > 0) {
      return true;
    }
  }
  return false;
}

DeviceTimer::OpenCall& DeviceTimer::openOnThisThread() {
  thread_local OpenCall open;
  return open;
}

void DeviceTimer::begin(const void* owner, std::uint16_t nameId, std::uint64_t payload,
                        c10::ArrayRef<const c10::IValue> inputs) noexcept {
  OpenCall& open = openOnThisThread();
  if (open.owner != nullptr) {
    return;
  }
  std::optional<c10::Device> device;
  try {
    device = deviceOf(inputs);
    if (!device || isRefused(device->type())) {
      return;
    }
    open.call = beginOn(*device);
    open.call->payload = payload;
    open.call->nameId = nameId;
    open.owner = owner;
  } catch (const std::exception& error) {
    open.call.reset();
    if (device) {
      note(device->type(), error);
    }
  }
}

DeviceTimer::Call DeviceTimer::beginOn(c10::Device device) {
  const c10::Stream stream = c10::impl::VirtualGuardImpl(device.type()).getStream(device);
  std::shared_ptr<const Anchor> anchor = anchorOf(device);
  std::optional<Call> call;
  {
    const base::MutexLock lock(mutex_);
    // Reuses an event of the same device.
    const auto unused = std::find_if(unused_.begin(), unused_.end(),
                                     [&](const Call& each) { return each.device == device; });
    if (unused != unused_.end()) {
      std::swap(*unused, unused_.back());
      call.emplace(std::move(unused_.back()));
      unused_.pop_back();
    }
  }
  if (!call) {
    call.emplace(device, stream);
  }
  call->stream = stream;
  call->anchor = std::move(anchor);
  call->ticks = readTicks();
  call->start.record(stream);
  return std::move(*call);
}

std::shared_ptr<const DeviceTimer::Anchor> DeviceTimer::anchorOf(c10::Device device) {
  {
    const base::MutexLock lock(mutex_);
    for (const auto& [of, anchor] : anchors_) {
      if (of == device) {
        return anchor;
      }
    }
  }
  auto anchor = std::make_shared<const Anchor>(device);
  const base::MutexLock lock(mutex_);
  anchors_.emplace_back(device, anchor);
  return anchor;
}

void DeviceTimer::end(const void* owner) noexcept {
  OpenCall& open = openOnThisThread();
  if (open.owner != owner) {
    return;
  }
  open.owner = nullptr;
  try {
    open.call->stop.record(open.call->stream);
    const base::MutexLock lock(mutex_);
    if (calls_.size() == kMaxCalls) {
      ++dropped_;
      unused_.push_back(std::move(*open.call));
    } else {
      calls_.push_back(std::move(*open.call));
    }
  } catch (const std::exception& error) {
    note(open.call->device.type(), error);
  }
  open.call.reset();
}

/// Compares the clocks of a device again if the last comparison is old.
void DeviceTimer::renewAnchors() {
  std::vector<c10::Device> old;
  {
    const base::MutexLock lock(mutex_);
    const std::uint64_t now = readTicks();
    const std::uint64_t longAgo = ticksOf(kAnchorNanos);
    for (const auto& [device, anchor] : anchors_) {
      if (now - anchor->ticks > longAgo) {
        old.push_back(device);
      }
    }
  }
  for (const c10::Device device : old) {
    try {
      auto renewed = std::make_shared<const Anchor>(device);
      const base::MutexLock lock(mutex_);
      for (auto& [of, anchor] : anchors_) {
        if (of == device) {
          anchor = renewed;
        }
      }
    } catch (const std::exception& error) {
      note(device.type(), error);
    }
  }
}

void DeviceTimer::note(c10::DeviceType type, const std::exception& error) noexcept {
  try {
    const std::string what = error.what();
    const base::MutexLock lock(mutex_);
    problems_.emplace(type, c10::DeviceTypeName(type, /*lower_case=*/true) +
                                " is not timed any further: " + what.substr(0, what.find('\n')));
  } catch (const std::exception&) {  // no memory for the message
  }
}

bool DeviceTimer::isRefused(c10::DeviceType type) const {
  const base::MutexLock lock(mutex_);
  return problems_.count(type) != 0;
}

void DeviceTimer::clear() noexcept {
  const base::MutexLock lock(mutex_);
  calls_.clear();
  dropped_ = 0;
  problems_.clear();
}

std::string DeviceTimer::problem() const {
  const base::MutexLock lock(mutex_);
  std::string all;
  for (const auto& [type, problem] : problems_) {
    all += (all.empty() ? "" : "; ") + problem;
  }
  return all;
}

void DeviceTimer::take(std::uint64_t since, std::uint64_t until, bool waits,
                       const std::function<void(const process::SpanBatch&)>& sink) {
  std::deque<Call> calls;
  std::uint64_t dropped = 0;
  {
    const base::MutexLock lock(mutex_);
    calls.swap(calls_);
    std::swap(dropped, dropped_);
  }
  std::map<std::pair<int, std::uint64_t>, StreamSpans> streams;  // by device and number
  const auto isLater = [&](Call& call) {
    try {
      const std::pair<int, std::uint64_t> where(call.device.index(), call.stream.id());
      return call.ticks > until || (call.ticks >= since && !streams[where].add(call, waits));
    } catch (const std::exception& error) {  // for example events that are part of a CUDA graph
      ++dropped;
      note(call.device.type(), error);
      return false;
    }
  };
  const auto done = std::stable_partition(calls.begin(), calls.end(), isLater);
  {
    const base::MutexLock lock(mutex_);
    calls_.insert(calls_.begin(), std::make_move_iterator(calls.begin()),
                  std::make_move_iterator(done));
    unused_.insert(unused_.end(), std::make_move_iterator(done),
                   std::make_move_iterator(calls.end()));
  }
  for (auto& [where, spans] : streams) {
    sink({where.second, "", spans.inOrderOfEnds(), std::exchange(dropped, 0), where.first});
  }
  renewAnchors();
  if (dropped != 0) {
    sink({0, "", {}, dropped});
  }
}

}  // namespace steptape::detail::libtorch

#else

namespace steptape::detail::libtorch {

struct DeviceTimer::Call {};
struct DeviceTimer::Anchor {};

DeviceTimer& DeviceTimer::instance() {
  static DeviceTimer& timer = *new DeviceTimer;
  return timer;
}
bool DeviceTimer::hasDevices() {
  return false;
}
void DeviceTimer::begin(const void*, std::uint16_t, std::uint64_t,
                        c10::ArrayRef<const c10::IValue>) noexcept {}
void DeviceTimer::end(const void*) noexcept {}
void DeviceTimer::take(std::uint64_t, std::uint64_t, bool,
                       const std::function<void(const SpanBatch&)>&) {}
void DeviceTimer::clear() noexcept {}
std::string DeviceTimer::problem() const {
  return "";
}

}  // namespace steptape::detail::libtorch

#endif
