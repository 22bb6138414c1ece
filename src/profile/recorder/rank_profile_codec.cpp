// SPDX-License-Identifier: Apache-2.0
#include "profile/recorder/rank_profile_codec.h"

#include <chrono>
#include <cstdint>

#include "steptape/base/status.h"

#include "events/messages/wire_cursor.h"
#include "events/messages/wire_format.h"

namespace steptape::detail::profile {
namespace {

using std::chrono::nanoseconds;

class Encoder {
 public:
  Encoder& number(std::int64_t value) {
    events::appendVarint(&bytes_, static_cast<std::uint64_t>(value));
    return *this;
  }
  Encoder& count(std::uint64_t value) {
    events::appendVarint(&bytes_, value);
    return *this;
  }
  Encoder& text(std::string_view text) {
    events::appendVarint(&bytes_, text.size());
    bytes_.append(text);
    return *this;
  }
  std::string take() { return std::move(bytes_); }

 private:
  std::string bytes_;
};

class Decoder {
 public:
  explicit Decoder(std::string_view bytes) : cursor_(bytes) {}

  std::uint64_t count() {
    std::uint64_t value = 0;
    check(cursor_.varint(&value));
    return value;
  }
  std::int64_t number() { return static_cast<std::int64_t>(count()); }
  std::string text() {
    std::string_view text;
    check(cursor_.bytes(&text));
    return std::string(text);
  }

 private:
  static void check(bool isGood) {
    if (!isGood) {
      throw Error(ErrorCode::kRankMismatch,
                  "profiles of the ranks: got other data than a profile; expected the same program "
                  "on every rank");
    }
  }

  events::WireCursor cursor_;
};

OpStats decodeOperator(Decoder* in) {
  OpStats op;
  op.name = in->text();
  op.kind = static_cast<SpanKind>(in->count());
  op.calls = in->count();
  op.self = nanoseconds(in->number());
  op.total = nanoseconds(in->number());
  return op;
}

StepSummary decodeStep(Decoder* in) {
  StepSummary step;
  step.number = in->number();
  step.total = in->number();
  for (const StepSummaryPart& part : kStepSummaryParts) {
    step.*part.nanos = in->number();
  }
  return step;
}

}  // namespace

std::string encodeRankProfile(const RankProfile& rank) {
  Encoder out;
  out.text(rank.nodeName).number(rank.profile.steps).count(rank.profile.dropped);
  out.count(rank.profile.operators.size());
  for (const OpStats& op : rank.profile.operators) {
    out.text(op.name).count(static_cast<std::uint64_t>(op.kind)).count(op.calls);
    out.number(op.self.count()).number(op.total.count());
  }
  out.count(rank.steps.size());
  for (const StepSummary& step : rank.steps) {
    out.number(step.number).number(step.total);
    for (const StepSummaryPart& part : kStepSummaryParts) {
      out.number(step.*part.nanos);
    }
  }
  return out.take();
}

RankProfile decodeRankProfile(std::string_view bytes) {
  Decoder in(bytes);
  RankProfile rank;
  rank.nodeName = in.text();
  rank.profile.steps = in.number();
  rank.profile.dropped = in.count();
  for (std::uint64_t left = in.count(); left > 0; --left) {
    rank.profile.operators.push_back(decodeOperator(&in));
  }
  for (std::uint64_t left = in.count(); left > 0; --left) {
    rank.steps.push_back(decodeStep(&in));
  }
  return rank;
}

}  // namespace steptape::detail::profile
