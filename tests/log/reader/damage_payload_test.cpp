// SPDX-License-Identifier: Apache-2.0
//
// Records with valid checksums and hostile payloads: the reader reports them, and reads the records
// around them.
#include <cmath>
#include <cstring>
#include <limits>

#include "events/framing/record_bytes.h"
#include "events/messages/wire_bytes.h"
#include "log/reader/run_contents.h"
#include "log/reader/run_fixture.h"

namespace steptape {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Pair;
using ::testing::SizeIs;

constexpr std::size_t kMiB = std::size_t{1} << 20;

std::string repeated(const std::string& piece, std::size_t times) {
  std::string out;
  out.reserve(piece.size() * times);
  for (std::size_t i = 0; i < times; ++i) {
    out += piece;
  }
  return out;
}
/// Returns an event of step 2 whose summary is `values`.
std::string eventOf(const std::string& values) {
  return numberField(2, 2) + bytesField(5, values);
}
std::string valueOf(const std::string& fields) {
  return bytesField(1, bytesField(1, "hostile") + fields);
}
std::string eventOfTensor(const std::string& tensor) {
  return eventOf(valueOf(bytesField(8, tensor)));
}
std::string dimension(std::int64_t size) {
  return bytesField(2, numberField(1, static_cast<std::uint64_t>(size)));
}
std::string floatTensor(const std::string& dimensions) {
  return numberField(1, 1) + bytesField(2, dimensions);
}

class HostilePayload : public RunFixture {
 protected:
  /// Reads a run in which `payload` is between two scalars, which must be read.
  RunReader readBetween(const std::string& payload) const {
    const std::string record = recordOf(payload);
    writeBytes(kFirst, before_ + record + framed({simpleScalar("loss", 3, 3)}));
    RunReader run = read();
    EXPECT_THAT(points(run, "loss"), ElementsAre(Pair(1, 1), Pair(3, 3)));
    return run;
  }
  RunContents streamed() const {
    return streamedContents(listRuns(root_).at(0), PurgePolicy::kRestarts);
  }
  /// Like readBetween(), and expects RunEvents to return the same.
  RunReader readAround(const std::string& payload) const {
    RunReader run = readBetween(payload);
    EXPECT_TRUE(contentsOf(run) == streamed());
    return run;
  }
  void expectDamage(const std::string& payload, const std::string& message) const {
    const RunReader run = readAround(payload);
    EXPECT_THAT(run.damage(),
                ElementsAre(IsDamage(before_.size(), recordOf(payload).size(),
                                     message + " at offset " + std::to_string(before_.size()) +
                                         " of " + path(kFirst))));
    EXPECT_THAT(run.tags(), SizeIs(1));
  }
  static std::string notAnEvent(const std::string& payload) {
    return "record: got " + std::to_string(payload.size()) +
           " other bytes; expected a tensorflow.Event message";
  }
  static std::string payloadOf(const event::Event& event) {
    std::string payload;
    detail::events::encodeEvent(event, &payload);
    return payload;
  }

  const std::string before_ = framed({simpleScalar("loss", 1, 1)});
};

TEST_F(HostilePayload, ThatIsNotAMessageIsDamage) {
  for (const std::string& payload :
       {std::string("\x10"), std::string("\x0f"), std::string("\x2a\x05x"), std::string(1, '\0'),
        std::string(300, '\xff')}) {
    expectDamage(payload, notAnEvent(payload));
  }
}

TEST_F(HostilePayload, ThatIsNotAMessageSeveralTimesIsOneGap) {
  const std::string record = recordOf("\x10");
  writeBytes(kFirst, before_ + record + record + record + before_ + record + before_);
  EXPECT_THAT(read().damage(),
              ElementsAre(IsDamage(before_.size(), 3 * record.size(),
                                   "other bytes; expected a tensorflow.Event message"),
                          IsDamage(2 * before_.size() + 3 * record.size(), record.size(),
                                   "other bytes; expected a tensorflow.Event message")));
}

TEST_F(HostilePayload, ThatIsEmptyIsAnEventWithoutContent) {
  EXPECT_THAT(readAround("").damage(), IsEmpty());
}

TEST_F(HostilePayload, WithAVarintOfElevenBytesIsDamage) {
  const std::string payload = "\x10" + std::string(10, '\xff') + '\x01';
  expectDamage(payload, notAnEvent(payload));
}

TEST_F(HostilePayload, WithASizeThatWrapsAroundIsDamage) {
  for (const std::string& size :
       {std::string("\xff\xff\xff\xff\x07"), std::string("\xff\xff\xff\xff\x0f"),
        std::string(9, '\xff') + '\x01'}) {
    expectDamage("\x2a" + size + "x", notAnEvent("\x2a" + size + "x"));
  }
}

TEST_F(HostilePayload, OfDeeplyNestedGroupsIsDamage) {
  const std::string open(1 * kMiB, '\x7b');  // field 15, start of a group
  expectDamage(open, notAnEvent(open));
  const std::string balanced = open + std::string(1 * kMiB, '\x7c');
  expectDamage(balanced, notAnEvent(balanced));
}

TEST_F(HostilePayload, OfDeeplyNestedMessagesIsRead) {
  // No message of an event contains itself, so that the types limit the depth.
  std::string nested;
  for (int depth = 0; depth < 2000; ++depth) {
    nested = bytesField(8, nested);
  }
  const RunReader run = readAround(eventOf(valueOf(nested)));
  EXPECT_LE(run.damage().size(), 1u);
}

TEST_F(HostilePayload, OfMillionsOfEmptyPartsIsRefusedBeforeTheyAreMade) {
  const std::string empty("\x0a\x00", 2);
  const std::string message = "event of too many small parts: got ";
  for (const std::string& payload :
       {eventOf(repeated(empty, 2 * kMiB)),                                        // values
        eventOfTensor(floatTensor(repeated(bytesField(2, ""), 2 * kMiB))),         // dimensions
        eventOfTensor(numberField(1, 7) + repeated(bytesField(8, ""), 2 * kMiB)),  // texts
        eventOfTensor(numberField(1, 9) + bytesField(10, std::string(8 * kMiB, '\0'))),  // packed
        eventOfTensor(numberField(1, 9) + repeated(numberField(10, 1), 8 * kMiB))}) {
    const RunReader run = readBetween(payload);
    // Large values are only located; reading them back is rejected.
    std::string refusal;
    if (run.damage().empty()) {
      event::Value value;
      refusal = run.value(run.tags().at("hostile").values.at(0), &value).message();
    } else {
      refusal = run.damage()[0].status.message();
    }
    EXPECT_THAT(refusal, ::testing::AllOf(::testing::StartsWith(message),
                                          ::testing::HasSubstr(" bytes of memory; expected at most "
                                                               "134217728")));
    const RunContents events = streamed();
    EXPECT_THAT(events.scalars.at("loss"), SizeIs(2));
    ASSERT_THAT(events.damage, SizeIs(1));
    EXPECT_THAT(std::get<0>(events.damage[0]), ::testing::StartsWith(message));
  }
}

TEST_F(HostilePayload, OfManyHugeTensorsWithoutValuesIsRejected) {
  // Each alone would be accepted.
  const std::string tensor = valueOf(bytesField(8, floatTensor(dimension(12 << 20))));
  EXPECT_THAT(readAround(eventOf(tensor)).damage(), IsEmpty());
  expectDamage(eventOf(repeated(tensor, 100)),
               "tensor too large: got 0 values; expected one for each of 12582912 elements in tag "
               "'hostile'");
}

TEST_F(HostilePayload, WithAnInvalidShapeIsDamage) {
  constexpr std::int64_t kMin = std::numeric_limits<std::int64_t>::min();  // 2^63 as unsigned
  expectDamage(eventOfTensor(floatTensor(dimension(-1))),
               "tensor shape: got dimension -1; expected 0 or more, and fewer than 2^64 elements "
               "in tag 'hostile'");
  expectDamage(eventOfTensor(floatTensor(dimension(kMin))),
               "tensor shape: got dimension -9223372036854775808; expected 0 or more, and fewer "
               "than 2^64 elements in tag 'hostile'");
  expectDamage(eventOfTensor(floatTensor(repeated(dimension(std::int64_t{1} << 32), 3))),
               "tensor shape: got dimension 4294967296; expected 0 or more, and fewer than 2^64 "
               "elements in tag 'hostile'");
  expectDamage(eventOfTensor(floatTensor(dimension(std::numeric_limits<std::int64_t>::max()))),
               "tensor too large: got 0 values; expected one for each of 9223372036854775807 "
               "elements in tag 'hostile'");
}

TEST_F(HostilePayload, WhoseShapeAndContentDisagreeIsNotAScalar) {
  const RunReader run = readAround(
      eventOf(valueOf(bytesField(8, floatTensor(dimension(1000)) + bytesField(4, "1234567")))));
  EXPECT_EQ(run.tags().at("hostile").scalars.size(), 0u);
  ASSERT_THAT(run.tags().at("hostile").values, SizeIs(1));
  event::Value value;
  ASSERT_TRUE(run.value(run.tags().at("hostile").values[0], &value).ok());
  EXPECT_EQ(std::get<event::Tensor>(value.data).content, "1234567");
}

TEST_F(HostilePayload, WithATagThatIsNotUtf8KeepsItsBytes) {
  const std::string tag = "\xff\xc0\x80\xed\xa0\x80";
  const RunReader run = readAround(payloadOf(simpleScalar(tag, 0.5F, 2)));
  EXPECT_THAT(run.damage(), IsEmpty());
  EXPECT_THAT(points(run, tag), ElementsAre(Pair(2, 0.5)));
}

TEST_F(HostilePayload, WithATagOfMegabytesOrNoneIsRead) {
  const std::string tag(4 * kMiB, 't');
  const RunReader run = readAround(payloadOf(simpleScalar(tag, 0.5F, 2)));
  EXPECT_THAT(points(run, tag), ElementsAre(Pair(2, 0.5)));
  EXPECT_THAT(points(readAround(payloadOf(simpleScalar("", 0.5F, 2))), ""),
              ElementsAre(Pair(2, 0.5)));
}

TEST_F(HostilePayload, WithANonFiniteTimeKeepsIt) {
  for (const double time :
       {std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity(),
        -std::numeric_limits<double>::max()}) {
    event::Event event = simpleScalar("hostile", 0.5F, 2);
    event.wallTime = time;
    const RunReader run = readAround(payloadOf(event));
    const double got = run.tags().at("hostile").scalars.wallTimes.at(0);
    EXPECT_EQ(std::memcmp(&got, &time, sizeof time), 0) << time;
  }
}

TEST_F(HostilePayload, AtTheFirstAndTheLastStepThereIsKeepsThem) {
  for (const std::int64_t step :
       {std::numeric_limits<std::int64_t>::min(), std::numeric_limits<std::int64_t>::max()}) {
    EXPECT_THAT(points(readAround(payloadOf(simpleScalar("hostile", 0.5F, step))), "hostile"),
                ElementsAre(Pair(step, 0.5)));
  }
}

TEST_F(HostilePayload, OfARestartAtTheFirstStepThereIsDropsEverything) {
  writeEvents(kFirst,
              {version(), simpleScalar("loss", 1, 1),
               simpleScalar("loss", 1, std::numeric_limits<std::int64_t>::min()),
               start(std::numeric_limits<std::int64_t>::min()), simpleScalar("loss", 2, 2)});
  EXPECT_THAT(points("loss"), ElementsAre(Pair(2, 2)));
}

TEST_F(HostilePayload, WithInvalidMetadataIsDamage) {
  const std::string payload =
      eventOf(valueOf(std::string("\x15\0\0\0\0", 5) + bytesField(9, "\x0a\x05x")));
  expectDamage(payload, notAnEvent(payload));
}

TEST_F(HostilePayload, WithAnInvalidVersionChangesNothing) {
  for (const std::string version :
       {"", ":", "brain.Event:", "brain.Event:nan", "\xff:1e999", "2"}) {
    EXPECT_THAT(readAround(payloadOf(eventAt(0, event::FileVersion{version}))).damage(), IsEmpty());
  }
}

TEST_F(HostilePayload, OfManyTagsIsRead) {
  std::string values;
  for (int i = 0; i < 20'000; ++i) {
    values += bytesField(1, bytesField(1, std::to_string(i)) + std::string("\x15\0\0\0\0", 5));
  }
  const RunReader run = readAround(eventOf(values));
  EXPECT_THAT(run.damage(), IsEmpty());
  EXPECT_THAT(run.tags(), SizeIs(20'001));
}

}  // namespace
}  // namespace steptape
