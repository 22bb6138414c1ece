// SPDX-License-Identifier: Apache-2.0
#include "profile/trace/chrome/chrome_events.h"

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <utility>

#include "steptape/base/status.h"

#include "base/got_expected.h"
#include "base/text.h"
#include "base/utf8.h"
#include "profile/trace/chrome/bounded_json_text.h"

namespace steptape::detail::profile {
namespace {

// Limits larger than any real trace needs, so that memory does not depend on the file. Data beyond
// them is omitted.
constexpr std::size_t kMaxValueBytes = BoundedJsonText::kMaxStringBytes;  // of an array or object
constexpr std::size_t kMaxMembersBytes = std::size_t{1} << 22;  // of the file, or of an event

/// Builds values from the events of nlohmann-json's parser.
class JsonListener {
 public:
  virtual ~JsonListener() = default;

  // NOLINTBEGIN(readability-identifier-naming): the names are the parser's.
  bool null() { return scalar({"null", 0, false}); }
  bool boolean(bool value) { return scalar({value ? "true" : "false", 0, false}); }
  bool number_integer(std::int64_t value) {
    return scalar({std::to_string(value), static_cast<double>(value), false});
  }
  bool number_unsigned(std::uint64_t value) {
    return scalar({std::to_string(value), static_cast<double>(value), false});
  }
  bool number_float(double value, const std::string& text) {
    std::string json = text;
    // The parser has inserted the locale's decimal point.
    if (const auto point = json.find_first_not_of("+-0123456789eE"); point != std::string::npos) {
      json[point] = '.';
    }
    return scalar({std::move(json), value, false});
  }
  bool string(std::string& value) { return isInserted() || scalar({std::move(value), 0, true}); }
  bool binary(std::vector<std::uint8_t>& /*value*/) { return true; }  // JSON has none
  bool key(std::string& value) {
    if (depth_ == 0) {
      key_ = std::move(value);
    } else {
      separate();
      append(JsonValue{std::move(value), 0, true}.json() + ": ");
    }
    return true;
  }
  bool start_object(std::size_t /*size*/) { return start('{'); }
  bool start_array(std::size_t /*size*/) { return start('['); }
  bool end_object() { return end('}'); }
  bool end_array() { return end(']'); }
  bool parse_error(std::size_t position, const std::string& /*token*/,
                   const nlohmann::json::exception& error) {
    fail(position, error.what());
    return false;
  }
  // NOLINTEND(readability-identifier-naming)

 protected:
  /// Returns whether to report the members of an object or array one by one; the argument is its
  /// bracket.
  virtual bool enters(char bracket) = 0;
  virtual void leave() = 0;
  virtual void take(JsonValue value) = 0;
  /// Called instead of take() for an object or array that is too long.
  virtual void leaveOut() {}
  /// Returns whether the current string was inserted only for the parser.
  virtual bool isInserted() { return false; }
  virtual void fail(std::size_t position, const std::string& words) = 0;

  /// Returns the key of the current value, if it is a member of an object.
  const std::string& key() const { return key_; }

 private:
  bool scalar(JsonValue value) {
    if (depth_ == 0) {
      take(std::move(value));
    } else {
      separate();
      append(value.json());
    }
    return true;
  }
  bool start(char bracket) {
    if (depth_ > 0 || !enters(bracket)) {
      separate();
      append(std::string_view(&bracket, 1));
      ++depth_;
    }
    return true;
  }
  bool end(char bracket) {
    if (depth_ == 0) {
      leave();
      return true;
    }
    append(std::string_view(&bracket, 1));
    if (--depth_ > 0) {
      return true;
    }
    JsonValue value = std::exchange(whole_, {});
    if (std::exchange(isTooLong_, false)) {
      leaveOut();
    } else {
      take(std::move(value));
    }
    return true;
  }
  void append(std::string_view json) {
    isTooLong_ = isTooLong_ || whole_.text.size() + json.size() > kMaxValueBytes;
    if (!isTooLong_) {
      whole_.text += json;
    }
  }
  void separate() {
    constexpr std::string_view kNothingBefore = "[{ ";  // including the blank after a colon
    if (!whole_.text.empty() && kNothingBefore.find(whole_.text.back()) == std::string::npos) {
      append(", ");
    }
  }

  std::string key_;
  JsonValue whole_;         // an object or array that is not entered
  std::size_t depth_ = 0;   // within whole_
  bool isTooLong_ = false;  // whole_ is truncated
};

/// Walks from the file's object to the arguments of its events.
class ChromeListener : public JsonListener {
 public:
  ChromeListener(std::string path, BoundedJsonText* text, ChromeEventSink* sink,
                 std::vector<std::string>* notes)
      : path_(std::move(path)), text_(*text), sink_(sink), notes_(notes) {}

  bool hasFoundEvents() const { return hasFoundEvents_; }

 private:
  enum class Place { kOutside, kFile, kEvents, kEvent, kArguments };

  bool enters(char bracket) override {
    if (place_ == Place::kOutside && bracket == '{') {
      place_ = Place::kFile;
    } else if (place_ == Place::kOutside || (place_ == Place::kFile && bracket == '[' &&  //
                                             key() == "traceEvents")) {
      isOnlyEvents_ = place_ == Place::kOutside;
      place_ = Place::kEvents;
      hasFoundEvents_ = true;
    } else if (place_ == Place::kEvents && bracket == '{') {
      place_ = Place::kEvent;
      beginEvent();
    } else if (place_ == Place::kEvent && bracket == '{' && key() == "args") {
      place_ = Place::kArguments;
      isEmpty_ = false;
    } else {
      return false;
    }
    return true;
  }
  void leave() override {
    if (place_ == Place::kEvent && !isEmpty_) {  // XLA ends its list with an empty object
      sink_->takeEvent(event_);
    }
    place_ = place_ == Place::kEvents && isOnlyEvents_
                 ? Place::kOutside
                 : static_cast<Place>(static_cast<int>(place_) - 1);
  }
  void take(JsonValue value) override {
    switch (place_) {
      case Place::kOutside:
        return;
      case Place::kFile:
        if (hasRoom(value, &fileMemberBytes_)) {
          sink_->takeMember({key(), std::move(value)});
        }
        return;
      case Place::kEvents:
        return sink_->takeStranger();
      case Place::kEvent:
        return takeField(std::move(value));
      case Place::kArguments:
        if (hasRoom(value, &argumentBytes_)) {
          event_.arguments.push_back({key(), std::move(value)});
        }
        return;
    }
  }
  bool isInserted() override { return text_.takeMark(); }
  void leaveOut() override {
    if (place_ == Place::kEvents) {
      sink_->takeStranger();
    }
  }
  void beginEvent() {
    std::vector<JsonMember> arguments = std::move(event_.arguments);
    arguments.clear();  // keeps its memory
    event_ = {};
    isEmpty_ = true;
    event_.arguments = std::move(arguments);
    argumentBytes_ = 0;
  }
  bool hasRoom(const JsonValue& value, std::size_t* used) const {
    const std::size_t bytes = sizeof(JsonMember) + key().size() + value.text.size();
    if (*used + bytes > kMaxMembersBytes) {
      return false;
    }
    *used += bytes;
    return true;
  }
  void takeField(JsonValue value) {
    static constexpr std::array<std::pair<std::string_view, JsonValue ChromeEvent::*>, 9> kFields{
        {{"ph", &ChromeEvent::phase},
         {"name", &ChromeEvent::name},
         {"cat", &ChromeEvent::category},
         {"pid", &ChromeEvent::processId},
         {"tid", &ChromeEvent::threadId},
         {"id", &ChromeEvent::id},
         {"id2", &ChromeEvent::id},
         {"ts", &ChromeEvent::time},
         {"dur", &ChromeEvent::duration}}};
    isEmpty_ = false;
    for (const auto& [name, field] : kFields) {
      if (key() == name) {
        event_.*field = std::move(value);
        return;
      }
    }
  }
  void fail(std::size_t position, const std::string& words) override {
    if (notes_ != nullptr && hasFoundEvents_ && text_.isAtEnd() &&
        base::startsWith(words, "[json.exception.parse_error")) {
      noteEnd(static_cast<std::int64_t>(position) + text_.leftOut());
      return;
    }
    constexpr std::size_t kMaxWords = 200;  // the message may quote as much as the text has
    std::size_t begin = words.find("] ") + 2;
    const std::int64_t leftOut = text_.leftOut();
    if (leftOut != 0 &&
        base::startsWith(std::string_view(words).substr(begin), "parse error at line ")) {
      begin = words.find(": ", begin) + 2;  // the prefix counts lines without the omitted text
    }
    const auto byte = static_cast<std::int64_t>(position) + leftOut;
    throw Error(ErrorCode::kInvalidArgument,
                path_ + " is not a Chrome trace: at byte " + std::to_string(byte) +
                    " of its text: " + base::replaceInvalidUtf8(words.substr(begin, kMaxWords)));
  }

  /// Notes that the file ends too early. A file that is only a list need not end it.
  void noteEnd(std::int64_t byte) {
    if (!isOnlyEvents_ || place_ != Place::kEvents) {
      notes_->push_back(path_ + " ends in the middle, at byte " + std::to_string(byte) +
                        " of its text: what follows is missing");
    }
  }

  const std::string path_;
  BoundedJsonText& text_;
  ChromeEventSink* const sink_;
  std::vector<std::string>* const notes_;  // may be null
  Place place_ = Place::kOutside;
  bool hasFoundEvents_ = false;
  bool isOnlyEvents_ = false;  // the file is a list of events, without an object around it
  bool isEmpty_ = false;       // event_ has no members
  ChromeEvent event_;
  std::size_t fileMemberBytes_ = 0;
  std::size_t argumentBytes_ = 0;  // bytes of event_'s arguments
};

class MemberListener : public JsonListener {
 public:
  std::vector<JsonMember> takeMembers() { return std::move(members_); }

 private:
  bool enters(char bracket) override {
    const bool isOutermost = !std::exchange(isInside_, true);
    return isOutermost && bracket == '{';
  }
  void leave() override {}
  void take(JsonValue value) override { members_.push_back({key(), std::move(value)}); }
  void fail(std::size_t /*position*/, const std::string& /*words*/) override {}

  std::vector<JsonMember> members_;
  bool isInside_ = false;
};

}  // namespace

const JsonValue* ChromeEvent::argument(std::string_view key) const {
  const auto found = std::find_if(arguments.begin(), arguments.end(),
                                  [&](const JsonMember& member) { return member.key == key; });
  return found == arguments.end() ? nullptr : &found->value;
}

void readChromeEvents(const std::string& path, ChromeEventSink* sink,
                      std::vector<std::string>* notes) {
  BoundedJsonText text(path);
  ChromeListener listener(path, &text, sink, notes);
  nlohmann::json::sax_parse(text.begin(), BoundedJsonText::end(), &listener);
  if (!listener.hasFoundEvents()) {
    throw Error(ErrorCode::kInvalidArgument,
                path + " is not a Chrome trace: " +
                    base::gotExpected("no array \"traceEvents\"", "one in the outermost object"));
  }
  if (notes != nullptr && text.nonFinite() > 0) {
    notes->push_back(path + " has " + std::to_string(text.nonFinite()) +
                     (text.nonFinite() == 1 ? " number" : " numbers") +
                     " such as NaN or Infinity, which JSON does not have: other programs "
                     "may refuse it");
  }
}

std::vector<JsonMember> jsonMembers(const std::string& json) {
  MemberListener listener;
  nlohmann::json::sax_parse(json, &listener);
  return listener.takeMembers();
}

}  // namespace steptape::detail::profile
