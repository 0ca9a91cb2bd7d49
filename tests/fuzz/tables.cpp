#include "tables.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <set>
#include <string_view>
#include <utility>
#include <vector>

#include "bagwise/bags/reduce_table.h"
#include "bagwise/data/table_source.h"
#include "harness.h"

namespace bagwise::fuzz {
namespace {

template <class T>
void put(std::string& out, const std::vector<T>& values) {
  out += std::to_string(values.size()) + ";";
  if (!values.empty()) out.append(reinterpret_cast<const char*>(values.data()), values.size() * sizeof(T));
}
void put(std::string& out, const std::vector<std::string>& texts) {
  out += std::to_string(texts.size()) + ";";
  for (const std::string& text : texts) out += std::to_string(text.size()) + ":" + text;
}
template <class T>
void put(std::string& out, std::span<const T> values) {
  put(out, std::vector<T>(values.begin(), values.end()));
}

void require_sparse(const CsrView& rows) {
  require(rows.start.size() == rows.rows + 1 && rows.start.front() == 0 &&
              rows.start.back() == static_cast<std::int64_t>(rows.values.size()) &&
              rows.index.size() == rows.values.size(),
          "sparse rows begin and end where they should");
  for (std::size_t i = 0; i < rows.rows; ++i) {
    require(rows.start[i] <= rows.start[i + 1], "sparse rows follow one another");
    for (auto k = static_cast<std::size_t>(rows.start[i]); k < static_cast<std::size_t>(rows.start[i + 1]);
         ++k) {
      require(rows.index[k] >= 0 && static_cast<std::size_t>(rows.index[k]) < rows.columns,
              "an index is one of a feature");
      require(k == static_cast<std::size_t>(rows.start[i]) || rows.index[k - 1] < rows.index[k],
              "the indices of a row ascend");
    }
  }
}

bool one_each(std::size_t found, std::size_t rows) { return found == 0 || found == rows; }

// Blocks one behind the other.
struct Joined {
  std::string text;
  std::uint64_t rows = 0;
};

}  // namespace

void require_table(const Dataset& table) {
  const std::size_t rows = table.rows();
  require(table.feature_names.size() == table.features.columns(), "every feature has a name");
  require(std::set<std::string>(table.feature_names.begin(), table.feature_names.end()).size() ==
              table.feature_names.size(),
          "names of features differ");
  require(one_each(table.groups.codes.size(), rows) && one_each(table.shares.size(), rows) &&
              one_each(table.bounds.size(), rows) && one_each(table.labels.size(), rows) &&
              one_each(table.ids.size(), rows),
          "a column has a value for every row");
  for (const std::uint32_t code : table.groups.codes)
    require(code < table.groups.values.size(), "a row's bag is one of the bags");
  require(std::set<std::string>(table.groups.values.begin(), table.groups.values.end()).size() ==
              table.groups.values.size(),
          "bags differ");
  for (const std::string& bag : table.groups.values) require(!bag.empty(), "a bag has a name");
  for (const double share : table.shares) require(share >= 0 && share <= 1, "a proportion is one");
  for (const double bound : table.bounds) require(bound >= 0 && std::isfinite(bound), "a bound is one");
  for (const int label : table.labels) require(label >= -1 && label <= 1, "a label is one");
  for (const double value : stored_values(table.features.view()))
    require(std::isfinite(value), "values are finite");
  const RowsView view = table.features.view();
  if (const auto* sparse = std::get_if<CsrView>(&view)) require_sparse(*sparse);
}

std::string contents(const Dataset& table) {
  std::string out;
  put(out, table.feature_names);
  for (const std::uint32_t code : table.groups.codes) {
    const std::string& bag = table.groups.values[code];
    out += std::to_string(bag.size()) + ":" + bag;
  }
  put(out, table.shares);
  put(out, table.bounds);
  put(out, table.labels);
  put(out, table.ids);
  const RowsView view = table.features.view();
  put(out, stored_values(view));
  if (const auto* sparse = std::get_if<CsrView>(&view)) {
    put(out, sparse->start);
    put(out, sparse->index);
  }
  return out;
}

bool read_every_way(const std::string& path, const TableOptions& given) {
  TableOptions options = given;
  options.threads = 1;
  options.block_bytes = 64 << 10;
  const auto whole = read_table(path, options);
  if (whole) {
    require_table(*whole);
  } else {
    require_error(whole.error());
  }

  TableOptions small = options;
  small.block_bytes = 48;
  const auto again = read_table(path, small);
  require(alike(whole, again), "blocks of another size give the same error or none");
  if (whole) require(contents(*whole) == contents(*again), "blocks of another size give the same rows");

  std::uint64_t streamed = 0;
  const auto schema = stream_table(path, small, [&](TableBlock&& block) -> Result<void> {
    require(block.first_row == streamed, "blocks follow one another");
    streamed += block.rows.rows();
    return {};
  });
  require(schema.ok() == whole.ok(), "a stream of rows is read where a table is");
  if (whole) require(streamed == whole->rows(), "a stream has the rows of the table");

  if (whole && whole->groups.present()) {
    const auto sums = reduce_table(path, options, {.moments = true});
    // A bag may have several proportions, which only sums are at odds with.
    require(sums.ok() ? sums->rows == whole->rows() && sums->names.size() == whole->groups.values.size()
                      : !whole->shares.empty(),
            "the rows can be summed by bag");
  }
  if (!whole || options.missing == Missing::kMean || whole->features.sparse() || !options.one_hot.empty())
    return whole.ok();
  std::uint64_t shared = 0;
  for (int rank = 0; rank < 3; ++rank) {
    const auto share = share_of(path, rank, 3);
    require(share.ok(), "a table can be shared");
    if (!share->parts[0].whole() && !share->parts[0].empty()) {
      const auto part = read_table(*share, options);
      require(part.ok(), part ? "" : "a share can be read where the table can: " + part.error().text());
      shared += part->rows();
    } else if (share->parts[0].whole()) {
      shared += whole->rows();
    }
  }
  require(shared == whole->rows(), "the shares have the rows of the table");
  return true;
}

}  // namespace bagwise::fuzz
