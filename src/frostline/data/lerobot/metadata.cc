#include "frostline/data/lerobot/metadata.h"

#include "frostline/data/lerobot/info.h"
#include "frostline/data/parquet/columns.h"

namespace frostline::data {

namespace {

DType dtype_of_automatic(const std::string& name) {
  return name == "timestamp" ? DType::kF32 : DType::kI64;
}

Json camera_json(const Camera& camera, const WriterOptions& options) {
  const bool is_video = is_video_codec(camera.codec);
  Json feature = {{"dtype", is_video ? "video" : "image"},
                  {"shape", {camera.height_px, camera.width_px, 3}},
                  {"names", {"height", "width", "channels"}}};
  if (!is_video) {
    feature["info"] = {{"image.codec", camera.codec}};
    return feature;
  }
  feature["info"] = {{"video.height", camera.height_px},
                     {"video.width", camera.width_px},
                     {"video.codec", camera.codec},
                     {"video.pix_fmt", "yuv420p"},
                     {"video.is_depth_map", false},
                     {"video.fps", options.fps},
                     {"video.channels", 3},
                     {"video.g", options.video_gop},
                     {"video.crf", options.video_crf},
                     {"video.preset", options.video_preset},
                     {"has_audio", false}};
  return feature;
}

Json value_json(DType dtype) {
  return {{"dtype", numpy_name(dtype)}, {"_type", "Value"}};
}

}  // namespace

bool is_video_codec(const std::string& codec) {
  return codec == "av1" || codec == "h264";
}

Json features_json(const WriterOptions& options) {
  Json features = Json::object();
  for (const Feature& feature : options.features) {
    Json names = Json::array();
    for (std::int64_t i = 0; i < num_elements(feature.shape); ++i) {
      names.push_back("dim_" + std::to_string(i));
    }
    features[feature.name] = {
        {"dtype", numpy_name(feature.dtype)}, {"shape", feature.shape}, {"names", names}};
  }
  for (const Camera& camera : options.cameras) {
    features[camera.name] = camera_json(camera, options);
  }
  for (const char* name : kAutomaticFeatures) {
    features[name] = {{"dtype", numpy_name(dtype_of_automatic(name))},
                      {"shape", Json::array({1})},
                      {"names", nullptr}};
  }
  return features;
}

void write_info(const std::filesystem::path& root,
                const WriterOptions& options,
                const RecordedCounts& counts) {
  bool has_video = false;
  for (const Camera& camera : options.cameras) {
    has_video = has_video || is_video_codec(camera.codec);
  }
  const LeRobotPaths paths;
  const Json document = {{"codebase_version", "v3.0"},
                         {"robot_type", options.robot_type},
                         {"total_episodes", counts.num_episodes},
                         {"total_frames", counts.num_frames},
                         {"total_tasks", counts.num_tasks},
                         {"chunks_size", kFilesPerChunk},
                         {"data_files_size_in_mb", kDataFileCap_mb},
                         {"video_files_size_in_mb", kVideoFileCap_mb},
                         {"fps", options.fps},
                         {"splits", {{"train", "0:" + std::to_string(counts.num_episodes)}}},
                         {"data_path", paths.data},
                         {"video_path", has_video ? Json(paths.video) : Json(nullptr)},
                         {"features", features_json(options)}};
  write_json(root / kInfoFile, document);
}

void write_tasks(const std::filesystem::path& root, const std::vector<std::string>& tasks) {
  ColumnData index{.name = "task_index", .dtype = DType::kI64};
  ColumnData name{.name = "task", .layout = ColumnLayout::kText};
  for (std::size_t task = 0; task < tasks.size(); ++task) {
    index.numbers.push_back(static_cast<double>(task));
    name.texts.push_back(tasks[task]);
  }
  const auto column = [](const char* field, const char* pandas_type, const char* numpy_type) {
    return Json{{"name", field},
                {"field_name", field},
                {"pandas_type", pandas_type},
                {"numpy_type", numpy_type},
                {"metadata", nullptr}};
  };
  const Json pandas = {
      {"index_columns", Json::array({"task"})},
      {"column_indexes",
       Json::array({{{"name", nullptr},
                     {"field_name", nullptr},
                     {"pandas_type", "unicode"},
                     {"numpy_type", "object"},
                     {"metadata", {{"encoding", "UTF-8"}}}}})},
      {"columns",
       Json::array({column("task_index", "int64", "int64"), column("task", "unicode", "object")})},
      {"attributes", Json::object()},
      {"pandas_version", "2.2.0"}};
  write_parquet(root / kTasksFile, {index, name}, {.metadata = {{"pandas", pandas.dump()}}});
}

std::string huggingface_metadata(const WriterOptions& options) {
  Json features = Json::object();
  for (const Feature& feature : options.features) {
    const std::int64_t dim = num_elements(feature.shape);
    features[feature.name] =
        dim == 1 ? value_json(feature.dtype)
                 : Json{{"feature", value_json(feature.dtype)}, {"length", dim}, {"_type", "List"}};
  }
  for (const Camera& camera : options.cameras) {
    if (!is_video_codec(camera.codec)) {
      features[camera.name] = {{"_type", "Image"}};
    }
  }
  for (const char* name : kAutomaticFeatures) {
    features[name] = value_json(dtype_of_automatic(name));
  }
  return Json{{"info", {{"features", features}}}}.dump();
}

Json recording_json(const WriterOptions& options) {
  return {{"format", 1},
          {"fps", options.fps},
          {"robot_type", options.robot_type},
          {"features", features_json(options)}};
}

}  // namespace frostline::data
