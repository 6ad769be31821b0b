#include <cstdint>
#include <sstream>
#include <string>

#include <CLI/CLI.hpp>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <protozero/pbf_reader.hpp>
#include <protozero/pbf_writer.hpp>
#include <spdlog/sinks/ostream_sink.h>
#include <spdlog/spdlog.h>
#include <toml++/toml.h>

#include "frostline/version.h"

namespace {

TEST(Json, RoundTripsNumbersAndNull) {
  const auto document = nlohmann::json::parse(R"({"watts_w": 12.5, "joules_j": null})");
  EXPECT_DOUBLE_EQ(document.at("watts_w").get<double>(), 12.5);
  EXPECT_TRUE(document.at("joules_j").is_null());
  EXPECT_EQ(document.dump(), R"({"joules_j":null,"watts_w":12.5})");
}

TEST(Toml, ReportsWhereAKeyStands) {
  const toml::table table = toml::parse("[train]\nsteps = 300\n");
  EXPECT_EQ(table["train"]["steps"].value<std::int64_t>(), 300);
  EXPECT_EQ(table["train"]["steps"].node()->source().begin.line, 2U);
}

TEST(CommandLine, ParsesASubcommand) {
  CLI::App app{"frostline"};
  std::string boundary;
  CLI::App* train = app.add_subcommand("train");
  train->add_option("--boundary", boundary);
  app.parse("train --boundary L4", false);
  EXPECT_TRUE(train->parsed());
  EXPECT_EQ(boundary, "L4");
}

TEST(Logging, WritesToTheGivenSink) {
  std::ostringstream stream;
  spdlog::logger logger("test", std::make_shared<spdlog::sinks::ostream_sink_mt>(stream));
  logger.set_pattern("%l %v");
  logger.warn("meter {} is {}", "package", "unmeasured");
  EXPECT_EQ(stream.str(), "warning meter package is unmeasured\n");
}

TEST(Protozero, ReadsWhatItWrote) {
  std::string bytes;
  {
    protozero::pbf_writer writer(bytes);
    writer.add_int64(1, -7);
    writer.add_string(3, "conv");
  }
  protozero::pbf_reader reader(bytes);
  ASSERT_TRUE(reader.next(1));
  EXPECT_EQ(reader.get_int64(), -7);
  ASSERT_TRUE(reader.next(3));
  EXPECT_EQ(reader.get_string(), "conv");
}

TEST(Version, HasThreeNumbers) {
  int major = -1;
  int minor = -1;
  int patch = -1;
  EXPECT_EQ(
      std::sscanf(std::string(frostline::kVersion).c_str(), "%d.%d.%d", &major, &minor, &patch), 3);
}

}  // namespace
