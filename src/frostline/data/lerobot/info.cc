#include "frostline/data/lerobot/info.h"

#include <cmath>

#include <fmt/args.h>
#include <fmt/format.h>

#include "frostline/core/error.h"

namespace frostline::data {

namespace fs = std::filesystem;

void add_error(Findings& findings,
               std::string code,
               const fs::path& file,
               std::string message,
               std::string remedy) {
  findings.push_back({Severity::kError,
                      std::move(code),
                      file.string(),
                      std::nullopt,
                      std::nullopt,
                      std::move(message),
                      std::move(remedy)});
}

void add_warning(Findings& findings,
                 std::string code,
                 const fs::path& file,
                 std::string message,
                 std::string remedy) {
  add_error(findings, std::move(code), file, std::move(message), std::move(remedy));
  findings.back().severity = Severity::kWarning;
}

std::string format_path(const std::string& pattern,
                        const std::string& video_key,
                        std::int64_t chunk_index,
                        std::int64_t file_index) {
  try {
    return fmt::format(fmt::runtime(pattern),
                       fmt::arg("video_key", video_key),
                       fmt::arg("chunk_index", chunk_index),
                       fmt::arg("file_index", file_index));
  } catch (const fmt::format_error& error) {
    throw Error(ErrorCode::kData,
                "path pattern of info.json cannot be used",
                fmt::format("pattern={} ; {} ; its fields are video_key, chunk_index, file_index",
                            pattern,
                            error.what()));
  }
}

std::string numpy_name(DType dtype) {
  switch (dtype) {
    case DType::kF32:
      return "float32";
    case DType::kF16:
      return "float16";
    case DType::kF64:
      return "float64";
    case DType::kI8:
      return "int8";
    case DType::kU8:
      return "uint8";
    case DType::kI32:
      return "int32";
    case DType::kI64:
      return "int64";
    case DType::kBool:
      return "bool";
    case DType::kBF16:
      break;
  }
  throw Error(ErrorCode::kUnsupported,
              "element type has no numpy name",
              fmt::format("dtype={} ; use f32", to_string(dtype)));
}

namespace {

constexpr const char* kRestore =
    "restore the file from its source, for example by downloading the data set again";

/// The nearest of our types; values are read as fp32 anyway.
std::optional<DType> dtype_of_numpy(const std::string& name) {
  for (const DType dtype : {DType::kF32,
                            DType::kF16,
                            DType::kF64,
                            DType::kI8,
                            DType::kU8,
                            DType::kI32,
                            DType::kI64,
                            DType::kBool}) {
    if (name == numpy_name(dtype)) {
      return dtype;
    }
  }
  if (name == "int16" || name == "uint16") {
    return DType::kI32;
  }
  if (name == "uint32" || name == "uint64") {
    return DType::kI64;
  }
  return std::nullopt;
}

class InfoReader {
 public:
  InfoReader(const Json& document, fs::path file, LeRobotInfo& out, Findings& findings)
      : json_(document), file_(std::move(file)), out_(out), findings_(findings) {}

  bool read() {
    if (!read_version()) {
      return false;
    }
    read_counts();
    read_features();
    return !is_broken_;
  }

 private:
  void fail(std::string code, std::string message, std::string remedy = kRestore) {
    add_error(findings_, std::move(code), file_, std::move(message), std::move(remedy));
    is_broken_ = true;
  }

  bool read_version() {
    const std::string version = json_.value("codebase_version", "");
    out_.info.version = version;
    int major = 0;
    if (version.size() < 2 || version[0] != 'v' ||
        std::sscanf(version.c_str(), "v%d", &major) != 1) {
      fail(
          "unknown_version",
          fmt::format("codebase_version is missing or unreadable: codebase_version='{}'", version));
      return false;
    }
    if (major < 3) {
      fail("old_version",
           fmt::format("data set has an older format: codebase_version={} needed=v3.0", version),
           "convert it with LeRobot: python -m "
           "lerobot.datasets.v30.convert_dataset_v21_to_v30 --repo-id=REPO");
      return false;
    }
    if (major > 3) {
      fail("newer_version",
           fmt::format("data set has a newer format: codebase_version={} known=v3", version),
           "use a newer release of this program, or a v3.0 copy of the data set");
      return false;
    }
    return true;
  }

  void read_counts() {
    DatasetInfo& info = out_.info;
    info.format = "lerobot";
    if (json_.contains("robot_type") && json_["robot_type"].is_string()) {
      info.robot_type = json_["robot_type"].get<std::string>();
    }
    const double fps = json_.at("fps").get<double>();
    if (!(fps > 0.0) || fps != std::floor(fps)) {
      fail("bad_fps", fmt::format("fps is no positive whole number: fps={}", fps));
    } else {
      info.fps = static_cast<std::int64_t>(fps);
    }
    info.num_episodes = json_.at("total_episodes").get<std::int64_t>();
    info.num_frames = json_.at("total_frames").get<std::int64_t>();
    out_.num_tasks = json_.value("total_tasks", std::int64_t{0});
    out_.chunk_size = json_.value("chunks_size", std::int64_t{1000});
    out_.paths.data = json_.at("data_path").get<std::string>();
    if (json_.contains("video_path") && json_["video_path"].is_string()) {
      out_.paths.video = json_["video_path"].get<std::string>();
    }
  }

  void read_features() {
    for (const auto& [name, feature] : json_.at("features").items()) {
      const std::string dtype = feature.at("dtype").get<std::string>();
      const Shape shape = feature.at("shape").get<Shape>();
      if (dtype == "video" || dtype == "image") {
        read_camera(name, feature, shape, dtype == "video");
      } else if (const auto known = dtype_of_numpy(dtype)) {
        out_.info.features.push_back({name, *known, shape});
      } else if (dtype != "string" && dtype != "language") {
        add_warning(
            findings_,
            "unknown_dtype",
            file_,
            fmt::format(
                "feature is ignored, its type is unknown: feature={} dtype={}", name, dtype),
            "nothing to do unless a policy needs it");
      }
    }
  }

  void read_camera(const std::string& name,
                   const Json& feature,
                   const Shape& shape,
                   bool is_video) {
    if (shape.size() != 3) {
      fail("bad_shape",
           fmt::format("camera has no height, width and channels: camera={} shape={}",
                       name,
                       to_string(shape)));
      return;
    }
    const bool is_channels_first = shape[0] == 3 && shape[2] != 3;
    const std::size_t first = is_channels_first ? 1 : 0;
    const Json empty = Json::object();
    const Json* details = &empty;
    for (const char* key : {"info", "video_info"}) {
      if (feature.contains(key) && feature[key].is_object()) {
        details = &feature[key];
      }
    }
    if ((is_channels_first ? shape[0] : shape[2]) != 3 || details->value("is_depth_map", false) ||
        details->value("video.is_depth_map", false)) {
      add_warning(findings_,
                  "unsupported_camera",
                  file_,
                  fmt::format("camera is ignored, it has no three colour channels: camera={} "
                              "shape={}",
                              name,
                              to_string(shape)),
                  "nothing to do unless a policy needs it");
      return;
    }
    Camera camera{name, shape[first], shape[first + 1], is_video ? "video" : "png"};
    camera.codec = details->value(is_video ? "video.codec" : "image.codec", camera.codec);
    if (details->contains("video.fps") && (*details)["video.fps"].is_number()) {
      const double fps = (*details)["video.fps"].get<double>();
      if (fps != static_cast<double>(out_.info.fps)) {
        fail("fps_mismatch",
             fmt::format("video and data set differ in fps: camera={} video_fps={} fps={}",
                         name,
                         fps,
                         out_.info.fps),
             "record again, or correct the wrong one of the two figures in info.json");
      }
    }
    out_.info.cameras.push_back(std::move(camera));
    out_.camera_is_video.push_back(is_video);
  }

  const Json& json_;
  fs::path file_;
  LeRobotInfo& out_;
  Findings& findings_;
  bool is_broken_ = false;
};

}  // namespace

bool read_info(const fs::path& root, LeRobotInfo& out, Findings& findings) {
  out.info.root = root;
  const fs::path file = root / kInfoFile;
  if (!fs::exists(file)) {
    add_error(findings,
              "missing_file",
              file,
              "folder is no LeRobot data set: meta/info.json is missing",
              "give the folder that holds meta/, data/ and videos/");
    return false;
  }
  try {
    const Json document = read_json(file);
    return InfoReader(document, file, out, findings).read();
  } catch (const Json::exception& error) {
    add_error(findings,
              "damaged_file",
              file,
              fmt::format("info.json lacks a field or has one of another type: {}", error.what()),
              kRestore);
  } catch (const Error& error) {
    add_error(findings, "damaged_file", file, error.what(), kRestore);
  }
  return false;
}

}  // namespace frostline::data
