#pragma once

#include <cstddef>
#include <filesystem>
#include <functional>
#include <span>
#include <string>
#include <string_view>

namespace frostline {

/// Reads a whole file. Errors: `kIo` naming the path and the system's reason.
std::string read_file(const std::filesystem::path& path);

/// Replaces `path` by `content` so that a reader sees the old file or the new one, never half:
/// writes beside it, fsyncs, renames, fsyncs the folder.
/// Errors: `kIo` naming the path and the system's reason; the old file is untouched.
void write_file_atomic(const std::filesystem::path& path, std::string_view content);

/// As above for binary content made of several pieces written one after another.
void write_file_atomic(const std::filesystem::path& path,
                       std::span<const std::span<const std::byte>> pieces);

/// Lets `write` fill a temporary file beside `path`, then fsyncs it and renames it to `path`.
/// `write` receives the temporary path. Errors: whatever `write` throws (the temporary file is
/// removed), or `kIo`.
void replace_file(const std::filesystem::path& path,
                  const std::function<void(const std::filesystem::path&)>& write);

/// Moves a finished folder into place and fsyncs its parent; an existing `to` is replaced.
void replace_folder(const std::filesystem::path& from, const std::filesystem::path& to);

/// A file mapped read-only into memory; the mapping lives as long as the object. Immutable.
class MappedFile {
 public:
  MappedFile() = default;
  /// Errors: `kIo` naming the path and the reason.
  explicit MappedFile(const std::filesystem::path& path);
  MappedFile(MappedFile&& other) noexcept;
  MappedFile& operator=(MappedFile&& other) noexcept;
  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;
  ~MappedFile();

  std::span<const std::byte> bytes() const noexcept { return {data_, size_}; }

 private:
  const std::byte* data_ = nullptr;
  std::size_t size_ = 0;
};

}  // namespace frostline
