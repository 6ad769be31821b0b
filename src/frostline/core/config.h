#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace frostline {

/// Number of single-character insertions, deletions, replacements and swaps of neighbours that turn
/// `a` into `b`.
/// Source: optimal string alignment distance, L. Boytsov, "Indexing methods for approximate
/// dictionary searching", 2011, section 2.2.
int edit_distance(std::string_view a, std::string_view b);

/// The entry of `known` nearest to `word`, or empty when none is near enough to be what was meant
/// (more than a third of the longer word differs, at least two characters allowed).
std::string nearest_word(std::string_view word, const std::vector<std::string>& known);

namespace detail {
struct ConfigNode;
}

/// One table of a TOML file, read strictly: asking for a key makes it known, and `finish` refuses
/// the keys that nobody asked for. Copies share what was asked for.
///
/// Errors: everything throws `kConfig` with file, line, and what to write instead.
/// Threads: one thread.
class ConfigTable {
 public:
  /// `origin` is named in errors: a path, or for example `--config`.
  static ConfigTable parse(std::string_view text, std::string_view origin);

  /// Errors: `kIo` when the file cannot be read.
  static ConfigTable read(const std::filesystem::path& path);

  /// The value of `key`, or empty when it is absent. `T`: `bool`, `std::int64_t`, `double` (an
  /// integer is accepted), `std::string`, or a vector of one of them.
  template <class T>
  std::optional<T> find(std::string_view key) const;

  /// As `find`, for a key that must be there.
  template <class T>
  T get(std::string_view key) const;

  /// A scalar, or a list of scalars joined by commas, as it would be written on a command line.
  std::string text(std::string_view key) const;

  /// The table `[key]`, or empty when it is absent.
  std::optional<ConfigTable> find_table(std::string_view key) const;

  /// The tables `[[key]]` in the order of the file; none when it is absent.
  std::vector<ConfigTable> find_tables(std::string_view key) const;

  /// Names of this table's keys in alphabetical order; for tables whose keys are data.
  std::vector<std::string> keys() const;

  /// `file:line` of `key`, or of the table when the key is absent.
  std::string where(std::string_view key = {}) const;

  /// Throws `kConfig` for a value that the caller refuses.
  [[noreturn]] void refuse(std::string_view key, std::string_view problem) const;

  /// Throws for the first key, in this table and in those found through it, that was never asked
  /// for; the error names the nearest key that was.
  void finish() const;

 private:
  explicit ConfigTable(std::shared_ptr<const detail::ConfigNode> node);

  std::shared_ptr<const detail::ConfigNode> node_;
};

}  // namespace frostline
