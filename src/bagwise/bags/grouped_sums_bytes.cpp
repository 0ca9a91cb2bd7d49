// The bytes of GroupedSums, as docs/guide/files.md ("Bag sums") lists them.
#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <optional>
#include <utility>

#include "bagwise/bags/feature_moments.h"
#include "bagwise/bags/grouped_sums.h"
#include "bagwise/core/checksum.h"
#include "bagwise/data/csv_records.h"
#include "bagwise/linalg/finite.h"

namespace bagwise {
namespace {

constexpr std::string_view kMagic = "bagsums\n";
constexpr std::uint32_t kVersion = 1;
constexpr std::size_t kHeaderBytes = 56, kChecksumBytes = 8;
constexpr std::uint32_t kSparseTable = 1, kShares = 2, kBounds = 4, kMoments = 8, kFill = 16,
                        kSparseSums = 32;
constexpr std::uint32_t kMissingShift = 8, kKnownFlags = 63U | (3U << kMissingShift);

static_assert(std::endian::native == std::endian::little, "bytes are copied as they are");

class Writer {
 public:
  template <class T>
  void put(T value) {
    char raw[sizeof(T)];
    std::memcpy(raw, &value, sizeof(T));
    out_.append(raw, sizeof(T));
  }
  template <class T>
  void put_all(std::span<const T> values) {
    if (!values.empty()) out_.append(reinterpret_cast<const char*>(values.data()), values.size_bytes());
  }
  void put_texts(const std::vector<std::string>& texts) {
    for (const auto& text : texts) put(static_cast<std::uint32_t>(text.size())), out_ += text;
  }
  void put(const CompensatedSum& sum) { put(sum.high), put(sum.low); }
  void reserve(std::size_t bytes) { out_.reserve(bytes); }
  [[nodiscard]] std::string& bytes() { return out_; }

 private:
  std::string out_;
};

// Reads what was checked to be long enough; beyond the end it gives zeros and is no longer fine.
class Reader {
 public:
  explicit Reader(std::string_view bytes) : left_(bytes) {}

  [[nodiscard]] bool fine() const { return fine_; }
  [[nodiscard]] std::size_t left() const { return left_.size(); }
  // That there are `count` things of at least `bytes` each.
  bool has(std::uint64_t count, std::size_t bytes) {
    fine_ = fine_ && (bytes == 0 || count <= left_.size() / bytes);
    return fine_;
  }
  template <class T>
  T take() {
    T value{};
    if (has(1, sizeof(T))) {
      std::memcpy(&value, left_.data(), sizeof(T));
      left_.remove_prefix(sizeof(T));
    }
    return value;
  }
  CompensatedSum take_sum() {
    const auto high = take<double>();
    return {high, take<double>()};
  }
  template <class T>
  std::vector<T> take_all(std::uint64_t count) {
    if (!has(count, sizeof(T))) return {};
    std::vector<T> out(count);
    if (count > 0) std::memcpy(out.data(), left_.data(), count * sizeof(T));
    left_.remove_prefix(count * sizeof(T));
    return out;
  }
  std::vector<std::string> take_texts(std::uint64_t count) {
    std::vector<std::string> out;
    if (!has(count, sizeof(std::uint32_t))) return out;
    out.reserve(count);
    for (std::uint64_t i = 0; i < count && fine_; ++i) {
      const auto size = take<std::uint32_t>();
      if (!has(size, 1)) break;
      out.emplace_back(left_.substr(0, size));
      left_.remove_prefix(size);
    }
    return out;
  }

 private:
  std::string_view left_;
  bool fine_ = true;
};

constexpr std::uint64_t kMostRows = std::uint64_t{1} << 53;  // beyond it doubles leave numbers out

// A bag as a table has it: it has rows, and its bounds are none below 0. Adds its rows to `counted`.
bool is_bag(std::uint64_t count, const CompensatedSum& bound, std::uint64_t& counted) {
  if (count == 0 || count > kMostRows - counted) return false;
  counted += count;
  return bound.value() >= 0;
}

bool is_finite(const CompensatedSum& sum) { return std::isfinite(sum.high) && std::isfinite(sum.low); }

bool all_distinct(const std::vector<std::string>& names) {
  NameTable seen;
  for (const auto& name : names) seen.number(name);
  return seen.size() == names.size();
}

// Nothing if its features do not ascend, or there are too many.
std::optional<BagSums::SparseBag> take_sparse_bag(Reader& in, std::uint64_t features) {
  BagSums::SparseBag bag;
  bag.count = in.take<std::uint64_t>();
  bag.bound = in.take_sum();
  const auto entries = in.take<std::uint32_t>();
  if (!in.has(entries, 20)) return std::nullopt;
  bag.entries.resize(entries);
  std::uint64_t least = 0;
  for (auto& entry : bag.entries) {
    entry.feature = in.take<std::uint32_t>();
    const CompensatedSum sum = in.take_sum();
    entry.high = sum.high, entry.low = sum.low;
    if (entry.feature < least || entry.feature >= features) return std::nullopt;
    least = std::uint64_t{entry.feature} + 1;
  }
  return bag;
}

// The file as a whole: magic, version, length, checksum.
Result<void> check_envelope(std::string_view bytes, const std::string& origin) {
  if (!bytes.starts_with(kMagic.substr(0, std::min(bytes.size(), kMagic.size()))) || bytes.empty()) {
    return Error{"is no file of bag sums: it does not begin as one that `bagwise reduce` writes", origin};
  }
  const auto damaged = [&](const std::string& what) {
    return Error{"is damaged: " + what + "; make it again with `bagwise reduce`", origin};
  };
  if (bytes.size() < kHeaderBytes + kChecksumBytes)
    return damaged(fmt::format("it ends after {} bytes", bytes.size()));
  Reader reader(bytes.substr(kMagic.size()));
  const auto version = reader.take<std::uint32_t>();
  const auto checksum = [&] {
    Reader tail(bytes.substr(bytes.size() - kChecksumBytes));
    return tail.take<std::uint64_t>();
  }();
  const bool whole = checksum_of(bytes.substr(0, bytes.size() - kChecksumBytes)) == checksum;
  if (version != kVersion && whole) {
    return Error{
        fmt::format("is of version {} of bag sums; this program reads version {}", version, kVersion),
        origin};
  }
  reader.take<std::uint32_t>();
  const auto length = reader.take<std::uint64_t>();
  if (!whole && length > bytes.size())
    return damaged(fmt::format("it has {} bytes, expected {}", bytes.size(), length));
  if (!whole) return damaged("its checksum does not match its contents");
  if (length != bytes.size())
    return damaged(fmt::format("it has {} bytes, expected {}", bytes.size(), length));
  return {};
}

}  // namespace

std::string GroupedSums::to_bytes() const {
  const std::size_t features = schema.feature_names.size();
  Writer out;
  if (sums.layout() == BagSums::Layout::kDense)
    out.reserve(kHeaderBytes + names.size() * (64 + 16 * features) + 64 * features);
  out.bytes() += kMagic;
  out.put(kVersion);
  out.put((schema.sparse ? kSparseTable : 0) | (schema.has_shares ? kShares : 0) |
          (schema.has_bounds ? kBounds : 0) | (has_moments ? kMoments : 0) |
          (schema.fill.empty() ? 0 : kFill) | (sums.layout() == BagSums::Layout::kSparse ? kSparseSums : 0) |
          (static_cast<std::uint32_t>(missing) << kMissingShift));
  out.put(std::uint64_t{0});  // the length, when it is known
  out.put(rows);
  out.put(std::uint64_t{features});
  out.put(std::uint64_t{one_hot.size()});
  out.put(std::uint64_t{names.size()});
  out.put_texts(schema.feature_names);
  out.put_texts(one_hot);
  out.put_texts(names);
  out.put_all(std::span(schema.fill));
  out.put_all(std::span(shares));
  const bool sparse = sums.layout() == BagSums::Layout::kSparse;
  for (std::size_t k = 0; sparse && k < names.size(); ++k) {
    const BagSums::SparseBag bag = sums.sparse_bag(k);
    out.put(bag.count);
    out.put(bag.bound);
    out.put(static_cast<std::uint32_t>(bag.entries.size()));
    for (const auto& entry : bag.entries) out.put(entry.feature), out.put(entry.high), out.put(entry.low);
  }
  for (std::size_t k = 0; !sparse && k < names.size(); ++k) {
    const BagSums::Bag bag = sums.bag(k);
    out.put(bag.count);
    out.put(bag.bound);
    out.put_all(bag.high);
    out.put_all(bag.low);
  }
  if (has_moments) {
    out.put(moments.rows);
    for (std::size_t j = 0; j < features; ++j) {
      out.put(moments.sum[j]);
      out.put(moments.sum_of_squares[j]);
      out.put(moments.largest[j]);
    }
  }
  const std::uint64_t length = out.bytes().size() + kChecksumBytes;
  std::memcpy(out.bytes().data() + 16, &length, sizeof(length));
  out.put(checksum_of(out.bytes()));
  return std::move(out.bytes());
}

Result<GroupedSums> GroupedSums::from_bytes(std::string_view bytes, const std::string& origin) {
  if (auto envelope = check_envelope(bytes, origin); !envelope) return envelope.error();
  Reader in(bytes.substr(0, bytes.size() - kChecksumBytes));
  in.take<std::uint64_t>();
  in.take<std::uint32_t>();
  const auto flags = in.take<std::uint32_t>();
  in.take<std::uint64_t>();
  // The checksum is right, so what follows is a file that some program meant to write, if not ours.
  const Error wrong{"has a good checksum but no sense: it was not written by this program", origin};
  const Error overflow{"has a sum that is no finite number; expected sums of smaller values", origin};
  GroupedSums out;
  out.rows = in.take<std::uint64_t>();
  const auto features = in.take<std::uint64_t>(), one_hot = in.take<std::uint64_t>(),
             bags = in.take<std::uint64_t>();
  if ((flags & ~kKnownFlags) != 0 || (flags >> kMissingShift) > static_cast<std::uint32_t>(Missing::kZero))
    return wrong;
  out.schema.has_groups = true;
  out.schema.sparse = (flags & kSparseTable) != 0;
  out.schema.has_shares = (flags & kShares) != 0;
  out.schema.has_bounds = (flags & kBounds) != 0;
  out.has_moments = (flags & kMoments) != 0;
  out.missing = static_cast<Missing>(flags >> kMissingShift);
  out.schema.feature_names = in.take_texts(features);
  out.one_hot = in.take_texts(one_hot);
  out.names = in.take_texts(bags);
  if (!in.fine() || !all_distinct(out.schema.feature_names) || !all_distinct(out.one_hot) ||
      !all_distinct(out.names) || std::ranges::find(out.names, "") != out.names.end()) {
    return wrong;
  }
  if ((flags & kFill) != 0 && features == 0) return wrong;
  if ((flags & kFill) != 0) out.schema.fill = in.take_all<double>(features);
  if (out.schema.has_shares) out.shares = in.take_all<double>(bags);
  if (!all_finite(out.schema.fill)) return wrong;
  for (const double share : out.shares) {
    if (!(share >= 0 && share <= 1)) return wrong;
  }
  const bool sparse = (flags & kSparseSums) != 0;
  if (!in.has(bags, sparse ? 28 : 24 + 16 * features)) return wrong;
  out.sums = BagSums(bags, features, sparse ? BagSums::Layout::kSparse : BagSums::Layout::kDense);
  std::uint64_t counted = 0;
  for (std::size_t k = 0; sparse && k < bags; ++k) {
    auto bag = take_sparse_bag(in, features);
    if (!bag || !is_bag(bag->count, bag->bound, counted)) return wrong;
    if (!is_finite(bag->bound) || !std::ranges::all_of(bag->entries, [](const BagSums::Entry& entry) {
          return std::isfinite(entry.high) && std::isfinite(entry.low);
        })) {
      return overflow;
    }
    out.sums.set(k, std::move(*bag));
  }
  for (std::size_t k = 0; !sparse && k < bags; ++k) {
    BagSums::Bag bag;
    bag.count = in.take<std::uint64_t>();
    bag.bound = in.take_sum();
    const auto high = in.take_all<double>(features), low = in.take_all<double>(features);
    if (!in.fine() || !is_bag(bag.count, bag.bound, counted)) return wrong;
    if (!is_finite(bag.bound) || !all_finite(high) || !all_finite(low)) return overflow;
    bag.high = high, bag.low = low;
    out.sums.set(k, bag);
  }
  if (out.has_moments) {
    out.moments.rows = in.take<std::uint64_t>();
    if (!in.has(features, 40)) return wrong;
    const std::uint64_t rows = out.moments.rows;
    out.moments = FeatureMoments(features);
    out.moments.rows = rows;
    for (std::size_t j = 0; j < features; ++j) {
      out.moments.sum[j] = in.take_sum();
      out.moments.sum_of_squares[j] = in.take_sum();
      out.moments.largest[j] = in.take<double>();
    }
  }
  if (!in.fine() || in.left() != 0 || counted != out.rows) return wrong;
  out.origins = {origin};
  out.origin_of_bag.assign(bags, 0);
  return out;
}

}  // namespace bagwise
