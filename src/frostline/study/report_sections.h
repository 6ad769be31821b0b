#pragma once

#include <string>

#include "frostline/study/report.h"

namespace frostline::study {

/// Parts of the report, each with its heading.
std::string condition_section(const ReportData& data);
std::string success_section(const ReportData& data);
std::string pair_section(const ReportData& data);
std::string parity_section(const ReportData& data);
std::string meter_section(const ReportData& data);
std::string set_up_section(const ReportData& data);

}  // namespace frostline::study
