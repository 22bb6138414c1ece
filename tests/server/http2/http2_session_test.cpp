// SPDX-License-Identifier: Apache-2.0
#include "server/http2/http2_session.h"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <new>
#include <string>
#include <vector>

#include "server/http2/http2_client.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace steptape::detail::server {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

constexpr std::uint32_t kNoError = 0;
constexpr std::uint32_t kInternalError = 2;

/// What a test decides about an answer.
struct Script {
  std::string body = "body";
  bool isReady = true;
  bool hasMemory = true;
  int exchanges = 0;  ///< Alive.
};

class ScriptedExchange : public Http2Exchange {
 public:
  explicit ScriptedExchange(Script* script) : script_(script) { ++script_->exchanges; }
  ScriptedExchange(const ScriptedExchange&) = delete;
  ScriptedExchange& operator=(const ScriptedExchange&) = delete;
  ~ScriptedExchange() override { --script_->exchanges; }

  bool head(Http2Head* head) override {
    *head = {{{":status", "200"}}, false};
    return true;
  }
  Http2Read read(char* out, std::size_t size) override {
    if (!script_->hasMemory) {
      throw std::bad_alloc();
    }
    if (!script_->isReady) {
      return {};
    }
    const std::size_t count = std::min(size, script_->body.size() - sent_);
    std::memcpy(out, script_->body.data() + sent_, count);
    sent_ += count;
    return {count, sent_ == script_->body.size()};
  }
  Http2Fields trailers() override { return {{"grpc-status", "0"}}; }

 private:
  Script* const script_;
  std::size_t sent_ = 0;
};

/// Answers at once with headers only.
class RejectingExchange : public Http2Exchange {
 public:
  bool head(Http2Head* head) override {
    *head = {{{":status", "413"}}, true};
    return true;
  }
  Http2Read read(char* /*out*/, std::size_t /*size*/) override { return {0, true}; }
  Http2Fields trailers() override { return {}; }
};

class ScriptedHandler : public Http2Handler {
 public:
  std::unique_ptr<Http2Exchange> start(const Http2StreamId& id, Http2Request request) override {
    ids.push_back(id.stream);
    requests.push_back(std::move(request));
    if (requests.back().isTooLarge) {
      return std::make_unique<RejectingExchange>();
    }
    return std::make_unique<ScriptedExchange>(&script);
  }

  Script script;
  std::vector<std::int32_t> ids;
  std::vector<Http2Request> requests;
};

/// Returns a frame of the given type, such as 6 for PING.
std::string frame(int type, int flags, std::uint32_t stream, const std::string& payload) {
  std::string bytes;
  for (const unsigned shift : {16U, 8U, 0U}) {
    bytes += static_cast<char>(payload.size() >> shift);
  }
  bytes += static_cast<char>(type);
  bytes += static_cast<char>(flags);
  for (const unsigned shift : {24U, 16U, 8U, 0U}) {
    bytes += static_cast<char>(stream >> shift);
  }
  return bytes + payload;
}

class Http2SessionTest : public ::testing::Test {
 protected:
  /// Exchanges bytes until neither side has more.
  void talk(Http2Session* session, Http2Client* client) {
    for (bool isTalking = true; isTalking;) {
      const std::string request = client->take();
      isOpen_ = isOpen_ && (request.empty() || session->receive(request, now_));
      std::string answer;
      ASSERT_TRUE(session->fill(&answer, 1 << 30));
      ASSERT_TRUE(client->receive(answer));
      isTalking = isOpen_ && (!request.empty() || !answer.empty());
    }
  }
  void talk() { talk(&session_, &client_); }

  Http2Session::Time now_{std::chrono::hours(1)};
  ScriptedHandler handler_;
  Http2BodyMemory memory_;
  Http2Session session_{7, &handler_, &memory_};
  Http2Client client_;
  bool isOpen_ = true;
};

TEST_F(Http2SessionTest, AnswersARequest) {
  const std::int32_t stream = client_.post("/a/b", "question");
  talk();
  ASSERT_EQ(handler_.requests.size(), 1U);
  EXPECT_EQ(handler_.requests[0].method, "POST");
  EXPECT_EQ(handler_.requests[0].path, "/a/b");
  EXPECT_EQ(handler_.requests[0].contentType, "application/grpc");
  EXPECT_EQ(handler_.requests[0].body, "question");
  EXPECT_THAT(client_.answer(stream).fields, ElementsAre(":status: 200", "grpc-status: 0"));
  EXPECT_EQ(client_.answer(stream).body, "body");
  EXPECT_EQ(client_.answer(stream).errorCode, kNoError);
  EXPECT_EQ(handler_.script.exchanges, 0);
  EXPECT_TRUE(session_.isEstablished());
}

TEST_F(Http2SessionTest, TakesBytesThatAreSplitAnywhere) {
  client_.post("/path", "question");
  const std::string bytes = client_.take();
  ASSERT_GT(bytes.size(), 50U);
  for (std::size_t split = 0; split <= bytes.size(); ++split) {
    ScriptedHandler handler;
    Http2Session session(1, &handler, &memory_);
    ASSERT_TRUE(session.receive(bytes.substr(0, split), now_)) << split;
    ASSERT_TRUE(session.receive(bytes.substr(split), now_)) << split;
    ASSERT_EQ(handler.requests.size(), 1U) << split;
    EXPECT_EQ(handler.requests[0].path, "/path") << split;
    EXPECT_EQ(handler.requests[0].body, "question") << split;
  }
}

TEST_F(Http2SessionTest, TakesSingleBytes) {
  client_.post("/path", "question");
  for (const char byte : client_.take()) {
    ASSERT_TRUE(session_.receive({&byte, 1}, now_));
  }
  ASSERT_EQ(handler_.requests.size(), 1U);
  EXPECT_EQ(handler_.requests[0].body, "question");
}

TEST_F(Http2SessionTest, WaitsForAnAnswerWithoutDelayingOthers) {
  handler_.script.isReady = false;
  const std::int32_t late = client_.post("/late", "");
  talk();
  EXPECT_FALSE(client_.answer(late).isClosed);
  EXPECT_EQ(session_.openAnswers(), 1U);
  handler_.script.isReady = true;
  const std::int32_t prompt = client_.post("/prompt", "");
  talk();
  EXPECT_TRUE(client_.answer(prompt).isClosed);
  EXPECT_FALSE(client_.answer(late).isClosed) << "nobody has woken it";
  session_.wake(late);
  talk();
  EXPECT_TRUE(client_.answer(late).isClosed);
  EXPECT_EQ(client_.answer(late).body, "body");
  EXPECT_EQ(session_.openAnswers(), 0U);
}

TEST_F(Http2SessionTest, WakesAllStreams) {
  handler_.script.isReady = false;
  const std::int32_t first = client_.post("/path", "");
  const std::int32_t second = client_.post("/path", "");
  talk();
  handler_.script.isReady = true;
  session_.wakeAll();
  talk();
  EXPECT_TRUE(client_.answer(first).isClosed);
  EXPECT_TRUE(client_.answer(second).isClosed);
}

TEST_F(Http2SessionTest, IgnoresTheWakingOfAClosedStream) {
  const std::int32_t stream = client_.post("/path", "");
  talk();
  session_.wake(stream);
  session_.wake(stream + 2);
  talk();
  EXPECT_TRUE(isOpen_);
}

TEST_F(Http2SessionTest, SendsNoMoreThanTheClientAllows) {
  handler_.script.body.assign(300'000, 'x');
  const std::int32_t stream = client_.post("/path", "");
  talk();
  EXPECT_EQ(client_.answer(stream).body.size(), 65'535U);
  client_.consume(stream, 65'535);
  talk();
  EXPECT_EQ(client_.answer(stream).body.size(), 2 * 65'535U);
  while (!client_.answer(stream).isClosed) {
    client_.consume(stream, 65'535);
    talk();
  }
  EXPECT_EQ(client_.answer(stream).body, handler_.script.body);
}

TEST_F(Http2SessionTest, AnswersOneStreamWhileAnotherIsBlocked) {
  handler_.script.body.assign(100'000, 'x');
  const std::int32_t blocked = client_.post("/path", "");
  talk();
  handler_.script.body = "small";
  const std::int32_t small = client_.post("/path", "");
  talk();
  EXPECT_FALSE(client_.answer(blocked).isClosed);
  EXPECT_EQ(client_.answer(small).body, "small");
}

TEST_F(Http2SessionTest, DestroysTheExchangeOfACanceledStream) {
  handler_.script.isReady = false;
  const std::int32_t stream = client_.post("/path", "question");
  talk();
  EXPECT_EQ(handler_.script.exchanges, 1);
  EXPECT_EQ(memory_.used, 8U);
  client_.cancel(stream);
  talk();
  EXPECT_EQ(handler_.script.exchanges, 0);
  EXPECT_EQ(session_.openAnswers(), 0U);
  EXPECT_EQ(memory_.used, 0U);
  EXPECT_TRUE(isOpen_);
}

TEST_F(Http2SessionTest, DestroysTheExchangesOfALostConnection) {
  handler_.script.isReady = false;
  {
    Http2Session session(1, &handler_, &memory_);
    Http2Client client;
    client.post("/path", "question");
    talk(&session, &client);
    EXPECT_EQ(handler_.script.exchanges, 1);
  }
  EXPECT_EQ(handler_.script.exchanges, 0);
  EXPECT_EQ(memory_.used, 0U);
}

TEST_F(Http2SessionTest, TakesABodyOfTheLargestSize) {
  client_.post("/path", std::string(kMaxRequestBytes, 'x'));
  talk();
  ASSERT_EQ(handler_.requests.size(), 1U);
  EXPECT_FALSE(handler_.requests[0].isTooLarge);
  EXPECT_EQ(handler_.requests[0].body.size(), kMaxRequestBytes);
}

TEST_F(Http2SessionTest, AnswersATooLargeBodyBeforeItsEnd) {
  const std::int32_t stream = client_.post("/path", std::string(10 * kMaxRequestBytes, 'x'));
  talk();
  ASSERT_EQ(handler_.requests.size(), 1U);
  EXPECT_TRUE(handler_.requests[0].isTooLarge);
  EXPECT_THAT(handler_.requests[0].body, IsEmpty());
  EXPECT_THAT(client_.answer(stream).fields, ElementsAre(":status: 413"));
  EXPECT_EQ(client_.answer(stream).errorCode, kNoError);
  EXPECT_EQ(memory_.used, 0U);
  client_.post("/path", "small");
  talk();
  EXPECT_EQ(handler_.requests.back().body, "small");
}

TEST_F(Http2SessionTest, BoundsTheBodiesOfAllConnectionsTogether) {
  memory_.used = Http2BodyMemory::kLimit - 10;
  client_.post("/path", std::string(10, 'x'));
  talk();
  EXPECT_FALSE(handler_.requests.at(0).isTooLarge);
  memory_.used = Http2BodyMemory::kLimit - 10;
  client_.post("/path", std::string(11, 'x'));
  talk();
  EXPECT_TRUE(handler_.requests.at(1).isTooLarge);
  EXPECT_EQ(memory_.used, Http2BodyMemory::kLimit - 10);
}

TEST_F(Http2SessionTest, ResetsAStreamWithTooLargeHeaders) {
  const std::int32_t large = client_.post("/path", "", {{"name", std::string(9'000, 'x')}});
  const std::int32_t small = client_.post("/path", "", {{"name", std::string(7'000, 'x')}});
  talk();
  EXPECT_TRUE(isOpen_);
  EXPECT_EQ(client_.answer(large).errorCode, kInternalError);
  EXPECT_EQ(client_.answer(small).body, "body");
  EXPECT_EQ(handler_.requests.size(), 1U);
}

TEST_F(Http2SessionTest, RejectsWhatIsNotHttp2) {
  for (const std::string text : {"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n", "\x16\x03\x01",
                                 "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\nno frames follow here"}) {
    Http2Session session(1, &handler_, &memory_);
    std::string answer;
    const bool isOpen = session.receive(text, now_) && session.fill(&answer, 1 << 20);
    EXPECT_TRUE(!isOpen || session.hasEnded()) << text;
    EXPECT_FALSE(session.isEstablished()) << text;
  }
}

TEST_F(Http2SessionTest, ResetsAStreamWhoseAnswerHasNoMemory) {
  handler_.script.hasMemory = false;
  const std::int32_t failed = client_.post("/path", "");
  talk();
  EXPECT_TRUE(isOpen_);
  EXPECT_EQ(client_.answer(failed).errorCode, kInternalError);
  handler_.script.hasMemory = true;
  const std::int32_t next = client_.post("/path", "");
  talk();
  EXPECT_EQ(client_.answer(next).body, "body");
}

TEST_F(Http2SessionTest, EndsAfterItsLastAnswerWhenAskedTo) {
  handler_.script.isReady = false;
  const std::int32_t stream = client_.post("/path", "");
  talk();
  session_.sendGoaway();
  talk();
  EXPECT_TRUE(client_.hasGoaway());
  EXPECT_FALSE(session_.hasEnded());
  handler_.script.isReady = true;
  session_.wake(stream);
  talk();
  EXPECT_EQ(client_.answer(stream).body, "body");
  EXPECT_TRUE(session_.hasEnded());
}

const std::string kPreface = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";
const std::string kPing = frame(6, 0, 0, "12345678");
const std::string kSettings = frame(4, 0, 0, "");

/// Returns how many times a new session takes `bytes` after the beginning of a connection, at most
/// `most`.
int timesTaken(const std::string& bytes, int most, bool isClientReading) {
  ScriptedHandler handler;
  Http2BodyMemory memory;
  Http2Session session(1, &handler, &memory);
  const Http2Session::Time now{std::chrono::hours(1)};
  EXPECT_TRUE(session.receive(kPreface + kSettings, now));
  for (int count = 0; count < most; ++count) {
    std::string discarded;
    if (!session.receive(bytes, now) || session.hasEnded() ||
        (isClientReading && !session.fill(&discarded, 1 << 20))) {
      return count;
    }
  }
  return most;
}

TEST(Http2SessionFlood, EndsTheConnection) {
  const std::string priority = frame(2, 0, 1, std::string("\0\0\0\0\1", 5));
  for (const std::string& bytes : {kPing, kSettings, priority}) {
    const int taken = timesTaken(bytes, 20'000, true);
    EXPECT_GT(taken, 9'000) << "type " << static_cast<int>(bytes[3]);
    EXPECT_LE(taken, 10'000) << "type " << static_cast<int>(bytes[3]);
  }
}

TEST(Http2SessionFlood, EndsAConnectionThatSendsNothingButUnknownFrames) {
  EXPECT_LE(timesTaken(frame(0xBB, 0, 0, "unknown"), 100'000, true), (256 << 10) / 16);
}

TEST(Http2SessionFlood, EndsAConnectionThatSendsWrongRequests) {
  ScriptedHandler handler;
  Http2BodyMemory memory;
  Http2Session session(1, &handler, &memory);
  ASSERT_TRUE(session.receive(kPreface + kSettings, Http2Session::Time()));
  std::uint32_t stream = 1;
  std::string discarded;
  // ":method: POST" alone.
  while (stream < 40'000 && session.receive(frame(1, 5, stream, "\x83"), Http2Session::Time()) &&
         session.fill(&discarded, discarded.size() + (1 << 20))) {
    stream += 2;
  }
  EXPECT_LT(stream, 20'010U);
  EXPECT_THAT(handler.requests, IsEmpty());
}

TEST(Http2SessionFlood, EndsSoonerIfTheClientReadsNoAnswers) {
  for (const std::string& bytes : {kPing, kSettings}) {
    EXPECT_LE(timesTaken(bytes, 20'000, false), 1'001) << "type " << static_cast<int>(bytes[3]);
  }
}

TEST_F(Http2SessionTest, EndsAConnectionThatBeginsAndCancelsRequestsForEver) {
  handler_.script.isReady = false;
  int count = 0;
  for (; isOpen_ && !session_.hasEnded() && count < 20'000; ++count) {
    const std::int32_t stream = client_.post("/path", "");
    talk();
    client_.cancel(stream);
    talk();
    ASSERT_EQ(handler_.script.exchanges, 0);
  }
  EXPECT_LE(count, 10'000);
}

/// Returns how many frames of CONTINUATION a session takes in one header block, at most `most`.
int continuationsTaken(const std::string& payload, int most) {
  ScriptedHandler handler;
  Http2BodyMemory memory;
  Http2Session session(1, &handler, &memory);
  const Http2Session::Time now{std::chrono::hours(1)};
  // The last frame has no END_HEADERS.
  EXPECT_TRUE(session.receive(kPreface + kSettings + frame(1, 0, 1, "\x83"), now));
  int count = 0;
  while (count < most && session.receive(frame(9, 0, 1, payload), now) && !session.hasEnded()) {
    ++count;
  }
  EXPECT_THAT(handler.requests, IsEmpty());
  return count;
}

TEST(Http2SessionFlood, EndsAConnectionWhoseHeadersNeverEnd) {
  // A literal field whose value is 16,000 bytes long.
  const std::string large = std::string("\0\1x\x7F\x81\x7C", 6) + std::string(16'000, 'x');
  EXPECT_LE(continuationsTaken(large, 1'000), (256 << 10) / 16'000);
  EXPECT_LE(continuationsTaken("", 20'000), 10'000);
}

}  // namespace
}  // namespace steptape::detail::server
