#include "frostline/core/file.h"

#include <array>
#include <cerrno>
#include <cstring>
#include <system_error>
#include <utility>

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fmt/format.h>

#include "frostline/core/error.h"

namespace frostline {

namespace fs = std::filesystem;

namespace {

[[noreturn]] void fail(std::string_view what, const fs::path& path) {
  const int reason = errno;
  throw Error(
      ErrorCode::kIo, what, fmt::format("path={} ; {}", path.string(), std::strerror(reason)));
}

class FileDescriptor {
 public:
  FileDescriptor(const fs::path& path, int flags, mode_t mode = 0644)
      : fd_(::open(path.c_str(), flags | O_CLOEXEC, mode)) {}

  FileDescriptor(const FileDescriptor&) = delete;
  FileDescriptor& operator=(const FileDescriptor&) = delete;
  FileDescriptor(FileDescriptor&&) = delete;
  FileDescriptor& operator=(FileDescriptor&&) = delete;

  ~FileDescriptor() {
    if (fd_ >= 0) {
      ::close(fd_);
    }
  }

  int get() const { return fd_; }

  bool is_open() const { return fd_ >= 0; }

 private:
  int fd_;
};

void write_all(int fd, std::span<const std::byte> bytes, const fs::path& path) {
  while (!bytes.empty()) {
    const ssize_t written = ::write(fd, bytes.data(), bytes.size());
    if (written < 0) {
      if (errno == EINTR) {
        continue;
      }
      fail("cannot write file", path);
    }
    bytes = bytes.subspan(static_cast<std::size_t>(written));
  }
}

void sync_folder(const fs::path& folder) {
  const FileDescriptor fd(folder.empty() ? fs::path(".") : folder, O_RDONLY | O_DIRECTORY);
  if (fd.is_open()) {
    ::fsync(fd.get());
  }
}

}  // namespace

std::string read_file(const fs::path& path) {
  const FileDescriptor fd(path, O_RDONLY);
  if (!fd.is_open()) {
    fail("cannot open file", path);
  }
  std::string content;
  std::array<char, 1 << 16> block{};
  for (;;) {
    const ssize_t count = ::read(fd.get(), block.data(), block.size());
    if (count < 0) {
      if (errno == EINTR) {
        continue;
      }
      fail("cannot read file", path);
    }
    if (count == 0) {
      return content;
    }
    content.append(block.data(), static_cast<std::size_t>(count));
  }
}

void replace_file(const fs::path& path, const std::function<void(const fs::path&)>& write) {
  if (path.has_parent_path()) {
    std::error_code error;
    fs::create_directories(path.parent_path(), error);
  }
  const fs::path temporary = path.string() + fmt::format(".{}.partial", ::getpid());
  try {
    write(temporary);
    const FileDescriptor fd(temporary, O_RDONLY);
    if (!fd.is_open() || ::fsync(fd.get()) != 0) {
      fail("cannot flush file to disk", temporary);
    }
    if (::rename(temporary.c_str(), path.c_str()) != 0) {
      fail("cannot rename file into place", path);
    }
  } catch (...) {
    std::error_code ignored;
    fs::remove(temporary, ignored);
    throw;
  }
  sync_folder(path.parent_path());
}

void write_file_atomic(const fs::path& path, std::span<const std::span<const std::byte>> pieces) {
  replace_file(path, [&](const fs::path& temporary) {
    const FileDescriptor fd(temporary, O_WRONLY | O_CREAT | O_TRUNC);
    if (!fd.is_open()) {
      fail("cannot create file", temporary);
    }
    for (const auto piece : pieces) {
      write_all(fd.get(), piece, temporary);
    }
  });
}

void write_file_atomic(const fs::path& path, std::string_view content) {
  const std::span<const std::byte> piece = std::as_bytes(std::span(content.data(), content.size()));
  write_file_atomic(path, std::span(&piece, 1));
}

void replace_folder(const fs::path& from, const fs::path& to) {
  if (fs::exists(to)) {
    fs::remove_all(to);
  }
  sync_folder(from);
  if (::rename(from.c_str(), to.c_str()) != 0) {
    fail("cannot rename folder into place", to);
  }
  sync_folder(to.parent_path());
}

MappedFile::MappedFile(const fs::path& path) {
  const FileDescriptor fd(path, O_RDONLY);

  struct stat status {};

  if (!fd.is_open() || ::fstat(fd.get(), &status) != 0) {
    fail("cannot open file", path);
  }
  size_ = static_cast<std::size_t>(status.st_size);
  if (size_ == 0) {
    return;
  }
  void* address = ::mmap(nullptr, size_, PROT_READ, MAP_SHARED, fd.get(), 0);
  if (address == MAP_FAILED) {
    fail("cannot map file", path);
  }
  data_ = static_cast<const std::byte*>(address);
}

MappedFile::MappedFile(MappedFile&& other) noexcept
    : data_(std::exchange(other.data_, nullptr)), size_(std::exchange(other.size_, 0)) {}

MappedFile& MappedFile::operator=(MappedFile&& other) noexcept {
  std::swap(data_, other.data_);
  std::swap(size_, other.size_);
  return *this;
}

MappedFile::~MappedFile() {
  if (data_ != nullptr) {
    ::munmap(const_cast<std::byte*>(data_), size_);
  }
}

}  // namespace frostline
