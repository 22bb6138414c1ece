// SPDX-License-Identifier: Apache-2.0
#include "profile/trace/chrome/bounded_json_text.h"

#include <algorithm>
#include <array>
#include <string_view>

#include "steptape/base/status.h"

#include "base/text.h"
#include "base/utf8.h"

namespace steptape::detail::profile {
namespace {

constexpr std::size_t kBufferBytes = std::size_t{1} << 16;
constexpr std::size_t kMaxBlanks = 256;
constexpr std::size_t kMaxBetween = std::size_t{1} << 16;  // for strings or numbers
constexpr char kMark[] = "\"\",";
constexpr char kEllipsis[] = "\u2026\"";
constexpr std::int64_t kEllipsisBytes = sizeof kEllipsis - sizeof "\"";

// The roles that a byte may have.
constexpr std::uint8_t kOfString = 1;  // except its end and a backslash
constexpr std::uint8_t kBlank = 2;
constexpr std::uint8_t kOfNumber = 4;
constexpr std::uint8_t kOfNonFinite = 8;  // the first of NaN, Infinity or -Infinity

constexpr std::array<std::uint8_t, 256> roles() {
  std::array<std::uint8_t, 256> roles{};
  for (std::size_t byte = 0; byte < roles.size(); ++byte) {
    const bool isBlank = byte == ' ' || byte == '\n' || byte == '\t' || byte == '\r';
    const bool isOfNumber = (byte >= '0' && byte <= '9') || byte == '.' || byte == '-' ||
                            byte == '+' || byte == 'e' || byte == 'E';
    const bool mayBeNonFinite = byte == 'N' || byte == 'I' || byte == '-';
    roles[byte] = static_cast<std::uint8_t>((byte != '"' && byte != '\\' ? kOfString : 0) |
                                            (isBlank ? kBlank : 0) | (isOfNumber ? kOfNumber : 0) |
                                            (mayBeNonFinite ? kOfNonFinite : 0));
  }
  return roles;
}

constexpr std::array<std::uint8_t, 256> kRoles = roles();

bool hasRole(char byte, std::uint8_t role) {
  return (kRoles[static_cast<unsigned char>(byte)] & role) != 0;
}

bool isBlank(char byte) {
  return hasRole(byte, kBlank);
}

/// Returns 0 for a character that is not a digit.
std::uint32_t hexValue(char digit) {
  return static_cast<std::uint32_t>(std::max(base::hexDigit(digit), 0));
}

}  // namespace

BoundedJsonText::BoundedJsonText(const std::string& path) : file_(path), buffer_(kBufferBytes) {}

bool BoundedJsonText::refill() {
  const std::size_t size = file_.readSome(buffer_.data(), buffer_.size());
  next_ = buffer_.data();
  plainEnd_ = next_;
  end_ = next_ + size;
  offset_ += size;
  isAtEnd_ = size == 0;
  return size > 0;
}

bool BoundedJsonText::readInspected() {
  if (*edits_.inserted != '\0') {
    return pass(*edits_.inserted++);
  }
  char byte = 0;
  if (!readByte(&byte)) {
    return false;
  }
  switch (place_) {
    case Place::kOutside:
      if (isBlank(byte) && lengths_.blanks < kMaxBlanks) {
        enterBlank();
        break;
      }
      if (isBlank(byte) && !skipBlanks(&byte)) {
        return false;
      }
      if (hasRole(byte, kOfNonFinite) && passNonFinite(byte)) {
        return true;
      }
      enterOutside(byte);
      break;
    case Place::kString:
      if (++lengths_.string > kMaxStringBytes && mayEndBefore(byte)) {
        return skipString(byte) && pass(*edits_.inserted++);
      }
      enterString(byte);
      break;
    case Place::kEscape:
      ++lengths_.string;
      enterEscape(byte);
      break;
    case Place::kCodeUnit:
      ++lengths_.string;
      enterCodeUnit(byte);
      break;
  }
  findPlain();
  return pass(byte);
}

/// Passes on NaN, Infinity or -Infinity as a string.
/// @param byte The first byte, or that of anything else.
/// @return whether a byte was passed on.
bool BoundedJsonText::passNonFinite(char byte) {
  const std::string_view word = byte == 'N' ? "NaN" : byte == 'I' ? "Infinity" : "-Infinity";
  if (lengths_.number > 0 || (byte == '-' && !(next_ < end_ || refill()))) {
    return false;
  }
  if (byte == '-' && *next_ != 'I') {
    return false;
  }
  std::size_t size = 1;
  char* out = edits_.replacement.data();
  *out++ = '"';
  *out++ = byte;
  for (char next = 0; size < word.size() && (next_ < end_ || refill()) && *next_ == word[size];
       ++size) {
    static_cast<void>(readByte(&next));
    *out++ = next;
  }
  const bool isWhole = size == word.size();
  *out = isWhole ? '"' : '\0';
  out[1] = '\0';
  edits_.nonFinite += isWhole ? 1 : 0;
  lengths_.blanks = 0;
  lengths_.between = 0;
  // What only begins like such a number is passed on as it is, for the parser to refuse.
  insert(edits_.replacement.data() + (isWhole ? 1 : 2), isWhole ? 2 : 0);
  plainEnd_ = next_;
  return pass(isWhole ? '"' : byte);
}

/// Inlined whatever else its unit has, because it visits most bytes of a file.
///
/// @param count Number of bytes with this role before the run; increased by the run's.
[[gnu::always_inline]] inline std::size_t BoundedJsonText::runOf(std::uint8_t role,
                                                                 std::size_t most,
                                                                 std::size_t* count) {
  const std::size_t room = std::min(most - std::min(most, *count),  //
                                    static_cast<std::size_t>(end_ - next_));
  const char* const limit = next_ + room;
  const char* end = next_;
  while (end != limit && hasRole(*end, role)) {
    ++end;
  }
  plainEnd_ = end;
  *count += static_cast<std::size_t>(end - next_);
  return static_cast<std::size_t>(end - next_);
}

/// Finds the bytes that only continue the current string, number or white space.
void BoundedJsonText::findPlain() {
  if (place_ == Place::kString) {
    character_.isHalfPair =
        runOf(kOfString, kMaxStringBytes, &lengths_.string) == 0 && character_.isHalfPair;
  } else if (place_ == Place::kOutside && lengths_.blanks > 0) {
    lengths_.between += runOf(kBlank, kMaxBlanks, &lengths_.blanks);
  } else if (place_ == Place::kOutside && lengths_.number > 0) {
    lengths_.between += runOf(kOfNumber, kMaxNumberBytes, &lengths_.number);
  }
}

/// @param byte REQUIRES: not blank.
void BoundedJsonText::enterOutside(char byte) {
  ++lengths_.between;
  lengths_.blanks = 0;
  if (hasRole(byte, kOfNumber)) {
    lengths_.between = lengths_.number == 0 && byte != 'e' && byte != 'E' ? 0 : lengths_.between;
    if (++lengths_.number > kMaxNumberBytes) {
      fail("got a number of more than " + std::to_string(kMaxNumberBytes) +
           " characters; expected at most so many");
    }
    return;
  }
  lengths_.number = 0;
  if (byte == '"') {
    place_ = Place::kString;
    lengths_.string = 0;
    lengths_.between = 0;
    character_.isHalfPair = false;
  } else if (byte == '[' || byte == '{') {
    enterArrayOrObject(byte == '[');
  } else if ((byte == ']' || byte == '}') && !areArrays_.empty()) {
    areArrays_.pop_back();
  } else if (byte == ',' && lengths_.between > kMaxBetween && !areArrays_.empty() &&
             areArrays_.back()) {
    insert(kMark, sizeof kMark - 1);
    edits_.isMark = true;
    lengths_.between = 0;
  }
}

void BoundedJsonText::enterArrayOrObject(bool isArray) {
  areArrays_.push_back(isArray);
  if (areArrays_.size() > kMaxDepth) {
    fail("got more than " + std::to_string(kMaxDepth) +
         " levels of arrays and objects; expected at most so many");
  }
}

void BoundedJsonText::enterString(char byte) {
  if (byte == '"') {
    place_ = Place::kOutside;
  } else if (byte == '\\') {
    place_ = Place::kEscape;
  } else {
    character_.isHalfPair = false;
  }
}

void BoundedJsonText::enterEscape(char byte) {
  place_ = byte == 'u' ? Place::kCodeUnit : Place::kString;
  character_.codeUnit = 0;
  character_.hexDigits = 4;
  character_.isHalfPair = false;
}

void BoundedJsonText::enterCodeUnit(char byte) {
  character_.codeUnit = character_.codeUnit << 4 | hexValue(byte);
  if (--character_.hexDigits == 0) {
    character_.isHalfPair = (character_.codeUnit & 0xfc00U) == 0xd800;
    place_ = Place::kString;
  }
}

/// Returns whether the string is well-formed if it ends before this byte.
bool BoundedJsonText::mayEndBefore(char byte) const {
  return byte != '"' && !base::isUtf8Continuation(byte) && !character_.isHalfPair;
}

/// @param byte In: the first byte to omit. Out: the first byte after the white space.
/// @return false at the end of the file.
bool BoundedJsonText::skipBlanks(char* byte) {
  while (isBlank(*byte)) {
    ++edits_.leftOut;
    if (!readByte(byte)) {
      return false;
    }
  }
  return true;
}

/// Skips the rest of the string; its end is reported next.
/// @return false at the end of the file.
bool BoundedJsonText::skipString(char byte) {
  for (bool isEscaped = false; isEscaped || byte != '"';) {
    isEscaped = !isEscaped && byte == '\\';
    ++edits_.leftOut;
    if (!readByte(&byte)) {
      return false;
    }
  }
  // The inserted quote replaces the string's own.
  insert(kEllipsis, kEllipsisBytes);
  place_ = Place::kOutside;
  return true;
}

void BoundedJsonText::insert(const char* text, std::int64_t bytes) {
  edits_.inserted = text;
  edits_.leftOut -= bytes;
}

void BoundedJsonText::fail(const std::string& problem) const {
  const std::uint64_t offset = offset_ - static_cast<std::uint64_t>(end_ - next_);
  throw Error(ErrorCode::kInvalidArgument, file_.path() + " is not a Chrome trace: at byte " +
                                               std::to_string(offset) + " of its text: " + problem);
}

}  // namespace steptape::detail::profile
