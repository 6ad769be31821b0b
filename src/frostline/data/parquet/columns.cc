#include "frostline/data/parquet/columns.h"

#include <iterator>

#include "frostline/core/error.h"

namespace frostline::data {

std::int64_t ColumnData::num_rows() const {
  switch (layout) {
    case ColumnLayout::kText:
    case ColumnLayout::kImage:
      return static_cast<std::int64_t>(texts.size());
    case ColumnLayout::kTextList:
      return static_cast<std::int64_t>(text_lists.size());
    case ColumnLayout::kScalar:
    case ColumnLayout::kList:
    case ColumnLayout::kFixedList:
    case ColumnLayout::kPerChannel:
      break;
  }
  FROSTLINE_CHECK(width > 0);
  return static_cast<std::int64_t>(numbers.size()) / width;
}

void ColumnData::append(ColumnData&& rows) {
  FROSTLINE_CHECK(rows.name == name && rows.layout == layout && rows.width == width);
  const auto move_all = [](auto& from, auto& to) {
    to.insert(to.end(), std::make_move_iterator(from.begin()), std::make_move_iterator(from.end()));
  };
  move_all(rows.numbers, numbers);
  move_all(rows.texts, texts);
  move_all(rows.text_lists, text_lists);
}

}  // namespace frostline::data
