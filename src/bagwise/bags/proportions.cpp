#include "bagwise/bags/proportions.h"

#include <fmt/format.h>

#include <algorithm>
#include <cassert>
#include <cmath>
#include <numeric>
#include <string_view>
#include <utility>
#include <vector>

#include "bagwise/core/atomic_file.h"
#include "bagwise/data/csv_records.h"
#include "bagwise/data/write_table.h"

namespace bagwise {
namespace {

constexpr const char* kExpectedHeader =
    "expected bag,proportion or bag,proportion,size or bag,positives,size";

// Reads the records of a proportions file, one after the other.
class ProportionReader {
 public:
  explicit ProportionReader(const std::string& path) : path_(path) { out_.file = path; }

  Result<void> header(const std::vector<std::string>& names) {
    names_ = names;
    for (std::size_t c = 0; c < names.size(); ++c) {
      int* const place = names[c] == "bag"          ? &bag_
                         : names[c] == "proportion" ? &proportion_
                         : names[c] == "positives"  ? &positives_
                         : names[c] == "size"       ? &size_
                         : names[c] == "stderr"     ? &stderr_
                         : names[c] == "epsilon_dp" ? &epsilon_dp_
                                                    : nullptr;
      if (place == nullptr) {
        return Error{
            fmt::format("is not known in a table of proportions; {}, and stderr or epsilon_dp of noisy ones",
                        kExpectedHeader),
            path_, 1, column(c)};
      }
      if (*place >= 0) return Error{"occurs twice; expected every column once", path_, 1, column(c)};
      *place = static_cast<int>(c);
    }
    if (bag_ < 0) return Error{fmt::format("there is no column bag; {}", kExpectedHeader), path_, 1};
    if (proportion_ >= 0 && positives_ >= 0) {
      return Error{fmt::format("has both proportion and positives; {}", kExpectedHeader), path_, 1};
    }
    if (proportion_ < 0 && positives_ < 0) {
      return Error{fmt::format("there is no column proportion or positives; {}", kExpectedHeader), path_, 1};
    }
    if (positives_ >= 0 && size_ < 0) {
      return Error{fmt::format("has positives but no size; {}", kExpectedHeader), path_, 1};
    }
    if (stderr_ >= 0 && epsilon_dp_ >= 0) {
      return Error{
          "has both stderr and epsilon_dp; expected one of the two, as both say how noisy a share is", path_,
          1};
    }
    return {};
  }

  Result<void> record(const std::vector<std::string_view>& cells, std::uint64_t line) {
    const auto cell = [&](int c) { return cell_of(cells, c); };
    KnownProportion known;
    known.line = line;
    if (cell(bag_).empty()) return fault("is empty; expected the name of a bag", line, bag_);
    if (size_ >= 0) {
      auto size = whole_number(cell(size_), line, size_);
      if (!size) return size.error();
      if (*size == 0) return fault("\"0\" is no size; expected at least one row in a bag", line, size_);
      known.size = *size;
    }
    if (auto read = read_noise(cells, line, known); !read) return read.error();
    if (auto read = proportion_ >= 0 ? read_share(cells, line, known) : read_positives(cells, line, known);
        !read)
      return read.error();
    const auto [at, fresh] = out_.bags.emplace(cell(bag_), known);
    if (!fresh) {
      return fault(fmt::format("bag {} has a proportion already, in line {}; expected one per bag",
                               shown_text(cell(bag_)), at->second.line),
                   line, bag_);
    }
    return {};
  }

  Result<ProportionTable> take() {
    if (out_.bags.empty()) return Error{"has a header but no rows; expected one per bag", path_};
    if (clipped_ > 0) {
      out_.remarks.push_back(
          fmt::format("{}: {} of {} noisy proportions lay outside [0, 1] and were clipped to it", path_,
                      clipped_, out_.bags.size()));
    }
    return std::move(out_);
  }

 private:
  using Cells = std::vector<std::string_view>;
  static std::string_view cell_of(const Cells& cells, int c) { return cells[static_cast<std::size_t>(c)]; }
  [[nodiscard]] bool noisy() const { return stderr_ >= 0 || epsilon_dp_ >= 0; }

  Result<void> read_noise(const Cells& cells, std::uint64_t line, KnownProportion& known) const {
    if (!noisy()) return {};
    const bool by_error = stderr_ >= 0;
    const int c = by_error ? stderr_ : epsilon_dp_;
    const char* expected = by_error ? "a standard error >= 0" : "an epsilon > 0";
    const auto value = cell_number(cell_of(cells, c), expected);
    if (!value) return fault(value.error().message, line, c);
    const bool fine = by_error ? *value >= 0 : *value > 0 && std::isfinite(1 / *value);
    if (!fine) {
      const char* what = by_error ? "negative" : *value > 0 ? "too small" : "not positive";
      return fault(fmt::format("{} is {}; expected {}", shown_text(cell_of(cells, c)), what, expected), line,
                   c);
    }
    (by_error ? known.stderror : known.epsilon_dp) = *value;
    return {};
  }

  Result<void> read_share(const Cells& cells, std::uint64_t line, KnownProportion& known) {
    const char* expected = noisy() ? "a proportion" : "a proportion between 0 and 1";
    const auto value = cell_number(cell_of(cells, proportion_), expected);
    if (!value) return fault(value.error().message, line, proportion_);
    if (!noisy() && !(*value >= 0 && *value <= 1)) {
      return fault(shown_text(cell_of(cells, proportion_)) +
                       " is outside [0, 1]; expected a proportion between 0 and 1",
                   line, proportion_);
    }
    known.proportion = clipped(*value);
    return {};
  }

  // Noise makes a count any number.
  Result<void> read_positives(const Cells& cells, std::uint64_t line, KnownProportion& known) {
    const auto size = static_cast<double>(*known.size);
    if (noisy()) {
      const auto value = cell_number(cell_of(cells, positives_), "a number of rows");
      if (!value) return fault(value.error().message, line, positives_);
      known.proportion = clipped(*value / size);
      return {};
    }
    auto positives = whole_number(cell_of(cells, positives_), line, positives_);
    if (!positives) return positives.error();
    if (*positives > *known.size) {
      return fault(fmt::format("{} positives are more than the size {}; expected at most the size",
                               *positives, *known.size),
                   line, positives_);
    }
    known.proportion = static_cast<double>(*positives) / size;
    return {};
  }

  double clipped(double share) {
    if (share < 0 || share > 1) ++clipped_;
    return std::clamp(share, 0.0, 1.0);
  }

  [[nodiscard]] std::string column(std::size_t c) const {
    return fmt::format("{} ({})", c + 1, cut_text(names_[c]));
  }
  [[nodiscard]] Error fault(std::string message, std::uint64_t line, int c) const {
    return {std::move(message), path_, line, column(static_cast<std::size_t>(c))};
  }
  [[nodiscard]] Result<std::uint64_t> whole_number(std::string_view text, std::uint64_t line, int c) const {
    auto value = cell_count(text, "a number of rows");
    if (!value) return fault(value.error().message, line, c);
    return value;
  }

  const std::string& path_;
  std::vector<std::string> names_;
  int bag_ = -1, proportion_ = -1, positives_ = -1, size_ = -1, stderr_ = -1, epsilon_dp_ = -1;
  std::size_t clipped_ = 0;
  ProportionTable out_;
};

// The bags of some instances, before proportions are known: names in any order, and how many rows each has.
struct CountedBags {
  std::vector<std::string> names;
  std::vector<std::uint64_t> counts;
  std::vector<double> shares;  // from a column; empty = none
};

// The bags sorted by name with their proportions, and where each came from.
struct JoinedBags {
  Bags bags;
  std::vector<std::uint32_t> order;  // bag k is order[k] of the input
};

Result<JoinedBags> join(CountedBags found, const std::string& file, const ProportionTable* table,
                        BagsHere here = BagsHere::kAll) {
  if (table != nullptr && !found.shares.empty()) {
    return Error{fmt::format("has a proportion column, and {} gives proportions too; expected one of the two",
                             table->file),
                 file};
  }
  if (table == nullptr && found.shares.empty() && !(here == BagsHere::kSome && found.names.empty())) {
    return Error{"has no proportion column and no file of proportions was given; expected one of the two",
                 file};
  }
  JoinedBags out;
  out.order.resize(found.names.size());
  std::iota(out.order.begin(), out.order.end(), 0U);
  std::sort(out.order.begin(), out.order.end(),
            [&](std::uint32_t a, std::uint32_t b) { return found.names[a] < found.names[b]; });
  for (const std::uint32_t k : out.order) {
    if (table == nullptr) {
      out.bags.proportions.push_back(found.shares[k]);
    } else {
      const auto known = table->bags.find(found.names[k]);
      if (known == table->bags.end()) {
        return Error{fmt::format("bag {} has no proportion in {}; expected one for every bag",
                                 shown_text(found.names[k]), table->file),
                     file};
      }
      const auto& size = known->second.size;
      if (size && *size != found.counts[k]) {
        return Error{fmt::format("bag {} has size {} here but {} rows in {}; expected the number of its rows",
                                 shown_text(found.names[k]), *size, found.counts[k], file),
                     table->file, known->second.line, "size"};
      }
      out.bags.proportions.push_back(known->second.proportion);
      out.bags.noise.push_back(known->second.noise(found.counts[k]));
    }
    out.bags.names.push_back(std::move(found.names[k]));
  }
  if (std::ranges::all_of(out.bags.noise, [](double s) { return s == 0; })) out.bags.noise.clear();
  if (here == BagsHere::kAll && table != nullptr && table->bags.size() != out.bags.names.size()) {
    // Of the proportions without bag, the first in the file.
    const std::pair<const std::string, KnownProportion>* first = nullptr;
    for (const auto& entry : table->bags) {
      if (std::binary_search(out.bags.names.begin(), out.bags.names.end(), entry.first)) continue;
      if (first == nullptr || entry.second.line < first->second.line) first = &entry;
    }
    if (first != nullptr) {
      return Error{fmt::format("bag {} has a proportion but no row in {}; expected at least one",
                               shown_text(first->first), file),
                   table->file, first->second.line, "bag"};
    }
  }
  return out;
}

}  // namespace

double KnownProportion::noise(std::uint64_t rows) const {
  return epsilon_dp > 0 ? std::sqrt(2.0) / epsilon_dp / static_cast<double>(rows) : stderror;
}

Result<ProportionTable> read_proportions(const std::string& path, const Observer& observer) {
  ProportionReader reader(path);
  auto read = read_csv_records(
      path, [&](const auto& names) { return reader.header(names); },
      [&](const auto& cells, std::uint64_t line) { return reader.record(cells, line); }, observer);
  if (!read) return read.error();
  return reader.take();
}

Result<ProportionTable> make_proportions(const std::string& what, const std::vector<std::string>& header,
                                         const std::vector<std::vector<std::string>>& records) {
  ProportionReader reader(what);
  if (auto checked = reader.header(header); !checked) return checked.error();
  for (std::size_t i = 0; i < records.size(); ++i) {
    if (records[i].size() != header.size()) {
      return Error{fmt::format("has {} cells; expected {}", records[i].size(), header.size()), what, i + 1};
    }
    if (auto read = reader.record({records[i].begin(), records[i].end()}, i + 1); !read) return read.error();
  }
  return reader.take();
}

Result<ProportionTable> make_proportions(const std::string& what, std::span<const std::string> bags,
                                         std::span<const double> shares) {
  assert(bags.size() == shares.size());
  ProportionTable out;
  out.file = what;
  const auto add = [&](std::size_t i) {
    if (!(shares[i] >= 0 && shares[i] <= 1) || bags[i].empty()) return false;
    const std::size_t before = out.bags.size();
    // Mostly sorted already: then the end is its place.
    out.bags.emplace_hint(out.bags.end(), bags[i], KnownProportion{shares[i], {}, i + 1});
    return out.bags.size() > before;
  };
  bool fine = !bags.empty();
  for (std::size_t i = 0; fine && i < bags.size(); ++i) fine = add(i);
  if (fine) return out;
  // What is wrong is told by whoever reads them as text.
  std::vector<std::vector<std::string>> records;
  for (std::size_t i = 0; i < bags.size(); ++i) records.push_back({bags[i], fmt::format("{}", shares[i])});
  return make_proportions(what, {"bag", "proportion"}, records);
}

Result<void> write_proportions(const std::string& path, const ProportionTable& table, FileGroup* group) {
  const bool sizes = std::all_of(table.bags.begin(), table.bags.end(),
                                 [](const auto& entry) { return entry.second.size.has_value(); });
  const auto any = [&](auto has) {
    return std::any_of(table.bags.begin(), table.bags.end(),
                       [&](const auto& entry) { return has(entry.second); });
  };
  const bool private_counts = any([](const KnownProportion& known) { return known.epsilon_dp > 0; });
  const bool errors = !private_counts && any([](const KnownProportion& known) { return known.stderror > 0; });
  std::string text = "bag,proportion";
  text += sizes ? ",size" : "";
  text += private_counts ? ",epsilon_dp\n" : errors ? ",stderr\n" : "\n";
  for (const auto& [name, known] : table.bags) {
    text += fmt::format("{},{}", csv_cell(name), known.proportion);
    if (sizes) text += fmt::format(",{}", *known.size);
    if (private_counts || errors)
      text += fmt::format(",{}", private_counts ? known.epsilon_dp : known.stderror);
    text += '\n';
  }
  return write_file(path, text, group);
}

Result<BaggedData> attach_proportions(Dataset instances, const std::string& instances_file,
                                      const ProportionTable* table) {
  if (!instances.groups.present()) return Error{"has no bag column; expected one", instances_file};
  CountedBags found;
  const auto& codes = instances.groups.codes;
  const std::size_t bags = instances.groups.values.size();
  found.counts.assign(bags, 0);
  for (const std::uint32_t code : codes) ++found.counts[code];
  if (!instances.shares.empty()) {
    found.shares.assign(bags, std::nan(""));
    for (std::size_t i = 0; i < codes.size(); ++i) {
      double& share = found.shares[codes[i]];
      if (std::isnan(share)) share = instances.shares[i];
      if (share != instances.shares[i]) {
        return Error{
            fmt::format("bag {} has proportion {} in row {} but {} before; expected one proportion per bag",
                        shown_text(instances.groups.values[codes[i]]), instances.shares[i], i + 1, share),
            instances_file, 0, "proportion"};
      }
    }
  }
  // A group without a row is not a bag of these instances (a Dataset may be a part of another).
  std::vector<std::uint32_t> old_number;
  CountedBags present;
  for (std::size_t k = 0; k < bags; ++k) {
    if (found.counts[k] == 0) continue;
    old_number.push_back(static_cast<std::uint32_t>(k));
    present.names.push_back(std::move(instances.groups.values[k]));
    present.counts.push_back(found.counts[k]);
    if (!found.shares.empty()) present.shares.push_back(found.shares[k]);
  }
  auto joined = join(std::move(present), instances_file, table);
  if (!joined) return joined.error();

  std::vector<std::uint32_t> to(bags, 0);
  for (std::size_t k = 0; k < joined->order.size(); ++k) {
    to[old_number[joined->order[k]]] = static_cast<std::uint32_t>(k);
  }
  BaggedData out;
  out.features = std::move(instances.features);
  out.feature_names = std::move(instances.feature_names);
  out.bags = std::move(joined->bags);
  out.bag_of_row = std::move(instances.groups.codes);
  for (std::uint32_t& bag : out.bag_of_row) bag = to[bag];
  out.bounds = std::move(instances.bounds);
  return out;
}

Result<ReducedBags> attach_proportions(GroupedSums instances, const std::string& instances_file,
                                       const ProportionTable* table, BagsHere here) {
  CountedBags found{std::move(instances.names), {}, std::move(instances.shares)};
  for (std::size_t k = 0; k < found.names.size(); ++k) found.counts.push_back(instances.sums.count(k));
  auto joined = join(std::move(found), instances_file, table, here);
  if (!joined) return joined.error();
  ReducedBags out;
  out.feature_names = std::move(instances.schema.feature_names);
  out.bags = std::move(joined->bags);
  out.sums = instances.sums.reordered(joined->order);
  out.moments = std::move(instances.moments);
  out.has_bounds = instances.schema.has_bounds;
  return out;
}

}  // namespace bagwise
