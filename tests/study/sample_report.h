#pragma once

#include "frostline/study/report.h"

namespace frostline::test {

/// A report of made-up figures that has every kind of entry: measured, declared and unmeasured
/// energy, a condition that was not run, a failed gate, controls and three timelines.
study::ReportData sample_report();

}  // namespace frostline::test
