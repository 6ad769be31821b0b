#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace frostline::study {

/// Writes one SVG picture whose colours come from the page's style. One thread.
class Svg {
 public:
  Svg(double width, double height, std::string_view label);

  void rect(double x,
            double y,
            double width,
            double height,
            std::string_view style_class,
            std::string_view tooltip = {});
  void line(double x1, double y1, double x2, double y2, std::string_view style_class);
  void circle(double x, double y, double radius, std::string_view style_class);
  /// `anchor`: `start`, `middle` or `end`.
  void text(double x,
            double y,
            std::string_view text,
            std::string_view anchor,
            std::string_view style_class = {});
  void path(const std::vector<std::pair<double, double>>& points, std::string_view style_class);

  std::string finish() &&;

 private:
  std::string body_;
};

/// The picture for wide pages and paper, and the one for narrow pages.
std::string in_two_widths(const std::string& wide, const std::string& narrow);

/// Round numbers that divide [low, high] into about `count` parts.
std::vector<double> nice_ticks(double low, double high, int count);

}  // namespace frostline::study
