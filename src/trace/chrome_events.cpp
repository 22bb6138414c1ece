// SPDX-License-Identifier: Apache-2.0
#include "trace/chrome_events.h"

#include <algorithm>
#include <array>
#include <istream>
#include <nlohmann/json.hpp>
#include <streambuf>
#include <utility>

#include "steptape/base/error.h"
#include "steptape/base/utf8.h"

#include "base/gzip_file.h"

namespace steptape::detail {
namespace {

/// What nlohmann-json tells of a text, put together again to values.
class JsonListener {
 public:
  virtual ~JsonListener() = default;

  // The names are the parser's.
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
    // The parser has put the locale's decimal point there.
    if (const auto point = json.find_first_not_of("+-0123456789eE"); point != std::string::npos) {
      json[point] = '.';
    }
    return scalar({std::move(json), value, false});
  }
  bool string(std::string& value) { return scalar({std::move(value), 0, true}); }
  bool binary(std::vector<std::uint8_t>& /*value*/) { return true; }  // JSON has none
  bool key(std::string& value) {
    if (depth_ == 0) {
      key_ = std::move(value);
    } else {
      separate();
      whole_.text += JsonValue{std::move(value), 0, true}.json() + ": ";
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

 protected:
  /// Asked of an object or array, by its bracket: whether its members shall come one by one.
  virtual bool enters(char bracket) = 0;
  virtual void leave() = 0;
  virtual void take(JsonValue value) = 0;
  virtual void fail(std::size_t position, const std::string& words) = 0;

  /// Of what is taken or entered, if it is a member of an object.
  const std::string& key() const { return key_; }

 private:
  bool scalar(JsonValue value) {
    if (depth_ == 0) {
      take(std::move(value));
    } else {
      separate();
      whole_.text += value.json();
    }
    return true;
  }
  bool start(char bracket) {
    if (depth_ > 0 || !enters(bracket)) {
      separate();
      whole_.text += bracket;
      ++depth_;
    }
    return true;
  }
  bool end(char bracket) {
    if (depth_ == 0) {
      leave();
      return true;
    }
    whole_.text += bracket;
    if (--depth_ == 0) {
      take(std::exchange(whole_, {}));
    }
    return true;
  }
  void separate() {
    constexpr std::string_view kNothingBefore = "[{ ";  // the blank is the one behind a colon
    if (!whole_.text.empty() && kNothingBefore.find(whole_.text.back()) == std::string::npos) {
      whole_.text += ", ";
    }
  }

  std::string key_;
  JsonValue whole_;        // an object or array that nobody enters
  std::size_t depth_ = 0;  // in it
};

/// Walks from the file's object to the arguments of its events.
class ChromeListener : public JsonListener {
 public:
  ChromeListener(std::string path, ChromeEventSink* sink) : path_(std::move(path)), sink_(sink) {}

  bool hasFoundEvents() const { return hasFoundEvents_; }

 private:
  enum class Place { kOutside, kFile, kEvents, kEvent, kArguments };

  bool enters(char bracket) override {
    if (place_ == Place::kOutside && bracket == '{') {
      place_ = Place::kFile;
    } else if (place_ == Place::kFile && bracket == '[' && key() == "traceEvents") {
      place_ = Place::kEvents;
      hasFoundEvents_ = true;
    } else if (place_ == Place::kEvents && bracket == '{') {
      place_ = Place::kEvent;
      event_ = {};
    } else if (place_ == Place::kEvent && bracket == '{' && key() == "args") {
      place_ = Place::kArguments;
    } else {
      return false;
    }
    return true;
  }
  void leave() override {
    if (place_ == Place::kEvent) {
      sink_->takeEvent(event_);
    }
    place_ = static_cast<Place>(static_cast<int>(place_) - 1);
  }
  void take(JsonValue value) override {
    switch (place_) {
      case Place::kOutside:
        return;
      case Place::kFile:
        return sink_->takeMember({key(), std::move(value)});
      case Place::kEvents:
        return sink_->takeStranger();
      case Place::kEvent:
        return takeField(std::move(value));
      case Place::kArguments:
        event_.arguments.push_back({key(), std::move(value)});
        return;
    }
  }
  void takeField(JsonValue value) {
    static constexpr std::array<std::pair<std::string_view, JsonValue ChromeEvent::*>, 8> kFields{
        {{"ph", &ChromeEvent::phase},
         {"name", &ChromeEvent::name},
         {"cat", &ChromeEvent::category},
         {"pid", &ChromeEvent::processId},
         {"tid", &ChromeEvent::threadId},
         {"id", &ChromeEvent::id},
         {"ts", &ChromeEvent::time},
         {"dur", &ChromeEvent::duration}}};
    for (const auto& [name, field] : kFields) {
      if (key() == name) {
        event_.*field = std::move(value);
        return;
      }
    }
  }
  void fail(std::size_t position, const std::string& words) override {
    constexpr std::size_t kMaxWords = 200;  // they may quote as much as the text has
    const std::size_t begin = words.find("] ") + 2;
    throw Error(ErrorCode::kInvalidArgument,
                path_ + " is no Chrome trace: byte " + std::to_string(position) +
                    " of its text: " + replaceInvalidUtf8(words.substr(begin, kMaxWords)));
  }

  const std::string path_;
  ChromeEventSink* const sink_;
  Place place_ = Place::kOutside;
  bool hasFoundEvents_ = false;
  ChromeEvent event_;
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

class GzipStreamBuffer : public std::streambuf {
 public:
  explicit GzipStreamBuffer(const std::string& path) : file_(path), bytes_(std::size_t{1} << 16) {}

 protected:
  int_type underflow() override {
    const std::size_t size = file_.readSome(bytes_.data(), bytes_.size());
    setg(bytes_.data(), bytes_.data(), bytes_.data() + size);
    return size == 0 ? traits_type::eof() : traits_type::to_int_type(bytes_[0]);
  }

 private:
  GzipFile file_;
  std::vector<char> bytes_;
};

}  // namespace

const JsonValue* ChromeEvent::argument(std::string_view key) const {
  const auto found = std::find_if(arguments.begin(), arguments.end(),
                                  [&](const JsonMember& member) { return member.key == key; });
  return found == arguments.end() ? nullptr : &found->value;
}

void readChromeEvents(const std::string& path, ChromeEventSink* sink) {
  GzipStreamBuffer buffer(path);
  std::istream text(&buffer);
  ChromeListener listener(path, sink);
  nlohmann::json::sax_parse(text, &listener);
  if (!listener.hasFoundEvents()) {
    throw Error(ErrorCode::kInvalidArgument,
                path + " is no Chrome trace: it has no array \"traceEvents\"");
  }
}

std::vector<JsonMember> jsonMembers(const std::string& json) {
  MemberListener listener;
  nlohmann::json::sax_parse(json, &listener);
  return listener.takeMembers();
}

}  // namespace steptape::detail
