// SPDX-License-Identifier: Apache-2.0
#include "log/reader/run_sessions.h"

#include <algorithm>
#include <cstdint>
#include <map>

namespace steptape::detail::log {
namespace {

/// The file as its name counts it.
struct FileOfProcess {
  std::string process;  // empty: the name does not tell
  std::uint64_t number = 0;
};

bool isNumber(const std::string& text) {
  constexpr std::size_t kMostDigits = 18;
  return !text.empty() && text.size() <= kMostDigits &&
         text.find_first_not_of("0123456789") == std::string::npos;
}

FileOfProcess fileOfProcess(const std::string& path) {
  std::vector<std::string> fields{""};
  for (const char c : path.substr(path.rfind('/') + 1)) {
    if (c == '.') {
      fields.emplace_back();
    } else {
      fields.back() += c;
    }
  }
  // events, out, tfevents, seconds, host (which may have dots), process, number, suffix
  constexpr std::size_t kFirstProcess = 5;
  for (std::size_t i = fields.size(); i-- > kFirstProcess + 1;) {
    if (isNumber(fields[i]) && isNumber(fields[i - 1])) {
      FileOfProcess file;
      for (std::size_t j = kFirstProcess - 1; j < i; ++j) {
        file.process += fields[j] + '.';
      }
      file.number = std::stoull(fields[i]);
      return file;
    }
  }
  return {};
}

struct TimedFile {
  RunSession time;
  FileOfProcess file;
};

}  // namespace

std::vector<RunSession> sessionsOf(const std::vector<std::string>& paths,
                                   const std::vector<EventTimes>& times) {
  std::vector<TimedFile> files;
  for (std::size_t i = 0; i < times.size(); ++i) {
    if (times[i].isKnown()) {
      files.push_back({{times[i].first, times[i].last}, fileOfProcess(paths[i])});
    }
  }
  std::stable_sort(files.begin(), files.end(), [](const TimedFile& a, const TimedFile& b) {
    return a.time.begin < b.time.begin;
  });
  std::vector<RunSession> sessions;
  std::map<std::string, std::uint64_t> latest;  // of the last session, by process
  for (const TimedFile& each : files) {
    const auto known = latest.find(each.file.process);
    const bool isOfProcess =
        !each.file.process.empty() && known != latest.end() && each.file.number > known->second;
    if (!sessions.empty() && (isOfProcess || each.time.begin <= sessions.back().end)) {
      sessions.back().end = std::max(sessions.back().end, each.time.end);
    } else {
      sessions.push_back(each.time);
      latest.clear();
    }
    latest[each.file.process] = each.file.number;
  }
  return sessions;
}

}  // namespace steptape::detail::log
