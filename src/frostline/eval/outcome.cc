#include "frostline/eval/outcome.h"

#include <algorithm>
#include <array>
#include <limits>

#include <fmt/format.h>

#include "frostline/core/error.h"
#include "frostline/data/table.h"

namespace frostline::eval {
namespace {

constexpr std::array kKinds = {
    OutcomeKind::kSuccess, OutcomeKind::kTaskFailure, OutcomeKind::kInfrastructureFailure};

const std::vector<std::string>& columns() {
  static const std::vector<std::string> names = {"task",
                                                 "condition",
                                                 "train_seed",
                                                 "env_seed",
                                                 "features",
                                                 "control",
                                                 "success",
                                                 "outcome",
                                                 "steps",
                                                 "reward_stage",
                                                 "duration_s",
                                                 "energy_j",
                                                 "checkpoint"};
  return names;
}

/// Reads the cells of one row by column name.
class RowReader {
 public:
  RowReader(const data::Table& table, std::size_t row, const std::filesystem::path& path)
      : table_(table), row_(row), path_(path) {}

  template <class T>
  T get(const char* column) const {
    const T* value = std::get_if<T>(&cell(column));
    FROSTLINE_REQUIRE(
        value != nullptr, ErrorCode::kData, "a cell is null or of the wrong type", where(column));
    return *value;
  }

  std::optional<double> optional_number(const char* column) const {
    if (std::holds_alternative<std::monostate>(cell(column))) {
      return std::nullopt;
    }
    return get<double>(column);
  }

  OutcomeKind kind() const {
    const auto text = get<std::string>("outcome");
    const auto found = std::find_if(
        kKinds.begin(), kKinds.end(), [&](OutcomeKind kind) { return to_string(kind) == text; });
    FROSTLINE_REQUIRE(found != kKinds.end(),
                      ErrorCode::kData,
                      "there is no such outcome",
                      fmt::format("{} value='{}'", where("outcome"), text));
    FROSTLINE_REQUIRE((*found == OutcomeKind::kSuccess) == get<bool>("success"),
                      ErrorCode::kData,
                      "the columns 'success' and 'outcome' disagree",
                      where("success"));
    return *found;
  }

  std::string where(const char* column) const {
    return fmt::format("file={} column={} row={}", path_.string(), column, row_);
  }

 private:
  const data::Cell& cell(const char* column) const {
    const auto found = std::find(table_.columns.begin(), table_.columns.end(), column);
    FROSTLINE_REQUIRE(
        found != table_.columns.end(),
        ErrorCode::kData,
        "the file of outcomes lacks a column",
        fmt::format(
            "file={} column={} found={}", path_.string(), column, fmt::join(table_.columns, ", ")));
    return table_.rows[row_][static_cast<std::size_t>(found - table_.columns.begin())];
  }

  const data::Table& table_;
  std::size_t row_;
  const std::filesystem::path& path_;
};

}  // namespace

std::string_view to_string(OutcomeKind kind) {
  switch (kind) {
    case OutcomeKind::kSuccess:
      return "success";
    case OutcomeKind::kTaskFailure:
      return "task_failure";
    case OutcomeKind::kInfrastructureFailure:
      return "infrastructure_failure";
  }
  return "unknown";
}

std::vector<SeedOutcome> counted_outcomes(std::span<const Outcome> outcomes) {
  std::vector<SeedOutcome> counted;
  for (const Outcome& outcome : outcomes) {
    if (outcome.kind != OutcomeKind::kInfrastructureFailure) {
      counted.push_back({static_cast<std::int64_t>(outcome.env_seed), outcome.is_success()});
    }
  }
  return counted;
}

void write_outcomes(const std::filesystem::path& path, std::span<const Outcome> outcomes) {
  data::Table table;
  table.columns = columns();
  for (const Outcome& outcome : outcomes) {
    FROSTLINE_CHECK(outcome.env_seed <=
                    static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max()));
    table.rows.push_back({
        outcome.task,
        outcome.condition,
        outcome.train_seed,
        static_cast<std::int64_t>(outcome.env_seed),
        outcome.features,
        outcome.control,
        outcome.is_success(),
        std::string(to_string(outcome.kind)),
        outcome.steps,
        outcome.reward_stage,
        outcome.duration_s,
        outcome.energy_j ? data::Cell(*outcome.energy_j) : data::Cell(),
        outcome.checkpoint,
    });
  }
  data::write_table(path, table);
}

std::vector<Outcome> read_outcomes(const std::filesystem::path& path) {
  const data::Table table = data::read_table(path);
  std::vector<Outcome> outcomes;
  for (std::size_t i = 0; i < table.rows.size(); ++i) {
    const RowReader row(table, i, path);
    Outcome outcome;
    outcome.task = row.get<std::string>("task");
    outcome.condition = row.get<std::string>("condition");
    outcome.train_seed = row.get<std::int64_t>("train_seed");
    const auto seed = row.get<std::int64_t>("env_seed");
    FROSTLINE_REQUIRE(seed >= 0, ErrorCode::kData, "a seed is negative", row.where("env_seed"));
    outcome.env_seed = static_cast<std::uint64_t>(seed);
    outcome.features = row.get<std::string>("features");
    outcome.control = row.get<std::string>("control");
    outcome.kind = row.kind();
    outcome.steps = row.get<std::int64_t>("steps");
    outcome.reward_stage = row.get<std::int64_t>("reward_stage");
    outcome.duration_s = row.get<double>("duration_s");
    outcome.energy_j = row.optional_number("energy_j");
    outcome.checkpoint = row.get<std::string>("checkpoint");
    outcomes.push_back(std::move(outcome));
  }
  return outcomes;
}

}  // namespace frostline::eval
