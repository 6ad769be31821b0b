#include "frostline/core/config.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>
#include <variant>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <toml++/toml.h>

#include "frostline/core/error.h"
#include "frostline/core/file.h"

namespace frostline {

namespace detail {

struct ConfigNode;
using NodePtr = std::shared_ptr<const ConfigNode>;

struct ConfigValue {
  std::variant<bool, std::int64_t, double, std::string, std::vector<ConfigValue>, NodePtr> value;
  std::string kind;
  unsigned line = 0;
};

struct ConfigNode {
  std::string origin;
  std::string name;  ///< Dotted path of the table; empty at the root.
  unsigned line = 1;
  std::map<std::string, ConfigValue, std::less<>> values;
  mutable std::set<std::string, std::less<>> asked;
};

}  // namespace detail

namespace {

using detail::ConfigNode;
using detail::ConfigValue;
using detail::NodePtr;

std::string dotted(std::string_view table, std::string_view key) {
  return table.empty() ? std::string(key) : fmt::format("{}.{}", table, key);
}

NodePtr convert_table(const toml::table& table, std::string_view origin, std::string name);

ConfigValue convert(const toml::node& node, std::string_view origin, const std::string& name) {
  ConfigValue result;
  result.line = node.source().begin.line;
  if (const auto* boolean = node.as_boolean()) {
    result.kind = "boolean";
    result.value = boolean->get();
  } else if (const auto* integer = node.as_integer()) {
    result.kind = "integer";
    result.value = integer->get();
  } else if (const auto* number = node.as_floating_point()) {
    result.kind = "number";
    result.value = number->get();
  } else if (const auto* text = node.as_string()) {
    result.kind = "string";
    result.value = text->get();
  } else if (const auto* table = node.as_table()) {
    result.kind = "table";
    result.value = convert_table(*table, origin, name);
  } else if (const auto* array = node.as_array()) {
    result.kind = "array";
    std::vector<ConfigValue> items;
    for (const auto& item : *array) {
      items.push_back(convert(item, origin, fmt::format("{}[{}]", name, items.size())));
    }
    result.value = std::move(items);
  } else {
    throw Error(ErrorCode::kConfig,
                "dates and times are not used in this configuration",
                fmt::format("key={} at {}:{}", name, origin, result.line));
  }
  return result;
}

NodePtr convert_table(const toml::table& table, std::string_view origin, std::string name) {
  auto node = std::make_shared<ConfigNode>();
  node->origin = origin;
  node->line = std::max(1U, static_cast<unsigned>(table.source().begin.line));
  for (const auto& [key, value] : table) {
    ConfigValue converted = convert(value, origin, dotted(name, key.str()));
    // A table made by a dotted header has no line of its own.
    converted.line = std::max(converted.line, static_cast<unsigned>(key.source().begin.line));
    node->values.emplace(std::string(key.str()), std::move(converted));
  }
  node->name = std::move(name);
  return node;
}

template <class T>
constexpr const char* kTypeName = "";
template <>
constexpr const char* kTypeName<bool> = "true or false";
template <>
constexpr const char* kTypeName<std::int64_t> = "an integer";
template <>
constexpr const char* kTypeName<double> = "a number";
template <>
constexpr const char* kTypeName<std::string> = "a string in quotes";

[[noreturn]] void wrong_type(const ConfigNode& node,
                             std::string_view key,
                             const ConfigValue& value,
                             std::string_view expected) {
  throw Error(ErrorCode::kConfig,
              "wrong type of value",
              fmt::format("key={} is of type {}, at {}:{} ; write {}",
                          dotted(node.name, key),
                          value.kind,
                          node.origin,
                          value.line,
                          expected));
}

template <class T>
T extract(const ConfigNode& node, std::string_view key, const ConfigValue& value) {
  if (const T* held = std::get_if<T>(&value.value)) {
    return *held;
  }
  if constexpr (std::is_same_v<T, double>) {
    if (const auto* integer = std::get_if<std::int64_t>(&value.value)) {
      return static_cast<double>(*integer);
    }
  }
  wrong_type(node, key, value, kTypeName<T>);
}

template <class T>
struct Extract {
  static T from(const ConfigNode& node, std::string_view key, const ConfigValue& value) {
    return extract<T>(node, key, value);
  }
};

template <class T>
struct Extract<std::vector<T>> {
  static std::vector<T> from(const ConfigNode& node,
                             std::string_view key,
                             const ConfigValue& value) {
    const auto* items = std::get_if<std::vector<ConfigValue>>(&value.value);
    if (items == nullptr) {
      wrong_type(node, key, value, fmt::format("a list in brackets, each entry {}", kTypeName<T>));
    }
    std::vector<T> result;
    for (const ConfigValue& item : *items) {
      result.push_back(extract<T>(node, key, item));
    }
    return result;
  }
};

const ConfigValue* ask(const ConfigNode& node, std::string_view key) {
  node.asked.emplace(key);
  const auto found = node.values.find(key);
  return found == node.values.end() ? nullptr : &found->second;
}

std::string text_of(const ConfigNode& node, std::string_view key, const ConfigValue& value) {
  if (const auto* flag = std::get_if<bool>(&value.value)) {
    return *flag ? "true" : "false";
  }
  if (const auto* integer = std::get_if<std::int64_t>(&value.value)) {
    return fmt::to_string(*integer);
  }
  if (const auto* number = std::get_if<double>(&value.value)) {
    return fmt::to_string(*number);
  }
  if (const auto* text = std::get_if<std::string>(&value.value)) {
    return *text;
  }
  if (const auto* items = std::get_if<std::vector<ConfigValue>>(&value.value)) {
    std::string joined;
    for (const ConfigValue& item : *items) {
      joined += (joined.empty() ? "" : ",") + text_of(node, key, item);
    }
    return joined;
  }
  wrong_type(node, key, value, "a value or a list of values");
}

void finish_node(const ConfigNode& node) {
  for (const auto& [key, value] : node.values) {
    if (!node.asked.contains(key)) {
      const std::vector<std::string> known(node.asked.begin(), node.asked.end());
      const std::string nearest = nearest_word(key, known);
      const std::string advice = nearest.empty()
                                     ? fmt::format("known keys here: {}", fmt::join(known, ", "))
                                     : fmt::format("did you mean '{}'?", nearest);
      throw Error(
          ErrorCode::kConfig,
          "unknown key",
          fmt::format(
              "key={} at {}:{} ; {}", dotted(node.name, key), node.origin, value.line, advice));
    }
    if (const auto* table = std::get_if<NodePtr>(&value.value)) {
      finish_node(**table);
    } else if (const auto* items = std::get_if<std::vector<ConfigValue>>(&value.value)) {
      for (const ConfigValue& item : *items) {
        if (const auto* entry = std::get_if<NodePtr>(&item.value)) {
          finish_node(**entry);
        }
      }
    }
  }
}

}  // namespace

int edit_distance(std::string_view a, std::string_view b) {
  const std::size_t width = b.size() + 1;
  std::vector<int> table((a.size() + 1) * width);
  const auto at = [&](std::size_t i, std::size_t j) -> int& { return table[i * width + j]; };
  for (std::size_t i = 0; i <= a.size(); ++i) {
    at(i, 0) = static_cast<int>(i);
  }
  for (std::size_t j = 0; j <= b.size(); ++j) {
    at(0, j) = static_cast<int>(j);
  }
  for (std::size_t i = 1; i <= a.size(); ++i) {
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const int replaced = at(i - 1, j - 1) + (a[i - 1] == b[j - 1] ? 0 : 1);
      at(i, j) = std::min({replaced, at(i - 1, j) + 1, at(i, j - 1) + 1});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) {
        at(i, j) = std::min(at(i, j), at(i - 2, j - 2) + 1);
      }
    }
  }
  return at(a.size(), b.size());
}

std::string nearest_word(std::string_view word, const std::vector<std::string>& known) {
  std::string best;
  int best_distance = 0;
  for (const std::string& candidate : known) {
    const int distance = edit_distance(word, candidate);
    const int allowed =
        std::max<int>(2, static_cast<int>(std::max(word.size(), candidate.size()) / 3));
    if (distance <= allowed && (best.empty() || distance < best_distance)) {
      best = candidate;
      best_distance = distance;
    }
  }
  return best;
}

ConfigTable::ConfigTable(std::shared_ptr<const detail::ConfigNode> node) : node_(std::move(node)) {}

ConfigTable ConfigTable::parse(std::string_view text, std::string_view origin) {
  try {
    return ConfigTable(convert_table(toml::parse(text, origin), origin, {}));
  } catch (const toml::parse_error& e) {
    throw Error(ErrorCode::kConfig,
                "malformed TOML",
                fmt::format("{}:{}:{} ; {}",
                            origin,
                            e.source().begin.line,
                            e.source().begin.column,
                            e.description()));
  }
}

ConfigTable ConfigTable::read(const std::filesystem::path& path) {
  return parse(read_file(path), path.string());
}

template <class T>
std::optional<T> ConfigTable::find(std::string_view key) const {
  const ConfigValue* value = ask(*node_, key);
  if (value == nullptr) {
    return std::nullopt;
  }
  return Extract<T>::from(*node_, key, *value);
}

template <class T>
T ConfigTable::get(std::string_view key) const {
  std::optional<T> value = find<T>(key);
  if (!value) {
    std::vector<std::string> present;
    for (const auto& [name, unused] : node_->values) {
      if (!node_->asked.contains(name)) {
        present.push_back(name);
      }
    }
    const std::string nearest = nearest_word(key, present);
    const std::string advice = nearest.empty()
                                   ? std::string("add it")
                                   : fmt::format("is '{}' a misspelling of it?", nearest);
    throw Error(ErrorCode::kConfig,
                "missing key",
                fmt::format("key={} at {} ; {}", dotted(node_->name, key), where(nearest), advice));
  }
  return *std::move(value);
}

std::string ConfigTable::text(std::string_view key) const {
  const ConfigValue* value = ask(*node_, key);
  if (value == nullptr) {
    refuse(key, "missing key");
  }
  return text_of(*node_, key, *value);
}

std::optional<ConfigTable> ConfigTable::find_table(std::string_view key) const {
  const ConfigValue* value = ask(*node_, key);
  if (value == nullptr) {
    return std::nullopt;
  }
  const auto* table = std::get_if<NodePtr>(&value->value);
  if (table == nullptr) {
    wrong_type(*node_, key, *value, fmt::format("a table: [{}]", dotted(node_->name, key)));
  }
  return ConfigTable(*table);
}

std::vector<ConfigTable> ConfigTable::find_tables(std::string_view key) const {
  const ConfigValue* value = ask(*node_, key);
  if (value == nullptr) {
    return {};
  }
  const std::string expected = fmt::format("tables: [[{}]]", dotted(node_->name, key));
  const auto* items = std::get_if<std::vector<ConfigValue>>(&value->value);
  if (items == nullptr) {
    wrong_type(*node_, key, *value, expected);
  }
  std::vector<ConfigTable> tables;
  for (const ConfigValue& item : *items) {
    const auto* table = std::get_if<NodePtr>(&item.value);
    if (table == nullptr) {
      wrong_type(*node_, key, item, expected);
    }
    tables.push_back(ConfigTable(*table));
  }
  return tables;
}

std::vector<std::string> ConfigTable::keys() const {
  std::vector<std::string> names;
  for (const auto& [key, unused] : node_->values) {
    names.push_back(key);
  }
  return names;
}

std::string ConfigTable::where(std::string_view key) const {
  const auto found = node_->values.find(key);
  const unsigned line = found == node_->values.end() ? node_->line : found->second.line;
  return fmt::format("{}:{}", node_->origin, line);
}

void ConfigTable::refuse(std::string_view key, std::string_view problem) const {
  throw Error(ErrorCode::kConfig,
              "value not usable",
              fmt::format("key={} at {} ; {}", dotted(node_->name, key), where(key), problem));
}

void ConfigTable::finish() const {
  finish_node(*node_);
}

#define FROSTLINE_CONFIG_TYPE(type)                                             \
  template std::optional<type> ConfigTable::find<type>(std::string_view) const; \
  template type ConfigTable::get<type>(std::string_view) const

FROSTLINE_CONFIG_TYPE(bool);
FROSTLINE_CONFIG_TYPE(std::int64_t);
FROSTLINE_CONFIG_TYPE(double);
FROSTLINE_CONFIG_TYPE(std::string);
FROSTLINE_CONFIG_TYPE(std::vector<bool>);
FROSTLINE_CONFIG_TYPE(std::vector<std::int64_t>);
FROSTLINE_CONFIG_TYPE(std::vector<double>);
FROSTLINE_CONFIG_TYPE(std::vector<std::string>);

#undef FROSTLINE_CONFIG_TYPE

}  // namespace frostline
