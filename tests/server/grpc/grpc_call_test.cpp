// SPDX-License-Identifier: Apache-2.0
#include "server/grpc/grpc_call.h"

#include <functional>
#include <memory>
#include <new>
#include <stdexcept>
#include <string>
#include <utility>

#include "server/grpc/grpc_wire.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace steptape::detail::server {
namespace {

using Outcome = GrpcCall::Outcome;
using Rest = GrpcCall::Rest;

/// Answers with what a function appends; counts its objects.
class FunctionAnswer : public Answer {
 public:
  using Next = std::function<bool(Message*, CallStatus*)>;
  FunctionAnswer(Next next, int* alive) : next_(std::move(next)), alive_(alive) { ++*alive_; }
  FunctionAnswer(const FunctionAnswer&) = delete;
  FunctionAnswer& operator=(const FunctionAnswer&) = delete;
  ~FunctionAnswer() override { --*alive_; }

  bool next(Message* message, CallStatus* status) override { return next_(message, status); }

 private:
  const Next next_;
  int* const alive_;
};

class FunctionService : public Service {
 public:
  CallStatus call(std::string_view method, std::string_view request,
                  std::unique_ptr<Answer>* answer) override {
    ++calls;
    seenMethod = method;
    seenRequest = request;
    if (before) {
      before();
    }
    if (status.ok()) {
      *answer = std::make_unique<FunctionAnswer>(next, &answers);
    }
    return status;
  }

  CallStatus status;
  FunctionAnswer::Next next = [](Message*, CallStatus*) { return false; };
  std::function<void()> before;
  int calls = 0;
  int answers = 0;  ///< Alive.
  std::string seenMethod;
  std::string seenRequest;
};

/// Answers with "1", "2", ... "count".
FunctionAnswer::Next counting(int count) {
  return [count, at = 0](Message* message, CallStatus* /*status*/) mutable {
    if (at == count) {
      return false;
    }
    message->append(std::to_string(++at));
    return true;
  };
}

std::string body(const std::string& message) {
  return messagePrefix(message.size()) + message;
}

class GrpcCallTest : public ::testing::Test {
 protected:
  /// Does what a worker thread does if the call needs it.
  void workIfClaimed() {
    if (call_.claim()) {
      call_.work(&service_);
    }
  }
  Outcome take() {
    Message message;
    const Outcome outcome = call_.take(&message, &status_);
    message_.resize(message.size());
    message.take(message_.data(), message_.size());
    return outcome;
  }
  /// Works until the end. @return its status.
  CallStatus end() {
    Outcome outcome = Outcome::kNothing;
    while (outcome != Outcome::kEnd) {
      workIfClaimed();
      outcome = take();
    }
    return status_;
  }

  FunctionService service_;
  GrpcCall call_{{1, 1}, "/service/Method", body("request")};
  std::string message_;
  CallStatus status_;
};

TEST_F(GrpcCallTest, GivesEachMessageAndTheEnd) {
  service_.next = counting(2);
  EXPECT_EQ(take(), Outcome::kNothing);
  workIfClaimed();
  EXPECT_EQ(service_.seenMethod, "/service/Method");
  EXPECT_EQ(service_.seenRequest, "request");
  EXPECT_EQ(take(), Outcome::kMessage);
  EXPECT_EQ(message_, body("1"));
  EXPECT_EQ(take(), Outcome::kNothing);
  workIfClaimed();
  EXPECT_EQ(take(), Outcome::kMessage);
  EXPECT_EQ(message_, body("2"));
  workIfClaimed();
  EXPECT_EQ(take(), Outcome::kEnd);
  EXPECT_TRUE(status_.ok());
  EXPECT_EQ(service_.calls, 1);
  EXPECT_EQ(service_.answers, 0) << "the answer is destroyed with its end";
}

TEST_F(GrpcCallTest, KeepsAtMostOneMessage) {
  service_.next = counting(2);
  EXPECT_TRUE(call_.claim());
  EXPECT_FALSE(call_.claim()) << "a worker thread is about to work";
  call_.work(&service_);
  EXPECT_FALSE(call_.claim()) << "a message waits";
  EXPECT_EQ(take(), Outcome::kMessage);
  EXPECT_TRUE(call_.claim());
}

TEST_F(GrpcCallTest, NeedsNoWorkAfterItsEnd) {
  EXPECT_TRUE(end().ok());
  EXPECT_FALSE(call_.claim());
  EXPECT_EQ(call_.cancel(), Rest::kNothing);
}

TEST_F(GrpcCallTest, EndsWithTheStatusOfTheService) {
  service_.status = {StatusCode::kNotFound, "no run \"a\""};
  EXPECT_EQ(end().code, StatusCode::kNotFound);
  EXPECT_EQ(status_.message, "no run \"a\"");
}

TEST_F(GrpcCallTest, EndsWithTheStatusOfTheAnswer) {
  service_.next = [](Message*, CallStatus* status) {
    *status = {StatusCode::kUnavailable, "file is gone"};
    return false;
  };
  EXPECT_EQ(end().code, StatusCode::kUnavailable);
  EXPECT_EQ(status_.message, "file is gone");
}

TEST_F(GrpcCallTest, EndsWithTheReasonOfAnException) {
  service_.before = [] { throw std::runtime_error("broken"); };
  EXPECT_EQ(end().code, StatusCode::kInternal);
  EXPECT_EQ(status_.message, "broken");
}

TEST_F(GrpcCallTest, EndsWithResourceExhaustedWithoutMemory) {
  service_.before = [] { throw std::bad_alloc(); };
  EXPECT_EQ(end().code, StatusCode::kResourceExhausted);
}

TEST_F(GrpcCallTest, EndsIfAnAnswerThrowsInTheMiddle) {
  service_.next = [at = 0](Message* message, CallStatus* /*status*/) mutable {
    if (at++ > 0) {
      throw std::bad_alloc();
    }
    message->append("first");
    return true;
  };
  workIfClaimed();
  EXPECT_EQ(take(), Outcome::kMessage);
  EXPECT_EQ(end().code, StatusCode::kResourceExhausted);
  EXPECT_EQ(service_.answers, 0);
}

TEST_F(GrpcCallTest, NeedNotBeginIfItIsCanceledBefore) {
  EXPECT_TRUE(call_.claim());
  EXPECT_EQ(call_.cancel(), Rest::kUnbegun);
  // A worker thread may have taken it in this moment.
  call_.work(&service_);
  EXPECT_EQ(service_.calls, 0);
}

TEST_F(GrpcCallTest, LetsAWorkerDestroyTheAnswerOfACanceledCall) {
  service_.next = counting(10);
  workIfClaimed();
  EXPECT_EQ(call_.cancel(), Rest::kAnswer);
  EXPECT_EQ(service_.answers, 1);
  call_.work(&service_);
  EXPECT_EQ(service_.answers, 0);
  EXPECT_EQ(service_.calls, 1);
}

TEST_F(GrpcCallTest, DestroysTheAnswerIfItIsCanceledDuringTheWork) {
  service_.next = [this](Message* message, CallStatus* /*status*/) {
    EXPECT_EQ(call_.cancel(), Rest::kNothing);
    message->append("late");
    return true;
  };
  workIfClaimed();
  EXPECT_EQ(service_.answers, 0);
}

}  // namespace
}  // namespace steptape::detail::server
