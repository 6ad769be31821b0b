#include "frostline/study/report_svg.h"

#include <cmath>
#include <iterator>

#include <fmt/format.h>

#include "frostline/study/report_format.h"

namespace frostline::study {

namespace {

template <class... Args>
void append(std::string& body, fmt::format_string<Args...> format, Args&&... args) {
  fmt::format_to(std::back_inserter(body), format, std::forward<Args>(args)...);
}

}  // namespace

Svg::Svg(double width, double height, std::string_view label) {
  append(body_,
         "<svg viewBox=\"0 0 {:.0f} {:.0f}\" role=\"img\" aria-label=\"{}\">\n",
         width,
         height,
         escape(label));
}

void Svg::rect(double x,
               double y,
               double width,
               double height,
               std::string_view style_class,
               std::string_view tooltip) {
  append(body_,
         "<rect x=\"{:.2f}\" y=\"{:.2f}\" width=\"{:.2f}\" height=\"{:.2f}\" class=\"{}\"",
         x,
         y,
         width,
         height,
         style_class);
  if (tooltip.empty()) {
    body_ += "/>\n";
  } else {
    append(body_, "><title>{}</title></rect>\n", escape(tooltip));
  }
}

void Svg::line(double x1, double y1, double x2, double y2, std::string_view style_class) {
  append(body_,
         "<line x1=\"{:.2f}\" y1=\"{:.2f}\" x2=\"{:.2f}\" y2=\"{:.2f}\" class=\"{}\"/>\n",
         x1,
         y1,
         x2,
         y2,
         style_class);
}

void Svg::circle(double x, double y, double radius, std::string_view style_class) {
  append(body_,
         "<circle cx=\"{:.2f}\" cy=\"{:.2f}\" r=\"{:.1f}\" class=\"{}\"/>\n",
         x,
         y,
         radius,
         style_class);
}

void Svg::text(double x,
               double y,
               std::string_view text,
               std::string_view anchor,
               std::string_view style_class) {
  append(body_, "<text x=\"{:.2f}\" y=\"{:.2f}\" text-anchor=\"{}\"", x, y, anchor);
  if (!style_class.empty()) {
    append(body_, " class=\"{}\"", style_class);
  }
  append(body_, ">{}</text>\n", escape(text));
}

void Svg::path(const std::vector<std::pair<double, double>>& points, std::string_view style_class) {
  append(body_, "<polyline class=\"{}\" points=\"", style_class);
  for (const auto& [x, y] : points) {
    append(body_, "{:.1f},{:.1f} ", x, y);
  }
  body_ += "\"/>\n";
}

std::string Svg::finish() && {
  body_ += "</svg>\n";
  return std::move(body_);
}

std::string in_two_widths(const std::string& wide, const std::string& narrow) {
  return fmt::format(
      "<div class=\"wide\">{}</div>\n<div class=\"narrow\">{}</div>\n", wide, narrow);
}

std::vector<double> nice_ticks(double low, double high, int count) {
  if (!(high > low) || count < 1) {
    return {low};
  }
  const double raw = (high - low) / count;
  const double power = std::pow(10, std::floor(std::log10(raw)));
  const double leading = raw / power;
  const double step = power * (leading <= 1 ? 1 : leading <= 2 ? 2 : leading <= 5 ? 5 : 10);
  std::vector<double> ticks;
  for (double k = std::ceil(low / step - 1e-9); k * step <= high + 1e-9 * step; ++k) {
    ticks.push_back(k * step);
  }
  return ticks;
}

}  // namespace frostline::study
