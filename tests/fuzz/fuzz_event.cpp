// SPDX-License-Identifier: Apache-2.0
// Fuzzes bytes as an event: ScalarEventView and Protocol Buffers agree, and a decoded event is
// unchanged after encoding and decoding.
#include <string>
#include <string_view>

#include "steptape/base/status.h"

#include "events/messages/event_codec.h"
#include "events/messages/scalar_agreement.h"
#include "fuzz/fuzz_input.h"

namespace steptape {
namespace {

void checkRoundTrip(const event::Event& event) {
  std::string encoded;
  detail::events::encodeEvent(event, &encoded);
  event::Event again;
  require(detail::events::decodeEvent(encoded, &again).ok(), "an encoded event decodes");
  require(again.step == event.step, "the step comes back");
  require(hasSameBits(again.wallTime, event.wallTime), "the wall time comes back");
  require(again.what.index() == event.what.index(), "the kind of event comes back");
  std::string encodedAgain;
  detail::events::encodeEvent(again, &encodedAgain);
  require(encodedAgain == encoded, "an event has one encoding");
}

void readEvent(std::string_view payload) {
  const std::string disagreement = scalarDisagreement(payload);
  require(disagreement.empty(), disagreement.c_str());
  event::Event event;
  if (detail::events::decodeEvent(payload, &event).ok()) {
    checkRoundTrip(event);
  }
}

}  // namespace
}  // namespace steptape

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  steptape::readEvent({reinterpret_cast<const char*>(data), size});
  return 0;
}
