// SPDX-License-Identifier: Apache-2.0
#include "profile/trace/perfetto_rules.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <utility>

namespace steptape {
namespace {

/// A double cannot hold nanoseconds of three months; long double can.
using Json = nlohmann::basic_json<std::map, std::vector, std::string, bool, std::int64_t,
                                  std::uint64_t, long double>;

using Row = std::pair<std::string, std::string>;  // process and thread

struct Slice {
  std::int64_t start;
  std::int64_t end;
  std::string name;
};

struct Point {
  Row row;
  std::int64_t time;
};

std::string textOf(const Json& event, const char* key) {
  return event.contains(key) ? event[key].dump() : "";
}

class Checker {
 public:
  std::vector<std::string> check(const std::string& text) {
    const Json file = parse(text);
    if (file.is_discarded()) {
      return {"is no JSON"};
    }
    if (!file.is_object() || !file.contains("traceEvents") || !file["traceEvents"].is_array()) {
      broken_.push_back("has no array traceEvents");
      return broken_;
    }
    for (const Json& event : file["traceEvents"]) {
      checkEvent(event);
    }
    checkNesting();
    checkAsync();
    checkFlows();
    return broken_;
  }

 private:
  template <typename... Parts>
  void report(const Json& event, const Parts&... parts) {
    std::string line = event.dump();
    ((line += parts), ...);
    broken_.push_back(line);
  }

  Json parse(const std::string& text) {
    std::vector<std::set<std::string>> keys;
    const auto noteKeys = [&](int /*depth*/, Json::parse_event_t event, Json& parsed) {
      if (event == Json::parse_event_t::object_start) {
        keys.emplace_back();
      } else if (event == Json::parse_event_t::object_end) {
        keys.pop_back();
      } else if (event == Json::parse_event_t::key &&
                 !keys.back().insert(parsed.get<std::string>()).second) {
        broken_.push_back("has the key " + parsed.dump() + " twice in one object");
      }
      return true;
    };
    return Json::parse(text, noteKeys, /*allow_exceptions=*/false);
  }

  void checkEvent(const Json& event) {
    if (!event.is_object() || !event.contains("ph") || !event["ph"].is_string() ||
        !event.contains("name") || !event["name"].is_string()) {
      report(event, " has no phase or no name");
      return;
    }
    const std::string phase = event["ph"];
    if (phase == "M") {
      if (!event.contains("args") || !event["args"].is_object()) {
        report(event, " has no arguments");
      }
      return;
    }
    const std::optional<std::int64_t> time = nanosOf(event, "ts");
    if (time) {
      checkTimed(event, phase, *time);
    }
  }

  void checkTimed(const Json& event, const std::string& phase, std::int64_t time) {
    const Row row{textOf(event, "pid"), textOf(event, "tid")};
    const std::string id = textOf(event, "cat") + textOf(event, "id");
    if (phase == "X") {
      if (const std::optional<std::int64_t> duration = nanosOf(event, "dur")) {
        slices_[row].push_back({time, time + *duration, event["name"]});
      }
      checkExternalId(event);
    } else if (phase == "b") {
      begins_[id + row.first].push_back({row, time});
      checkExternalId(event);
    } else if (phase == "e") {
      ends_[id + row.first].push_back({row, time});
    } else if (phase == "s") {
      flowBegins_[id].push_back({row, time});
    } else if (phase == "f") {
      flowEnds_[id].push_back({row, time});
      if (!event.contains("bp") || event["bp"] != "e") {
        report(event, " is not bound to the slice around it");
      }
    } else if (phase == "i") {
      if (!event.contains("s") || !std::set<Json>{"t", "p", "g"}.count(event["s"])) {
        report(event, " has no scope");
      }
    } else if (phase == "C") {
      checkCounter(event);
    } else {
      report(event, " has an unknown phase");
    }
  }

  void checkCounter(const Json& event) {
    bool hasNumbers = event.contains("args") && event["args"].is_object() && !event["args"].empty();
    for (const Json& value : hasNumbers ? event["args"] : Json()) {
      hasNumbers = hasNumbers && value.is_number();
    }
    if (!hasNumbers) {
      report(event, " has no numbers");
    }
  }

  void checkExternalId(const Json& event) {
    // Work of devices has the number of the operator that launched it.
    const bool isLaunched = event.contains("args") && event["args"].contains("correlation");
    if (!event.contains("args") || !event["args"].contains("External id") || isLaunched) {
      if (!isLaunched) {
        report(event, " has no \"External id\"");
      }
      return;
    }
    if (!externalIds_.insert(event["args"]["External id"].dump()).second) {
      report(event, " has no \"External id\" of its own");
    }
  }

  std::optional<std::int64_t> nanosOf(const Json& event, const char* key) {
    if (!event.contains(key) || !event[key].is_number() || event[key].get<long double>() < 0) {
      report(event, " has no ", key, " that is 0 or more");
      return {};
    }
    return std::llround(event[key].get<long double>() * 1000);
  }

  void checkNesting() {
    for (auto& [row, slices] : slices_) {
      std::stable_sort(slices.begin(), slices.end(), [](const Slice& a, const Slice& b) {
        return a.start != b.start ? a.start < b.start : a.end > b.end;
      });
      std::vector<const Slice*> open;
      for (const Slice& slice : slices) {
        while (!open.empty() && open.back()->end <= slice.start) {
          open.pop_back();
        }
        if (!open.empty() && slice.end > open.back()->end) {
          broken_.push_back(slice.name + " ends behind " + open.back()->name +
                            ", in which it begins");
        }
        open.push_back(&slice);
      }
    }
  }

  void checkAsync() {
    for (const auto& [id, begins] : begins_) {
      const auto ends = ends_.find(id);
      if (begins.size() != 1 || ends == ends_.end() || ends->second.size() != 1 ||
          ends->second[0].time < begins[0].time) {
        broken_.push_back("asynchronous span " + id + " has not one begin and then one end");
      }
    }
    for (const auto& [id, ends] : ends_) {
      if (begins_.count(id) == 0) {
        broken_.push_back("asynchronous span " + id + " has no begin");
      }
    }
  }

  void checkFlows() {
    for (const auto& [id, begins] : flowBegins_) {
      const auto ends = flowEnds_.find(id);
      if (begins.size() != 1 || ends == flowEnds_.end() || ends->second.size() != 1 ||
          ends->second[0].time < begins[0].time) {
        broken_.push_back("arrow " + id + " has not one begin and then one end");
        continue;
      }
      if (!isInSlice(begins[0]) || !isInSlice(ends->second[0])) {
        broken_.push_back("arrow " + id + " has an end that is in no slice");
      }
    }
    for (const auto& [id, ends] : flowEnds_) {
      if (flowBegins_.count(id) == 0) {
        broken_.push_back("arrow " + id + " has no begin");
      }
    }
  }

  bool isInSlice(const Point& point) const {
    const auto row = slices_.find(point.row);
    return row != slices_.end() &&
           std::any_of(row->second.begin(), row->second.end(), [&](const Slice& slice) {
             return slice.start <= point.time && point.time <= slice.end;
           });
  }

  std::vector<std::string> broken_;
  std::map<Row, std::vector<Slice>> slices_;
  std::map<std::string, std::vector<Point>> begins_, ends_, flowBegins_, flowEnds_;
  std::set<std::string> externalIds_;
};

}  // namespace

std::vector<std::string> brokenPerfettoRules(const std::string& json) {
  return Checker().check(json);
}

}  // namespace steptape
