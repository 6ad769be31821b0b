#pragma once

#include <string_view>

namespace frostline::study {

/// The style sheet of the report: light, dark, narrow and paper.
std::string_view report_style();

}  // namespace frostline::study
