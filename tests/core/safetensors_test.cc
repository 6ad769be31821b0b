#include "frostline/core/safetensors.h"

#include <cstring>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "frostline/core/error.h"
#include "frostline/core/file.h"
#include "tests/support/temp_folder.h"

namespace frostline {
namespace {

SafeTensors sample() {
  SafeTensors content;
  const std::vector<float> a = {1, 2, 3, 4, 5, 6};
  const std::vector<std::int8_t> b = {-128, 0, 127};
  content.tensors.emplace("a", HostTensor::from<float>({2, 3}, a));
  content.tensors.emplace("b", HostTensor::from<std::int8_t>({3}, b));
  content.tensors.emplace("empty", HostTensor(DType::kI64, {0}));
  content.metadata["spec"] = "{\"dim\": 3}";
  return content;
}

std::string raw_file(const std::string& header, const std::string& data) {
  const std::uint64_t size = header.size();
  std::string bytes(8, '\0');
  std::memcpy(bytes.data(), &size, 8);
  return bytes + header + data;
}

void expect_refused(const std::filesystem::path& path, const std::string& text) {
  try {
    read_safetensors(path);
    FAIL() << "must be refused";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::kData) << error.what();
    EXPECT_NE(std::string(error.what()).find(text), std::string::npos) << error.what();
    EXPECT_NE(std::string(error.what()).find(path.string()), std::string::npos) << error.what();
  }
}

TEST(SafeTensors, RoundTrip) {
  const test::TempFolder folder;
  const auto path = folder.path() / "x.safetensors";
  write_safetensors(path, sample());
  const auto back = read_safetensors(path);
  EXPECT_EQ(back.metadata, sample().metadata);
  ASSERT_EQ(back.tensors.size(), 3U);
  EXPECT_EQ(back.tensors.at("a").data<float>()[5], 6);
  EXPECT_EQ(back.tensors.at("b").data<std::int8_t>()[0], -128);
  EXPECT_EQ(back.tensors.at("empty").shape(), Shape{0});
}

TEST(SafeTensors, EveryTruncationIsRefused) {
  const test::TempFolder folder;
  const auto path = folder.path() / "x.safetensors";
  write_safetensors(path, sample());
  const std::string whole = read_file(path);
  for (std::size_t size = 0; size < whole.size(); ++size) {
    write_file_atomic(path, whole.substr(0, size));
    EXPECT_THROW(read_safetensors(path), Error) << "size " << size;
  }
}

TEST(SafeTensors, EveryFlippedHeaderByteIsReadOrRefusedButNeverCrashes) {
  const test::TempFolder folder;
  const auto path = folder.path() / "x.safetensors";
  write_safetensors(path, sample());
  const std::string whole = read_file(path);
  for (std::size_t i = 0; i < whole.size() - 27; ++i) {
    std::string damaged = whole;
    damaged[i] = static_cast<char>(damaged[i] ^ 0x15);
    write_file_atomic(path, damaged);
    try {
      read_safetensors(path);
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::kData);
    }
  }
}

TEST(SafeTensors, BadHeadersAreNamed) {
  const test::TempFolder folder;
  const auto path = folder.path() / "x.safetensors";
  const std::string data(8, '\1');
  write_file_atomic(path,
                    raw_file(R"({"t":{"dtype":"F32","shape":[2],"data_offsets":[0,9]}})", data));
  expect_refused(path, "tensor=t data_offsets=[0, 9]");
  write_file_atomic(path,
                    raw_file(R"({"t":{"dtype":"F32","shape":[3],"data_offsets":[0,8]}})", data));
  expect_refused(path, "needs 12 bytes");
  write_file_atomic(path,
                    raw_file(R"({"t":{"dtype":"F8","shape":[8],"data_offsets":[0,8]}})", data));
  expect_refused(path, "unknown dtype");
  write_file_atomic(
      path,
      raw_file(R"({"t":{"dtype":"F32","shape":[4611686018427387905,4],"data_offsets":[0,8]}})",
               data));
  expect_refused(path, "tensor=t");
  write_file_atomic(path, raw_file("[1]", data));
  expect_refused(path, "not a JSON object");
}

}  // namespace
}  // namespace frostline
