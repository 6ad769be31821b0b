#include "frostline/graph/onnx.h"

#include <gtest/gtest.h>

#include "frostline/core/random.h"
#include "frostline/graph/builder.h"

namespace frostline::graph {
namespace {

Graph small_graph() {
  Builder builder("small");
  const std::string x = builder.input({"x", DType::kF32, {1, 2, 4, 4}});
  builder.constant("w", {2, 2, 1, 1}, std::vector<float>{1, -2, 3, 0.5F});
  builder.constant("b", {2}, std::vector<float>{0.25F, -1});
  const std::string y = builder.conv("y", x, "w", "b", 1, 0);
  const std::string flat = builder.reshape("flat", y, {0, 2, -1});
  const std::string tokens = builder.transpose("tokens", flat, {0, 2, 1});
  builder.constant("scale", {}, std::vector<float>{0.1F});
  builder.constant("zero", HostTensor(DType::kI8, {}));
  builder.node(Op::kQuantizeLinear, "codes", {tokens, "scale", "zero"});
  builder.layer_norm("normal", tokens, "b", "b", 1e-5F);
  return std::move(builder).finish({"codes", "normal"});
}

/// Returns the error's code, or nothing when the bytes were read.
std::optional<ErrorCode> read(const std::string& bytes) {
  try {
    from_onnx(bytes, "test.onnx");
    return std::nullopt;
  } catch (const Error& e) {
    EXPECT_NE(std::string(e.what()).find("file=test.onnx"), std::string::npos) << e.what();
    return e.code();
  }
}

TEST(Onnx, ReadsBackWhatItWrote) {
  const Graph graph = small_graph();
  const std::string bytes = to_onnx(graph);
  const Graph again = from_onnx(bytes, "memory");
  EXPECT_TRUE(is_same(graph, again));
  EXPECT_EQ(again.name, "small");
  EXPECT_EQ(to_onnx(again), bytes);
}

TEST(Onnx, RefusesEveryTruncation) {
  const std::string bytes = to_onnx(small_graph());
  for (std::size_t size = 0; size < bytes.size(); ++size) {
    EXPECT_TRUE(read(bytes.substr(0, size)).has_value()) << "size " << size;
  }
}

TEST(Onnx, SurvivesChangedBytes) {
  const std::string bytes = to_onnx(small_graph());
  Random random(3, RandomStream::kControl);
  int num_refused = 0;
  for (int i = 0; i < 4000; ++i) {
    std::string changed = bytes;
    changed[random.next_below(bytes.size())] = static_cast<char>(random.next_below(256));
    const auto code = read(changed);
    if (code.has_value()) {
      ++num_refused;
      EXPECT_TRUE(code == ErrorCode::kData || code == ErrorCode::kUnsupported) << to_string(*code);
    }
  }
  EXPECT_GT(num_refused, 1000);
}

TEST(Onnx, RefusesAnotherOpset) {
  std::string bytes = to_onnx(small_graph());
  ASSERT_EQ(bytes.back(), 17);
  bytes.back() = 9;
  EXPECT_EQ(read(bytes), ErrorCode::kUnsupported);
}

}  // namespace
}  // namespace frostline::graph
