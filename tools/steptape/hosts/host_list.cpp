// SPDX-License-Identifier: Apache-2.0
#include "tools/steptape/hosts/host_list.h"

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <sstream>
#include <string_view>

#include "base/got_expected.h"
#include "base/text.h"
#include "base/whole_file.h"
#include "tools/steptape/programs/words.h"

namespace steptape::tools {
namespace {

constexpr int kMostSlots = 1 << 20;
constexpr std::string_view kSlots = "slots=";

int slotsIn(std::string_view number, const std::string& where) {
  int slots = 0;
  const auto [end, error] = std::from_chars(number.data(), number.data() + number.size(), slots);
  if (error != std::errc() || end != number.data() + number.size() || slots < 1 ||
      slots > kMostSlots) {
    detail::base::reject("slots " + detail::base::quoted(number), "a number of at least 1", where);
  }
  return slots;
}

/// Parses "node1", "node1:4" or the words of "node1 slots=4 max_slots=8".
Host hostOf(const std::vector<std::string>& words, const std::string& where) {
  Host host{words.front(), 0};
  // An IPv6 address has several colons, and no slots here.
  const std::size_t colon = host.name.find(':');
  if (colon != std::string::npos && colon == host.name.rfind(':')) {
    host.slots = slotsIn(std::string_view(host.name).substr(colon + 1), where);
    host.name.resize(colon);
  }
  for (std::size_t i = 1; i < words.size(); ++i) {
    if (detail::base::startsWith(words[i], kSlots)) {
      host.slots = slotsIn(std::string_view(words[i]).substr(kSlots.size()), where);
    }
  }
  if (host.name.empty() || host.name.front() == '-') {
    detail::base::reject("host " + detail::base::quoted(words.front()), "the name of a host",
                         where);
  }
  return host;
}

/// Adds a host; one that is named again takes one more rank for each time.
void add(const Host& host, std::vector<Host>* hosts) {
  const auto same = std::find_if(hosts->begin(), hosts->end(),
                                 [&](const Host& other) { return other.name == host.name; });
  if (same == hosts->end()) {
    hosts->push_back(host);
  } else {
    same->slots = std::max(same->slots, 1) + std::max(host.slots, 1);
  }
}

std::vector<Host> hostsInFile(const std::string& path) {
  std::string content;
  detail::base::readWholeFile(path, content).throwIfError();
  std::istringstream lines(content);
  std::vector<Host> hosts;
  std::string line;
  for (int number = 1; std::getline(lines, line); ++number) {
    const std::vector<std::string> words = wordsOf(line.substr(0, line.find('#')));
    if (!words.empty()) {
      add(hostOf(words, path + ", line " + std::to_string(number)), &hosts);
    }
  }
  return hosts;
}

}  // namespace

std::vector<Host> hostsOf(const std::string& text, int ranks) {
  std::error_code notThere;
  std::vector<Host> hosts;
  if (std::filesystem::is_regular_file(text, notThere)) {
    hosts = hostsInFile(text);
  } else if (text.find('/') != std::string::npos) {
    detail::base::reject("no file " + text, "names of hosts, or a host file", "--hosts");
  } else {
    for (const std::string& part : wordsOf(text, ",")) {
      add(hostOf({part}, "--hosts"), &hosts);
    }
  }
  if (hosts.empty()) {
    detail::base::reject("no host", "names of hosts, or a host file", "--hosts");
  }
  const int count = static_cast<int>(hosts.size());
  for (Host& host : hosts) {
    host.slots = host.slots == 0 ? (ranks + count - 1) / count : host.slots;
  }
  if (slotsOf(hosts) < ranks) {
    detail::base::reject(std::to_string(slotsOf(hosts)) + " slots",
                         "at least one for each of " + std::to_string(ranks) + " ranks", "--hosts");
  }
  return hosts;
}

int slotsOf(const std::vector<Host>& hosts) {
  int slots = 0;
  for (const Host& host : hosts) {
    slots += host.slots;
  }
  return slots;
}

std::string namesOf(const std::vector<Host>& hosts) {
  std::string names;
  for (const Host& host : hosts) {
    names += (names.empty() ? "" : ",") + host.name;
  }
  return names;
}

}  // namespace steptape::tools
