// SPDX-License-Identifier: Apache-2.0
#include "ranks/c10d/rendezvous.h"

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <optional>
#include <set>
#include <string_view>
#include <utility>
#include <vector>

#include "steptape/base/status.h"
#include "steptape/ranks/communicator.h"

#include "base/got_expected.h"
#include "base/text.h"
#include "ranks/c10d/deadline.h"
#include "ranks/c10d/guest.h"
#include "ranks/communicator/group_messages.h"

// Keys of the store:
//
//   steptape/asks                    how many ranks have asked, of all starts
//   steptape/ask/<number>            the Guest that asks
//   steptape/answer/<number>         "go", and the prefix of the start; or "no", and why
//   steptape/closed                  the prefix of the start for which all ranks have come
//   <prefix>claim/<rank>             how many processes have claimed this rank
//   <prefix>here/<rank>              the Guest that was the first
//   <prefix>start                    "go", and the places of all ranks; or "no", and a Mismatch
//   <prefix>refused/<rank>           the rank has read the "no"

namespace steptape::c10d::detail {
namespace {

using steptape::detail::base::gotExpected;
using steptape::detail::ranks::GroupMap;
using steptape::detail::ranks::Launch;
using Places = std::vector<GroupMap::Place>;

constexpr const char* kAsks = "steptape/asks";
constexpr const char* kClosed = "steptape/closed";
constexpr const char* kStart = "start";
constexpr std::string_view kGo = "go\n";
constexpr std::string_view kNo = "no\n";

std::string askKey(std::int64_t number) {
  return "steptape/ask/" + std::to_string(number);
}

std::string answerKey(std::int64_t number) {
  return "steptape/answer/" + std::to_string(number);
}

std::string keyOf(const char* what, int rank) {
  return what + std::to_string(rank);
}

std::string hereKey(int rank) {
  return keyOf("here/", rank);
}

std::string refusedKey(int rank) {
  return keyOf("refused/", rank);
}

std::string namesOf(const std::vector<int>& ranks) {
  constexpr std::size_t kMostNames = 20;
  std::vector<int> first = ranks;
  first.resize(std::min(ranks.size(), kMostNames));
  std::string names =
      (ranks.size() == 1 ? "rank " : "ranks ") + steptape::detail::base::commaSeparated(first);
  if (ranks.size() > kMostNames) {
    names += " and " + std::to_string(ranks.size() - kMostNames) + " more";
  }
  return names;
}

std::string storeText(const std::string& address) {
  return "the store at " + address + " (MASTER_ADDR:MASTER_PORT): ";
}

std::string otherJobText(const std::string& address, const Guest& zero, const Guest& guest) {
  return storeText(address) +
         gotExpected(zero.job.describe() + ", whose job is another one",
                     "rank 0 of the job of rank " + std::to_string(guest.rank) + ", " +
                         guest.job.describe()) +
         ". Give each job a MASTER_PORT of its own";
}

std::string secondOfRankText(const std::string& address, const Guest& first, const Guest& second) {
  return storeText(address) +
         gotExpected("a second rank " + std::to_string(second.rank) + ", " + second.job.describe(),
                     "one, which is " + first.job.describe()) +
         ". If they are of two jobs, give each a MASTER_PORT of its own";
}

[[noreturn]] void refuse(const std::string& why) {
  throw Error(ErrorCode::kFailedPrecondition, why);
}

/// The wait of a rank for others: says on stderr now and then for whom, and throws at its end.
class Wait {
 public:
  Wait(const Launch& launch, const std::string& address, std::chrono::milliseconds timeout)
      : launch_(launch),
        address_(address),
        deadline_(timeout, longestPauseOf(launch.size)),
        betweenNotes_(std::min<std::chrono::milliseconds>(std::chrono::minutes(1), timeout / 2)),
        nextNote_(betweenNotes_) {}

  const Launch& launch() const { return launch_; }
  const std::string& address() const { return address_; }

  /// @throws Error(kDeadlineExceeded) if the time is over.
  void pause(const std::vector<int>& missing) {
    if (deadline_.waited() > nextNote_) {
      say(missing);
    }
    if (!deadline_.pause()) {
      throw Error(ErrorCode::kDeadlineExceeded, "the start of the job: " + namesOf(missing) +
                                                    " of " + std::to_string(launch_.size) +
                                                    " did not come to the store within " +
                                                    secondsText(deadline_.timeout()));
    }
  }

 private:
  /// So that one server can answer all ranks.
  static std::chrono::microseconds longestPauseOf(int ranks) {
    constexpr std::chrono::microseconds kLeast{20'000};
    constexpr std::chrono::microseconds kPerRank{50};
    return std::max(kLeast, kPerRank * ranks);
  }

  void say(const std::vector<int>& missing) {
    const std::string text = steptape::detail::ranks::stallText(
        "the start of the job", nextNote_,
        namesOf(missing) + " to come to the store at " + address_);
    std::fprintf(stderr, "[rank %d/%d %s] %s\n", launch_.rank, launch_.size,
                 Communicator().nodeName().c_str(), text.c_str());
    nextNote_ += betweenNotes_;
  }

  const Launch& launch_;
  const std::string& address_;
  Deadline deadline_;
  std::chrono::milliseconds betweenNotes_;
  std::chrono::milliseconds nextNote_;
};

/// Rank 0: receives those who come to the store, until all ranks of its job are there.
class Reception {
 public:
  Reception(KeyStore& store, KeyStore& ofStart, std::string prefix, const Guest& self, Wait& wait)
      : store_(store),
        ofStart_(ofStart),
        prefix_(std::move(prefix)),
        wait_(wait),
        guests_(static_cast<std::size_t>(wait.launch().size)) {
    guests_.front() = self;
    for (int rank = 1; rank < wait.launch().size; ++rank) {
      missing_.push_back(rank);
    }
  }

  /// @throws Error(kRankMismatch) on all ranks that have come; Error(kDeadlineExceeded)
  std::vector<Guest> receiveAll() {
    while (!missing_.empty()) {
      readAsks();
      takeIn();
      if (!missing_.empty()) {
        wait_.pause(missing_);
      }
    }
    store_.set(kClosed, prefix_);
    return guests_;
  }

 private:
  void readAsks() {
    const std::int64_t asks = store_.add(kAsks, 0);
    while (seen_ < asks) {
      unread_.push_back(++seen_);
    }
    std::vector<std::int64_t> stillUnread;
    for (const std::int64_t number : unread_) {
      std::string text;
      if (store_.tryGet(askKey(number), text)) {
        store_.remove(askKey(number));
        answer(number, Guest::decode(text));
      } else {
        stillUnread.push_back(number);  // its rank has not written it yet, or has died before
      }
    }
    unread_ = std::move(stillUnread);
  }

  void answer(std::int64_t number, const Guest& guest) {
    const Guest& zero = guests_.front();
    std::string why;
    if (!canBeOfOneJob(zero.job, guest.job)) {
      why = otherJobText(wait_.address(), zero, guest);
    } else if (const Guest* const first = findHere(guest.rank)) {
      why = secondOfRankText(wait_.address(), *first, guest);
    }
    if (why.empty()) {
      // It may be of an earlier start and gone: whoever is there claims the rank.
      asked_.insert(guest.rank);
      store_.set(answerKey(number), std::string(kGo) + prefix_);
      return;
    }
    store_.set(answerKey(number), std::string(kNo) + why);
    std::fprintf(stderr, "steptape: the store at %s refuses rank %d, %s\n", wait_.address().c_str(),
                 guest.rank, guest.job.describe().c_str());
  }

  const Guest* findHere(int rank) const {
    const bool isMissing = std::find(missing_.begin(), missing_.end(), rank) != missing_.end();
    const bool isOfJob = rank >= 0 && rank < wait_.launch().size;
    return isMissing || !isOfJob ? nullptr : &guests_[static_cast<std::size_t>(rank)];
  }

  void takeIn() {
    std::set<int> stillAsked;
    for (const int rank : asked_) {
      std::string text;
      if (!ofStart_.tryGet(hereKey(rank), text)) {
        stillAsked.insert(rank);
        continue;
      }
      const Guest guest = Guest::decode(text);
      here_.push_back(rank);
      if (const auto mismatch = Mismatch::find(guest, guests_.front())) {
        end(*mismatch);
      }
      guests_[static_cast<std::size_t>(rank)] = guest;
      missing_.erase(std::find(missing_.begin(), missing_.end(), rank));
    }
    asked_ = std::move(stillAsked);
  }

  /// Lets the other ranks that have come find out the same before rank 0 ends, and the store in it.
  [[noreturn]] void end(const Mismatch& mismatch) {
    ofStart_.set(kStart, std::string(kNo) + mismatch.encode());
    Deadline deadline(std::chrono::seconds(3));
    for (const int rank : here_) {
      std::string value;
      while (!ofStart_.tryGet(refusedKey(rank), value) && deadline.pause()) {
      }
    }
    mismatch.raise();
  }

  KeyStore& store_;
  KeyStore& ofStart_;
  const std::string prefix_;
  Wait& wait_;
  std::vector<Guest> guests_;         // by rank
  std::vector<int> missing_;          // ranks, ascending
  std::vector<int> here_;             // ranks
  std::set<int> asked_;               // ranks to whom the prefix was told, and who are not here yet
  std::int64_t seen_ = 0;             // numbers of asks up to this one
  std::vector<std::int64_t> unread_;  // numbers of asks
};

/// Throws if all ranks of the store's job have come: then rank 0 answers nobody any more.
void checkStillOpen(KeyStore& store, const Guest& self, const std::string& address) {
  std::string prefix;
  if (!store.tryGet(kClosed, prefix)) {
    return;
  }
  std::string text;
  const auto read = [&](int rank) {
    return store.tryGet(prefix + hereKey(rank), text) ? Guest::decode(text) : Guest();
  };
  const Guest zero = read(0);
  const Guest first = read(self.rank);
  refuse(first.protocol.empty() || !canBeOfOneJob(zero.job, self.job)
             ? otherJobText(address, zero, self)
             : secondOfRankText(address, first, self));
}

/// The other ranks: ask rank 0 for the prefix of the start.
std::string askForPrefix(KeyStore& store, const Guest& self, Wait& wait) {
  const std::int64_t number = store.add(kAsks, 1);
  store.set(askKey(number), self.encode());
  const std::string answer = answerKey(number);
  constexpr std::chrono::milliseconds kBetweenLooks{500};
  Deadline nextLook(kBetweenLooks);
  std::string text;
  while (!store.tryGet(answer, text)) {
    // The store of a launcher outlives the start for which it is closed.
    if (nextLook.hasPassed() && !wait.launch().isServedByAgent) {
      checkStillOpen(store, self, wait.address());
      nextLook = Deadline(kBetweenLooks);
    }
    wait.pause({0});
  }
  store.remove(answer);
  if (steptape::detail::base::startsWith(text, kNo)) {
    refuse(text.substr(kNo.size()));
  }
  return text.substr(kGo.size());
}

/// The other ranks: take part in the start, and wait until rank 0 tells where all ranks are.
Places visit(KeyStore& ofStart, const Guest& self, Wait& wait) {
  if (ofStart.add(keyOf("claim/", self.rank), 1) != 1) {
    std::string text;
    while (!ofStart.tryGet(hereKey(self.rank), text)) {
      wait.pause({self.rank});
    }
    refuse(secondOfRankText(wait.address(), Guest::decode(text), self));
  }
  ofStart.set(hereKey(self.rank), self.encode());
  std::string text;
  while (!ofStart.tryGet(kStart, text)) {
    wait.pause({0});
  }
  if (steptape::detail::base::startsWith(text, kNo)) {
    ofStart.set(refusedKey(self.rank), "");
    Mismatch::decode(text.substr(kNo.size())).raise();
  }
  return decodePlaces(text.substr(kGo.size()));
}

}  // namespace

Meeting meet(const std::shared_ptr<KeyStore>& store, const std::string& address,
             const Launch& launch, int ranksPerNode, std::chrono::milliseconds timeout) {
  Wait wait(launch, address, timeout);
  const Guest self = Guest::ofThisRank(launch);
  const std::string prefix =
      launch.rank == 0 ? "steptape/" + randomText() + "/" : askForPrefix(*store, self, wait);
  const auto ofStart = std::make_shared<PrefixedStore>(store, prefix);
  Places places;
  if (launch.rank == 0) {
    ofStart->set(hereKey(0), self.encode());
    const std::vector<Guest> all = Reception(*store, *ofStart, prefix, self, wait).receiveAll();
    places = placesOf(all, ranksPerNode);
    ofStart->set(kStart, std::string(kGo) + encodePlaces(places));
  } else {
    places = visit(*ofStart, self, wait);
  }
  return {ofStart, prefix, GroupMap(std::move(places), launch.rank)};
}

}  // namespace steptape::c10d::detail
