#include "bagwise/data/binary_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <cassert>
#include <cmath>
#include <cstring>
#include <limits>
#include <span>
#include <string_view>
#include <utility>

#include "bagwise/data/csv_records.h"
#include "bagwise/data/internal/binary_format.h"

namespace bagwise {
namespace {

constexpr std::size_t kBlockBytes = std::size_t{8} << 20;  // of values, at the most
constexpr std::size_t kLeastRows = 16, kMostRows = std::size_t{1} << 19, kMostSparseRows = 16384;

template <class T>
void put(std::string& out, const T& value) {
  out.append(reinterpret_cast<const char*>(&value), sizeof value);
}
template <class T>
void put_all(std::string& out, std::span<const T> values) {
  out.append(reinterpret_cast<const char*>(values.data()), values.size_bytes());
}
void pad(std::string& out, std::size_t to) { out.resize(internal::padded(out.size(), to), '\0'); }

Result<void> put_sizes(std::string& out, const std::string& path, std::span<const std::string_view> texts) {
  for (const std::string_view text : texts) {
    if (text.size() > std::numeric_limits<std::uint32_t>::max() / 2) {
      return Error{"a name is longer than 2 GiB; expected a shorter one", path};
    }
    put(out, static_cast<std::uint32_t>(text.size()));
  }
  return {};
}

std::uint32_t flags_of(const TableSchema& schema) {
  std::uint32_t flags = 0;
  const auto set = [&](bool there, internal::BinaryFlag flag) {
    if (there) flags |= flag;
  };
  set(schema.sparse, internal::kSparseFlag);
  set(schema.has_groups, internal::kGroupsFlag);
  set(schema.has_shares, internal::kSharesFlag);
  set(schema.has_bounds, internal::kBoundsFlag);
  set(schema.has_labels, internal::kLabelsFlag);
  set(schema.has_ids, internal::kIdsFlag);
  return flags;
}

}  // namespace

BinaryTableWriter::BinaryTableWriter(AtomicFile file, TableSchema schema)
    : file_(std::move(file)), schema_(std::move(schema)) {}

Result<BinaryTableWriter> BinaryTableWriter::create(const std::string& path, const TableSchema& schema) {
  auto file = AtomicFile::create(path);
  if (!file) return file.error();
  BinaryTableWriter out(std::move(*file), schema);
  out.path_ = path;
  std::vector<std::string_view> views(schema.feature_names.begin(), schema.feature_names.end());
  std::string names;
  if (auto sized = put_sizes(names, path, views); !sized) return sized.error();
  for (const std::string_view name : views) names += name;
  internal::BinaryHeader header{};
  std::memcpy(header.mark, internal::kBinaryMark.data(), sizeof header.mark);
  header.version = internal::kBinaryVersion;
  header.flags = flags_of(schema);
  header.features = views.size();
  header.names_bytes = names.size();
  std::string bytes;
  put(bytes, header);
  bytes.resize(offsetof(internal::BinaryHeader, check));
  const std::uint64_t check = internal::checksum((bytes + names).data(), bytes.size() + names.size());
  put(bytes, check);
  bytes += names;
  pad(bytes, internal::kAlignment);
  if (auto written = out.write(bytes); !written) return written.error();
  return out;
}

Result<void> BinaryTableWriter::write(const std::string& bytes) {
  offset_ += bytes.size();
  return file_.write(bytes);
}

Result<void> BinaryTableWriter::add(const Dataset& rows) {
  const std::size_t count = rows.rows(), width = schema_.feature_names.size();
  std::size_t most = kMostSparseRows;
  if (!schema_.sparse)
    most = std::clamp(kBlockBytes / (8 * std::max<std::size_t>(width, 1)), kLeastRows, kMostRows);
  const std::size_t blocks = (count + most - 1) / most;  // of about the same size
  for (std::size_t b = 0; b < blocks; ++b) {
    if (auto done = write_block(rows, count * b / blocks, count * (b + 1) / blocks); !done) return done;
  }
  return {};
}

Result<void> BinaryTableWriter::write_block(const Dataset& rows, std::size_t from, std::size_t to) {
  const std::size_t count = to - from;
  const RowsView view = rows.features.view();
  std::string main, labels, ids;
  internal::BlockHeader header{};
  header.mark = internal::kBlockMark;
  header.number = offsets_.size();
  header.first_row = rows_;
  header.rows = count;
  std::span<const double> values;
  std::span<const std::int32_t> index;
  std::vector<std::int64_t> starts;
  if (const auto* dense = std::get_if<DenseView>(&view)) {
    assert(!schema_.sparse && dense->columns == schema_.feature_names.size());
    values = {dense->values + from * dense->columns, count * dense->columns};
  } else {
    const auto& sparse = std::get<CsrView>(view);
    assert(schema_.sparse);
    const auto first = static_cast<std::size_t>(sparse.start[from]);
    const auto last = static_cast<std::size_t>(sparse.start[to]);
    values = sparse.values.subspan(first, last - first);
    index = sparse.index.subspan(first, last - first);
    for (std::size_t i = from; i <= to; ++i) starts.push_back(sparse.start[i] - sparse.start[from]);
  }
  for (const double value : values) {
    if (!std::isfinite(value)) {
      return Error{fmt::format("cannot hold the value {}; expected finite numbers", value), path_};
    }
  }
  header.entries = values.size();
  put_all(main, values);
  pad(main, 8);
  put_all(main, std::span<const std::int64_t>(starts));
  put_all(main, index);
  pad(main, 8);
  if (schema_.has_shares) put_all(main, std::span(rows.shares).subspan(from, count));
  if (schema_.has_bounds) put_all(main, std::span(rows.bounds).subspan(from, count));
  if (schema_.has_groups) {
    constexpr auto kNone = std::numeric_limits<std::uint32_t>::max();
    std::vector<std::uint32_t> code_of(rows.groups.values.size(), kNone), codes;
    std::vector<std::string_view> names;
    for (std::size_t i = from; i < to; ++i) {
      std::uint32_t& code = code_of[rows.groups.codes[i]];
      if (code == kNone) {
        code = static_cast<std::uint32_t>(names.size());
        names.emplace_back(rows.groups.values[rows.groups.codes[i]]);
      }
      codes.push_back(code);
    }
    put_all(main, std::span<const std::uint32_t>(codes));
    pad(main, 8);
    header.groups = names.size();
    if (auto sized = put_sizes(main, path_, names); !sized) return sized;
    pad(main, 8);
    const std::size_t before = main.size();
    for (const std::string_view name : names) main += name;
    header.groups_bytes = main.size() - before;
  }
  pad(main, internal::kAlignment);
  if (schema_.has_labels) put_all(labels, std::span(rows.labels).subspan(from, count));
  pad(labels, internal::kAlignment);
  if (schema_.has_ids) {
    std::vector<std::string_view> texts(rows.ids.begin() + static_cast<std::ptrdiff_t>(from),
                                        rows.ids.begin() + static_cast<std::ptrdiff_t>(to));
    if (auto sized = put_sizes(ids, path_, texts); !sized) return sized;
    for (const std::string_view text : texts) {
      ids += text;
      header.ids_bytes += text.size();
    }
  }
  pad(ids, internal::kAlignment);
  header.main_check = internal::checksum(main.data(), main.size());
  header.labels_check = internal::checksum(labels.data(), labels.size());
  header.ids_check = internal::checksum(ids.data(), ids.size());
  header.check = internal::checksum(&header, offsetof(internal::BlockHeader, check));
  offsets_.push_back(offset_);
  first_rows_.push_back(rows_);
  rows_ += count;
  std::string head;
  put(head, header);
  for (const std::string* bytes : {&head, &main, &labels, &ids}) {
    if (auto written = write(*bytes); !written) return written;
  }
  return {};
}

Result<void> BinaryTableWriter::commit() {
  std::string index;
  put(index, internal::kIndexMark);
  put(index, static_cast<std::uint64_t>(offsets_.size()));
  for (std::size_t b = 0; b < offsets_.size(); ++b)
    put(index, internal::IndexEntry{offsets_[b], first_rows_[b]});
  pad(index, internal::kAlignment);
  internal::BinaryTrailer trailer{};
  trailer.index_offset = offset_;
  trailer.blocks = offsets_.size();
  trailer.rows = rows_;
  trailer.file_size = offset_ + index.size() + sizeof trailer;
  trailer.index_check = internal::checksum(index.data(), index.size());
  trailer.check = internal::checksum(&trailer, offsetof(internal::BinaryTrailer, check));
  std::memcpy(trailer.mark, internal::kBinaryEnd.data(), sizeof trailer.mark);
  put(index, trailer);
  if (auto written = write(index); !written) return written;
  return file_.commit();
}

Result<Converted> convert_table(const TableSource& source, const std::string& path,
                                const TableOptions& options, const Observer& observer) {
  TableOptions wanted = options;
  wanted.want_labels = true;
  wanted.want_ids = true;
  std::vector<BinaryTableWriter> writer;  // none before the schema is known
  TableSchema schema;
  auto read = stream_table(
      source, wanted,
      [&](TableBlock&& block) -> Result<void> {
        if (writer.empty()) {
          schema.feature_names = block.rows.feature_names;
          schema.sparse = block.rows.features.sparse();
          schema.has_groups = block.rows.groups.present();
          schema.has_shares = !block.rows.shares.empty();
          schema.has_bounds = !block.rows.bounds.empty();
          schema.has_labels = !block.rows.labels.empty();
          schema.has_ids = !block.rows.ids.empty();
          auto made = BinaryTableWriter::create(path, schema);
          if (!made) return made.error();
          writer.push_back(std::move(*made));
        }
        return writer[0].add(block.rows);
      },
      observer);
  if (!read) return read.error();
  assert(!writer.empty());
  if (auto done = writer[0].commit(); !done) return done.error();
  return Converted{schema, writer[0].rows(), writer[0].blocks(), writer[0].bytes()};
}

}  // namespace bagwise
