// SPDX-License-Identifier: Apache-2.0
#include "c10d/rendezvous.h"

#include <algorithm>
#include <map>
#include <random>
#include <sstream>
#include <sys/stat.h>
#include <thread>
#include <utility>
#include <vector>

#include "steptape/base/error.h"
#include "steptape/comm/communicator.h"

#include "base/whole_file.h"
#include "transport/compared_message.h"
#include "transport/protocol.h"

namespace steptape::c10d::detail {
namespace {

using steptape::detail::GroupMap;
using steptape::detail::Launch;
using Clock = std::chrono::steady_clock;

std::string randomText() {
  std::random_device random;
  std::ostringstream text;
  text << std::hex << random() << random();
  return text.str();
}

/// Returns what is equal exactly for processes that share the memory of /dev/shm: containers of one
/// machine may each have their own.
std::string memoryId() {
  std::string boot;
  if (!steptape::detail::readWholeFile("/proc/sys/kernel/random/boot_id", boot).ok()) {
    boot = randomText();
  }
  boot = boot.substr(0, boot.find('\n'));
  struct stat facts {};
  if (stat("/dev/shm", &facts) != 0) {
    return boot + " " + randomText();
  }
  return boot + " " + std::to_string(facts.st_dev) + " " + std::to_string(facts.st_ino);
}

/// What each rank tells the others, a line each.
struct Facts {
  std::string protocol;
  std::string size;
  std::string memory;
  std::string host;

  static Facts ofThisRank(const Launch& launch) {
    return {steptape::detail::protocolText(), std::to_string(launch.size), memoryId(),
            Communicator().nodeName()};
  }
  static Facts parse(const std::string& text) {
    Facts facts;
    std::istringstream lines(text);
    std::getline(lines, facts.protocol);
    std::getline(lines, facts.size);
    std::getline(lines, facts.memory);
    std::getline(lines, facts.host);
    return facts;
  }
  std::string text() const { return protocol + "\n" + size + "\n" + memory + "\n" + host + "\n"; }
};

class Deadline {
 public:
  explicit Deadline(std::chrono::milliseconds timeout)
      : timeout_(timeout), end_(Clock::now() + timeout) {}

  /// Pauses, longer each time.
  /// @return false after the end.
  bool pause() {
    if (Clock::now() >= end_) {
      return false;
    }
    std::this_thread::sleep_for(pause_);
    constexpr std::chrono::milliseconds kLongest{20};
    pause_ = std::min<std::chrono::microseconds>(2 * pause_, kLongest);
    return true;
  }
  std::string text() const {
    std::ostringstream text;
    text << std::chrono::duration<double>(timeout_).count() << " s";
    return text.str();
  }

 private:
  std::chrono::milliseconds timeout_;
  Clock::time_point end_;
  std::chrono::microseconds pause_{500};
};

[[noreturn]] void throwMissing(const std::vector<int>& ranks, const Launch& launch,
                               const Deadline& deadline) {
  std::string names;
  constexpr std::size_t kMostNames = 20;
  for (std::size_t i = 0; i < std::min(ranks.size(), kMostNames); ++i) {
    names += (i == 0 ? (ranks.size() == 1 ? "rank " : "ranks ") : ", ") + std::to_string(ranks[i]);
  }
  if (ranks.size() > kMostNames) {
    names += " and " + std::to_string(ranks.size() - kMostNames) + " more";
  }
  throw Error(ErrorCode::kDeadlineExceeded,
              "the start of the job: " + names + " of " + std::to_string(launch.size) +
                  " did not come to the store within " + deadline.text());
}

/// Rank 0: answers all ranks with the prefix of this start.
std::string answerAll(KeyStore& store, const Launch& launch, Deadline& deadline) {
  const std::string prefix = "steptape/" + randomText() + "/";
  std::map<int, std::string> answered;  // by rank: the latest number that it asked by
  std::vector<int> missing;
  for (int rank = 1; rank < launch.size; ++rank) {
    missing.push_back(rank);
  }
  while (!missing.empty()) {
    std::vector<int> stillMissing;
    for (const int rank : missing) {
      const std::string name = std::to_string(rank);
      std::string number;
      // The number may be of a rank of an earlier start. Then another one follows.
      if (store.tryGet("steptape/ask/" + name, number) && answered[rank] != number) {
        store.set("steptape/answer/" + name + "/" + number, prefix);
        answered[rank] = number;
      }
      std::string here;
      if (!store.tryGet(prefix + "here/" + name, here)) {
        stillMissing.push_back(rank);
      }
    }
    missing = stillMissing;
    if (!missing.empty() && !deadline.pause()) {
      throwMissing(missing, launch, deadline);
    }
  }
  return prefix;
}

/// The other ranks: ask rank 0 for the prefix.
std::string askForPrefix(KeyStore& store, const Launch& launch, Deadline& deadline) {
  const std::string name = std::to_string(launch.rank);
  const std::string number = randomText();
  const std::string answer = "steptape/answer/" + name + "/" + number;
  std::string prefix;
  store.set("steptape/ask/" + name, number);
  while (!store.tryGet(answer, prefix)) {
    if (!deadline.pause()) {
      throwMissing({0}, launch, deadline);
    }
  }
  store.remove(answer);
  return prefix;
}

/// Compares the ranks whose facts are known with rank 0.
void checkEqual(const std::vector<Facts>& facts) {
  const auto check = [&](std::string Facts::*member, const char* before, const char* after) {
    for (std::size_t rank = 1; rank < facts.size(); ++rank) {
      const std::string& got = facts[rank].*member;
      const std::string& expected = facts.front().*member;
      if (!got.empty() && !expected.empty() && got != expected) {
        steptape::detail::throwStartMismatch(static_cast<int>(rank), facts[rank].host,
                                             before + got + after, before + expected + after);
      }
    }
  };
  check(&Facts::protocol, "", "");
  check(&Facts::size, "a job of ", " ranks");
}

/// Lets the other ranks that have come find out the same before rank 0 ends, and the store in it.
void waitUntilAllRefuse(KeyStore& store, const Launch& launch, const std::vector<Facts>& facts) {
  store.set("refused/" + std::to_string(launch.rank), "");
  Deadline deadline(std::chrono::seconds(3));
  for (std::size_t rank = 1; launch.rank == 0 && rank < facts.size(); ++rank) {
    std::string value;
    while (!facts[rank].size.empty() && !store.tryGet("refused/" + std::to_string(rank), value) &&
           deadline.pause()) {
    }
  }
}

std::vector<Facts> exchange(KeyStore& store, const Launch& launch, Deadline& deadline) {
  std::vector<Facts> facts(static_cast<std::size_t>(launch.size));
  std::vector<int> missing;
  for (int rank = 0; rank < launch.size; ++rank) {
    missing.push_back(rank);
  }
  while (true) {
    std::vector<int> stillMissing;
    for (const int rank : missing) {
      std::string text;
      if (store.tryGet("here/" + std::to_string(rank), text)) {
        facts[static_cast<std::size_t>(rank)] = Facts::parse(text);
      } else {
        stillMissing.push_back(rank);
      }
    }
    missing = stillMissing;
    try {
      checkEqual(facts);
    } catch (const Error&) {
      waitUntilAllRefuse(store, launch, facts);
      throw;
    }
    if (missing.empty()) {
      return facts;
    }
    if (!deadline.pause()) {
      throwMissing(missing, launch, deadline);
    }
  }
}

GroupMap mapOf(const std::vector<Facts>& facts, const Launch& launch, int ranksPerNode) {
  std::vector<GroupMap::Place> places;
  std::map<std::string, int> nodes;
  for (int rank = 0; rank < launch.size; ++rank) {
    const Facts& of = facts[static_cast<std::size_t>(rank)];
    if (ranksPerNode > 0) {
      places.push_back(steptape::detail::simulatedPlace(of.host, rank, ranksPerNode));
    } else {
      const int next = static_cast<int>(nodes.size());
      places.push_back({nodes.emplace(of.memory, next).first->second, of.host});
    }
  }
  return GroupMap(std::move(places), launch.rank);
}

}  // namespace

Meeting meet(const std::shared_ptr<KeyStore>& store, const Launch& launch, int ranksPerNode,
             std::chrono::milliseconds timeout) {
  Deadline deadline(timeout);
  const std::string mine = Facts::ofThisRank(launch).text();
  std::string prefix;
  std::shared_ptr<KeyStore> ofStart;
  if (launch.rank == 0) {
    prefix = answerAll(*store, launch, deadline);
    ofStart = std::make_shared<PrefixedStore>(store, prefix);
    ofStart->set("here/0", mine);
  } else {
    prefix = askForPrefix(*store, launch, deadline);
    ofStart = std::make_shared<PrefixedStore>(store, prefix);
    ofStart->set("here/" + std::to_string(launch.rank), mine);
  }
  return {ofStart, prefix, mapOf(exchange(*ofStart, launch, deadline), launch, ranksPerNode)};
}

}  // namespace steptape::c10d::detail
