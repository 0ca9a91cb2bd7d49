// Binary tables (.bw). Everything in them has a checksum: a mutator puts half of the inputs right again.
#include "bagwise/data/binary_table.h"

#include <algorithm>
#include <cstring>

#include "bagwise/data/internal/binary_format.h"
#include "harness.h"
#include "tables.h"

namespace bagwise::fuzz {
namespace {

using internal::BinaryHeader;
using internal::BinaryTrailer;
using internal::BlockHeader;
using internal::IndexEntry;

template <class T>
T get(const std::string& bytes, std::size_t at) {
  T out;
  std::memcpy(&out, bytes.data() + at, sizeof out);
  return out;
}
template <class T>
void set(std::string& bytes, std::size_t at, const T& value) {
  std::memcpy(bytes.data() + at, &value, sizeof value);
}

// The checks of a block that begins at `at`, as far as it lies within the file.
void put_block_right(std::string& bytes, std::size_t at, std::uint32_t flags) {
  if (at > bytes.size() || bytes.size() - at < sizeof(BlockHeader)) return;
  auto header = get<BlockHeader>(bytes, at);
  const std::uint64_t left = bytes.size() - at - sizeof header;
  if (std::max({header.rows, header.entries, header.groups, header.groups_bytes, header.ids_bytes}) <= left) {
    const internal::MainLayout main(flags, header.rows, header.entries, header.groups, header.groups_bytes);
    const std::uint64_t labels =
        (flags & internal::kLabelsFlag) != 0 ? internal::padded(header.rows, internal::kAlignment) : 0;
    const std::uint64_t ids = (flags & internal::kIdsFlag) != 0
                                  ? internal::padded(4 * header.rows + header.ids_bytes, internal::kAlignment)
                                  : 0;
    const char* const begin = bytes.data() + at + sizeof header;
    if (main.size + labels + ids <= left) {
      header.main_check = internal::checksum(begin, main.size);
      header.labels_check = internal::checksum(begin + main.size, labels);
      header.ids_check = internal::checksum(begin + main.size + labels, ids);
    }
  }
  header.check = internal::checksum(&header, offsetof(BlockHeader, check));
  set(bytes, at, header);
}

void put_right(std::string& bytes) {
  if (bytes.size() < sizeof(BinaryHeader) + sizeof(BinaryTrailer)) return;
  const std::size_t end = bytes.size() - sizeof(BinaryTrailer);
  auto header = get<BinaryHeader>(bytes, 0);
  auto trailer = get<BinaryTrailer>(bytes, end);
  const std::uint64_t names = std::min<std::uint64_t>(header.names_bytes, end - sizeof header);
  for (std::uint64_t i = 0; trailer.index_offset < end && i < trailer.blocks; ++i) {
    const std::uint64_t at = trailer.index_offset + 16 + i * sizeof(IndexEntry);
    if (at + sizeof(IndexEntry) > end) break;
    put_block_right(bytes, get<IndexEntry>(bytes, at).offset, header.flags);
  }
  header = get<BinaryHeader>(bytes, 0);  // a block may claim to lie here
  std::string checked = bytes.substr(0, offsetof(BinaryHeader, check));
  checked.append(bytes, sizeof header, names);
  header.check = internal::checksum(checked.data(), checked.size());
  set(bytes, 0, header);
  trailer.file_size = bytes.size();
  if (trailer.index_offset < end)
    trailer.index_check = internal::checksum(bytes.data() + trailer.index_offset, end - trailer.index_offset);
  std::memcpy(trailer.mark, internal::kBinaryEnd.data(), sizeof trailer.mark);
  trailer.check = internal::checksum(&trailer, offsetof(BinaryTrailer, check));
  set(bytes, end, trailer);
}

}  // namespace

const Bound kBound{.fixed = 8 * kMiB, .per_byte = 512};

void fuzz_one(std::string_view input) {
  const std::string path = input_file("table.bw", input);
  const TableOptions plain{.want_labels = true, .want_ids = true};
  if (read_every_way(path, plain)) {
    TableOptions options = plain;
    options.threads = 1;
    const std::string copy = input_path("copy.bw");
    const auto schema = stream_table(path, options, [](TableBlock&&) -> Result<void> { return {}; });
    const auto table = read_table(path, options);
    require(schema.ok() && table.ok(), "it can be read again");
    auto writer = BinaryTableWriter::create(copy, *schema);
    require(writer.ok(), "it can be written");
    require(writer->add(*table).ok() && writer->commit().ok(), "its rows can be written");
    const auto back = read_table(copy, options);
    require(back.ok() && contents(*back) == contents(*table), "what is written reads back the same");
  }
  if (one_of(2, input) == 0) {
    read_every_way(path, {.want_groups = true, .missing = Missing::kMean});
  } else {
    read_every_way(path, {.expected_features = {"y", "x", "3"}, .absent_as_zero = true});
  }
}

}  // namespace bagwise::fuzz

extern "C" std::size_t LLVMFuzzerMutate(std::uint8_t* data, std::size_t size, std::size_t most);
extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size, std::size_t most,
                                               unsigned seed) {
  size = LLVMFuzzerMutate(data, size, most);
  if (!bagwise::fuzz::puts_right(seed)) return size;
  std::string bytes(reinterpret_cast<const char*>(data), size);
  bagwise::fuzz::put_right(bytes);
  std::memcpy(data, bytes.data(), size);
  return size;
}
