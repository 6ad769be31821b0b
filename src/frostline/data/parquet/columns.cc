#include "frostline/data/parquet/columns.h"

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

}  // namespace frostline::data
