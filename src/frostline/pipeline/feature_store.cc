#include "frostline/pipeline/feature_store.h"

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <chrono>
#include <cstring>
#include <deque>
#include <fstream>

#include <signal.h>
#include <unistd.h>

#include <fmt/format.h>

#include "frostline/core/clock.h"
#include "frostline/core/error.h"
#include "frostline/core/json.h"
#include "frostline/core/log.h"
#include "frostline/core/shutdown.h"

namespace frostline::pipeline {

namespace fs = std::filesystem;

namespace {

constexpr auto kEncodeDeadline = std::chrono::milliseconds(120'000);

Fingerprint hash_of(std::span<const std::byte> bytes) {
  Fingerprinter hash;
  hash.add(bytes);
  return hash.finish();
}

std::size_t sum_bytes(const std::vector<TensorSpec>& spec) {
  std::size_t total = 0;
  for (const auto& tensor : spec) {
    total += tensor.num_bytes();
  }
  return total;
}

std::vector<TensorSpec> without_batch(std::vector<TensorSpec> specs) {
  for (auto& spec : specs) {
    spec.shape.erase(spec.shape.begin());
  }
  return specs;
}

Json to_json(const std::vector<TensorSpec>& specs) {
  Json result = Json::array();
  for (const auto& spec : specs) {
    result.push_back(
        {{"name", spec.name}, {"dtype", to_string(spec.dtype)}, {"shape", spec.shape}});
  }
  return result;
}

std::vector<TensorSpec> specs_from_json(const Json& document, const fs::path& file) {
  std::vector<TensorSpec> specs;
  for (const auto& entry : document) {
    const auto dtype = entry.at("dtype").get<std::string>();
    const auto shape = entry.at("shape").get<Shape>();
    FROSTLINE_REQUIRE((dtype == "i8" || dtype == "f32") &&
                          std::ranges::all_of(shape, [](std::int64_t size) { return size > 0; }),
                      ErrorCode::kData,
                      "feature store describes a tensor that there cannot be",
                      fmt::format("file={} tensor={} dtype={} shape={} ; remove the folder",
                                  file.string(),
                                  entry.at("name").dump(),
                                  dtype,
                                  to_string(shape)));
    specs.push_back(
        {entry.at("name").get<std::string>(), dtype == "i8" ? DType::kI8 : DType::kF32, shape});
  }
  return specs;
}

/// Encodes the anchors of a plan in order, keeping every slot of the session busy.
class Encoding {
 public:
  Encoding(const BatchPlan& plan, accel::EncoderSession& session) : plan_(plan), session_(session) {
    for (const auto& output : session.outputs()) {
      outputs_.emplace_back(output.num_bytes());
    }
  }

  void run(std::ostream& out, const std::function<void(std::int64_t)>& on_progress) {
    const std::int64_t batch_size = session_.input().shape[0];
    const std::int64_t total = plan_.sampler->num_anchors();
    for (std::int64_t first = 0; first < total; first += batch_size) {
      throw_if_shutdown_requested();
      if (static_cast<int>(in_flight_.size()) == session_.num_slots()) {
        collect(out);
        on_progress(first);
      }
      submit(first, std::min(batch_size, total - first));
    }
    while (!in_flight_.empty()) {
      collect(out);
    }
    on_progress(total);
  }

 private:
  struct Request {
    accel::Ticket ticket;
    std::int64_t count = 0;
  };

  void submit(std::int64_t first, std::int64_t count) {
    const accel::Slot slot = session_.borrow();
    std::span<std::uint8_t> pixels(reinterpret_cast<std::uint8_t*>(slot.input.data()),
                                   slot.input.size());
    const std::size_t num_bytes = plan_.image_num_bytes();
    for (std::int64_t i = 0; i < count; ++i) {
      plan_.read_image(plan_.sampler->anchors()[static_cast<std::size_t>(first + i)],
                       pixels.first(num_bytes));
      pixels = pixels.subspan(num_bytes);
    }
    std::fill(pixels.begin(), pixels.end(), std::uint8_t{0});
    in_flight_.push_back({session_.submit(slot), count});
  }

  void collect(std::ostream& out) {
    const Request request = in_flight_.front();
    in_flight_.pop_front();
    std::vector<std::span<std::byte>> views(outputs_.begin(), outputs_.end());
    session_.wait(request.ticket, views, kEncodeDeadline);
    const auto batch_size = static_cast<std::size_t>(session_.input().shape[0]);
    for (std::size_t i = 0; i < static_cast<std::size_t>(request.count); ++i) {
      for (const auto& output : outputs_) {
        const std::size_t size = output.size() / batch_size;
        out.write(reinterpret_cast<const char*>(output.data() + i * size),
                  static_cast<std::streamsize>(size));
      }
    }
  }

  const BatchPlan& plan_;
  accel::EncoderSession& session_;
  std::vector<std::vector<std::byte>> outputs_;
  std::deque<Request> in_flight_;
};

bool is_usable(const fs::path& folder,
               const Fingerprint& key,
               const std::vector<TensorSpec>& spec) {
  if (!fs::exists(folder / "store.json")) {
    return false;
  }
  try {
    const FeatureStore store(folder, key);
    FROSTLINE_REQUIRE(store.spec() == spec,
                      ErrorCode::kData,
                      "feature store describes other tensors than the encoder gives",
                      fmt::format("file={}", (folder / "store.json").string()));
    store.verify();
    return true;
  } catch (const Error& e) {
    log_warning("{} ; it is built again", e.what());
    return false;
  }
}

/// Removes what builds of processes that are gone left: `<key>.<process id>.partial`.
void remove_abandoned_builds(const fs::path& cache) {
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(cache, error)) {
    if (entry.path().extension() != ".partial") {
      continue;
    }
    const std::string id = entry.path().stem().extension().string();
    pid_t process = 0;
    const auto parsed = std::from_chars(
        id.data() + std::min<std::size_t>(id.size(), 1), id.data() + id.size(), process);
    const bool is_whole = parsed.ec == std::errc() && parsed.ptr == id.data() + id.size();
    if (is_whole && process > 0 && ::kill(process, 0) != 0 && errno == ESRCH) {
      log_info("removing a feature store that was never finished: {}", entry.path().string());
      std::error_code ignored;
      fs::remove_all(entry.path(), ignored);
    }
  }
}

}  // namespace

Fingerprint FeatureKey::fingerprint() const {
  Fingerprinter hash;
  hash.add("frostline feature store 2");
  hash.add(artefact.hex);
  hash.add(runtime_identity);
  hash.add(dataset.hex);
  hash.add(decoder);
  hash.add(camera);
  hash.add(stride);
  for (const auto episode : episodes) {
    hash.add(episode);
  }
  return hash.finish();
}

FeatureStore::FeatureStore(const fs::path& folder, const Fingerprint& key) : folder_(folder) {
  const fs::path description = folder / "store.json";
  const Json document = read_json(description);
  try {
    FROSTLINE_REQUIRE(document.at("key").get<std::string>() == key.hex,
                      ErrorCode::kData,
                      "feature store belongs to another encoder or data set",
                      fmt::format("folder={} key={} wanted={}",
                                  folder.string(),
                                  document.at("key").get<std::string>(),
                                  key.hex));
    spec_ = specs_from_json(document.at("tensors"), description);
    num_anchors_ = document.at("num_anchors").get<std::int64_t>();
    FROSTLINE_REQUIRE(
        num_anchors_ > 0,
        ErrorCode::kData,
        "feature store is empty",
        fmt::format(
            "file={} num_anchors={} ; remove the folder", description.string(), num_anchors_));
    sha256_ = document.at("sha256").get<std::string>();
  } catch (const Json::exception& e) {
    throw Error(ErrorCode::kData,
                "feature store description is damaged",
                fmt::format("file={} {} ; remove the folder", description.string(), e.what()));
  }
  anchor_bytes_ = sum_bytes(spec_);
  file_ = MappedFile(folder / "features.bin");
  const std::size_t expected = anchor_bytes_ * static_cast<std::size_t>(num_anchors_);
  FROSTLINE_REQUIRE(file_.bytes().size() == expected,
                    ErrorCode::kData,
                    "feature store has the wrong size",
                    fmt::format("file={} bytes={} expected={} ; remove the folder",
                                (folder / "features.bin").string(),
                                file_.bytes().size(),
                                expected));
}

std::span<const std::byte> FeatureStore::anchor(std::int64_t index) const {
  FROSTLINE_CHECK(index >= 0 && index < num_anchors_);
  return file_.bytes().subspan(static_cast<std::size_t>(index) * anchor_bytes_, anchor_bytes_);
}

void FeatureStore::verify() const {
  const std::string actual = hash_of(file_.bytes()).hex;
  FROSTLINE_REQUIRE(actual == sha256_,
                    ErrorCode::kData,
                    "feature store is corrupt",
                    fmt::format("file={} sha256={} expected={} ; remove the folder",
                                (folder_ / "features.bin").string(),
                                actual,
                                sha256_));
}

BuildResult build_feature_store(const fs::path& cache,
                                const FeatureKey& key,
                                const BatchPlan& plan,
                                accel::EncoderSession& session,
                                const std::function<void(std::int64_t)>& on_progress) {
  const Fingerprint fingerprint = key.fingerprint();
  BuildResult result{cache / fingerprint.hex, false, plan.sampler->num_anchors(), 0};
  remove_abandoned_builds(cache);
  const auto spec = without_batch(session.outputs());
  if (is_usable(result.folder, fingerprint, spec)) {
    result.was_present = true;
    return result;
  }
  const auto begin_ns = Clock::steady().now_ns();
  const fs::path partial = result.folder.string() + fmt::format(".{}.partial", ::getpid());
  fs::create_directories(partial);
  try {
    replace_file(partial / "features.bin", [&](const fs::path& path) {
      std::ofstream out(path, std::ios::binary);
      out.exceptions(std::ios::badbit | std::ios::failbit);
      Encoding(plan, session).run(out, on_progress);
    });
    write_json(partial / "store.json",
               {{"key", fingerprint.hex},
                {"artefact", key.artefact.hex},
                {"runtime", key.runtime_identity},
                {"dataset", key.dataset.hex},
                {"camera", key.camera},
                {"stride", key.stride},
                {"num_anchors", result.num_anchors},
                {"tensors", to_json(spec)},
                {"sha256", hash_of(MappedFile(partial / "features.bin").bytes()).hex}});
    replace_folder(partial, result.folder);
  } catch (const std::ios_base::failure& e) {
    fs::remove_all(partial);
    throw Error(ErrorCode::kIo,
                "cannot write the feature store",
                fmt::format("folder={} needs {} bytes ; {}",
                            result.folder.string(),
                            sum_bytes(spec) * static_cast<std::size_t>(result.num_anchors),
                            e.what()));
  } catch (...) {
    fs::remove_all(partial);
    throw;
  }
  result.duration_s = seconds(Clock::steady().now_ns() - begin_ns);
  return result;
}

}  // namespace frostline::pipeline
