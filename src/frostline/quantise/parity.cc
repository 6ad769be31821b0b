#include "frostline/quantise/parity.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

namespace frostline::quantise {

namespace {

struct Sums {
  double cosine = 0.0;
  std::int64_t num_tokens = 0;
  double squared_difference = 0.0;
  double squared_reference = 0.0;
};

void add_tokens(Sums& sums,
                std::span<const float> reference,
                std::span<const float> given,
                std::size_t width) {
  for (std::size_t start = 0; start < reference.size(); start += width) {
    double dot = 0.0;
    double norm_reference = 0.0;
    double norm_given = 0.0;
    for (std::size_t i = start; i < start + width; ++i) {
      const double b = reference[i];
      const double a = given[i];
      dot += a * b;
      norm_reference += b * b;
      norm_given += a * a;
      sums.squared_difference += (a - b) * (a - b);
    }
    sums.squared_reference += norm_reference;
    const double norm = std::sqrt(norm_reference * norm_given);
    // Two tokens of zeros agree; one of zeros and another do not.
    const bool are_both_zero = norm_reference == 0.0 && norm_given == 0.0;
    sums.cosine += are_both_zero ? 1.0 : (norm == 0.0 ? 0.0 : dot / norm);
    ++sums.num_tokens;
  }
}

ParityRow row_of(const std::string& tensor, const Sums& sums) {
  const double reference = std::sqrt(sums.squared_reference);
  const double difference = std::sqrt(sums.squared_difference);
  return {tensor,
          sums.cosine / static_cast<double>(sums.num_tokens),
          reference > 0.0 ? difference / reference : (difference > 0.0 ? INFINITY : 0.0)};
}

}  // namespace

std::vector<ParityRow> parity(const Runnable& reference,
                              const Runnable& candidate,
                              std::span<const HostTensor> batches) {
  FROSTLINE_REQUIRE(!batches.empty(), ErrorCode::kUsage, "parity needs frames", "batches=0");
  std::vector<std::size_t> partners;
  for (const TensorSpec& output : candidate.artefact.outputs) {
    const auto& known = reference.artefact.outputs;
    const auto found = std::ranges::find(known, output.name, &TensorSpec::name);
    FROSTLINE_REQUIRE(found != known.end() && found->shape == output.shape,
                      ErrorCode::kUsage,
                      "reference has no such tensor",
                      fmt::format("tensor={} shape={}", output.name, to_string(output.shape)));
    partners.push_back(static_cast<std::size_t>(found - known.begin()));
  }
  std::vector<Sums> sums(partners.size());
  for (const HostTensor& batch : batches) {
    const std::vector<HostTensor> expected = reference.run(batch);
    const std::vector<HostTensor> given = candidate.run(batch);
    for (std::size_t i = 0; i < partners.size(); ++i) {
      const HostTensor b =
          accel::dequantise(reference.artefact, partners[i], expected[partners[i]]);
      const HostTensor a = accel::dequantise(candidate.artefact, i, given[i]);
      add_tokens(
          sums[i], b.data<float>(), a.data<float>(), static_cast<std::size_t>(b.shape().back()));
    }
  }
  std::vector<ParityRow> rows;
  for (std::size_t i = 0; i < sums.size(); ++i) {
    rows.push_back(row_of(candidate.artefact.outputs[i].name, sums[i]));
  }
  return rows;
}

double worst_cosine(std::span<const ParityRow> rows) {
  double worst = 1.0;
  for (const ParityRow& row : rows) {
    worst = std::isnan(row.cosine) ? -1.0 : std::min(worst, row.cosine);
    if (std::isnan(row.cosine)) {
      return -1.0;
    }
  }
  return worst;
}

std::string to_text(std::span<const ParityRow> rows) {
  std::string text;
  for (const ParityRow& row : rows) {
    text += fmt::format("{}{} cosine={:.5f} relative_error={:.5f}",
                        text.empty() ? "" : "; ",
                        row.tensor,
                        row.cosine,
                        row.relative_error);
  }
  return text;
}

void require_parity(std::span<const ParityRow> rows, double min_cosine) {
  FROSTLINE_REQUIRE(!rows.empty() && worst_cosine(rows) >= min_cosine,
                    ErrorCode::kNumeric,
                    "encoder fails the parity gate",
                    fmt::format("least cosine allowed={} ; {} ; use a higher precision or more "
                                "calibration frames",
                                min_cosine,
                                to_text(rows)));
}

}  // namespace frostline::quantise
