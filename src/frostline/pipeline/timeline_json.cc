#include "frostline/pipeline/timeline_json.h"

#include <algorithm>
#include <map>
#include <string>

#include "frostline/core/json.h"

namespace frostline::pipeline {

void write_timeline_json(const std::filesystem::path& path, const std::vector<Span>& spans) {
  std::map<std::string, int> tracks;
  std::int64_t origin_ns = spans.empty() ? 0 : spans.front().begin_ns;
  for (const auto& span : spans) {
    tracks.emplace(span.lane, static_cast<int>(tracks.size()) + 1);
    origin_ns = std::min(origin_ns, span.begin_ns);
  }
  Json events = Json::array();
  for (const auto& [lane, track] : tracks) {
    events.push_back({{"name", "thread_name"},
                      {"ph", "M"},
                      {"pid", 1},
                      {"tid", track},
                      {"args", {{"name", lane}}}});
  }
  for (const auto& span : spans) {
    events.push_back({{"name", span.phase},
                      {"cat", span.lane},
                      {"ph", "X"},
                      {"pid", 1},
                      {"tid", tracks.at(span.lane)},
                      {"ts", static_cast<double>(span.begin_ns - origin_ns) * 1e-3},
                      {"dur", static_cast<double>(span.end_ns - span.begin_ns) * 1e-3},
                      {"args", {{"step", span.step}}}});
  }
  write_json(path, {{"traceEvents", events}, {"displayTimeUnit", "ms"}});
}

}  // namespace frostline::pipeline
