#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include <nlohmann/json.hpp>

namespace frostline {

/// JSON document that keeps the order in which keys were inserted.
using Json = nlohmann::ordered_json;

/// Parses `text`. Errors: `kData` naming `origin`, the byte offset and what was expected.
Json parse_json(std::string_view text, std::string_view origin);

/// Reads and parses a file. Errors: `kIo` when unreadable, `kData` when malformed.
Json read_json(const std::filesystem::path& path);

/// Writes `document` atomically (see `write_file_atomic`), indented by two spaces.
void write_json(const std::filesystem::path& path, const Json& document);

}  // namespace frostline
