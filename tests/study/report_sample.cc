#include <cstdio>

#include "frostline/core/error.h"
#include "tests/study/sample_report.h"

/// Writes the made-up report, to be looked at: `report_sample FILE`.
int main(int argc, char** argv) {
  if (argc != 2) {
    std::fputs("usage: report_sample FILE\n", stderr);
    return 2;
  }
  try {
    const frostline::study::ReportData data = frostline::test::sample_report();
    frostline::study::write_report_html(data, argv[1]);
    frostline::study::print_table(data);
  } catch (const frostline::Error& e) {
    std::fprintf(stderr, "%s\n", e.what());
    return frostline::exit_code(e.code());
  }
  return 0;
}
