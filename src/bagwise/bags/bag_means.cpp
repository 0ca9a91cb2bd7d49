#include "bagwise/bags/bag_means.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <string_view>
#include <tuple>
#include <utility>

#include "bagwise/data/csv_records.h"

namespace bagwise {
namespace {

// n * mean as high + low: the product alone would round once more.
CompensatedSum product(std::uint64_t n, double mean) {
  const auto count = static_cast<double>(n);
  const double high = count * mean;
  return {high, std::isfinite(high) ? std::fma(count, mean, -high) : 0.0};
}

// Reads the lines of one file, one after the other.
class MeansReader {
 public:
  MeansReader(const std::string& path, const BagMeansOptions& options) : path_(path), options_(options) {
    out_.origins = {path};
    out_.schema.has_groups = true;
  }

  Result<void> header(const std::vector<std::string>& names) {
    names_ = names;
    std::set<std::string> seen;
    std::vector<std::size_t> others;
    for (std::size_t c = 0; c < names.size(); ++c) {
      if (!seen.insert(names[c]).second) return fault("occurs twice; expected every column once", 1, c);
      if (names[c].empty()) return fault("has no name; expected one for every column", 1, c);
      std::size_t* const place = names[c] == options_.bag_column     ? &bag_
                                 : names[c] == options_.size_column  ? &size_
                                 : names[c] == options_.share_column ? &share_
                                 : names[c] == options_.bound_column ? &bound_
                                                                     : nullptr;
      if (place != nullptr) {
        *place = c;
      } else if (names[c] != options_.label_column && names[c] != options_.id_column) {
        others.push_back(c);
      }
    }
    for (const auto& [place, name, holds] : {std::tuple{bag_, &options_.bag_column, "the name of each bag"},
                                             {size_, &options_.size_column, "the number of its rows"}}) {
      if (place != kNone) continue;
      return Error{fmt::format("has no column {}; expected one with {}", shown_text(*name), holds), path_, 1};
    }
    if (auto chosen = choose_features(others); !chosen) return chosen;
    if (features_.empty()) return Error{"has no column of means; expected one per feature", path_, 1};
    for (const std::size_t c : features_) out_.schema.feature_names.push_back(names[c]);
    out_.schema.has_shares = share_ != kNone;
    out_.schema.has_bounds = bound_ != kNone;
    out_.sums = BagSums(0, features_.size());
    high_.resize(features_.size());
    low_.resize(features_.size());
    return {};
  }

  Result<void> record(const std::vector<std::string_view>& cells, std::uint64_t line) {
    if (cells[bag_].empty()) return fault("is empty; expected the name of a bag", line, bag_);
    auto size = cell_count(cells[size_], "a number of rows");
    if (!size) return fault(size.error().message, line, size_);
    if (*size == 0) return fault("\"0\" is no size; expected at least one row in a bag", line, size_);
    if (*size > kMostRows) {
      return fault(fmt::format("{} is too large; expected at most {}", shown_text(cells[size_]), kMostRows),
                   line, size_);
    }
    BagSums one(1, features_.size());
    BagSums::Bag bag{.count = *size, .bound = {}, .high = high_, .low = low_};
    if (bound_ != kNone) {
      const auto bound = cell_number(cells[bound_], "a bound >= 0");
      if (!bound) return fault(bound.error().message, line, bound_);
      if (*bound < 0)
        return fault(shown_text(cells[bound_]) + " is negative; expected a bound >= 0", line, bound_);
      bag.bound = product(*size, *bound);
    }
    for (std::size_t j = 0; j < features_.size(); ++j) {
      const auto mean = cell_number(cells[features_[j]], "a finite decimal number");
      if (!mean) return fault(mean.error().message, line, features_[j]);
      const CompensatedSum sum = product(*size, *mean);
      if (!std::isfinite(sum.high)) {
        return fault(fmt::format("{} times the size {} is too large for a number; expected a smaller mean",
                                 shown_text(cells[features_[j]]), *size),
                     line, features_[j]);
      }
      high_[j] = sum.high, low_[j] = sum.low;
    }
    one.set(0, bag);
    const std::uint32_t number = bags_.number(cells[bag_]);
    if (auto read = read_share(cells, line, number); !read) return read;
    out_.sums.grow(bags_.size());
    out_.sums.merge(one, std::span(&number, 1));
    if (out_.rows > kMostRows - *size)
      return fault(fmt::format("the sizes add up to more than {} rows", kMostRows), line, size_);
    out_.rows += *size;
    return {};
  }

  Result<GroupedSums> take() {
    if (bags_.size() == 0) return Error{"has a header but no rows; expected one per bag", path_};
    out_.names = bags_.names();
    out_.origin_of_bag.assign(out_.names.size(), 0);
    return std::move(out_);
  }

 private:
  static constexpr std::size_t kNone = static_cast<std::size_t>(-1);
  static constexpr std::uint64_t kMostRows = std::uint64_t{1} << 53;  // beyond it doubles leave numbers out

  Result<void> choose_features(const std::vector<std::size_t>& others) {
    const auto find = [&](const std::string& name) {
      return std::find_if(others.begin(), others.end(), [&](std::size_t c) { return names_[c] == name; });
    };
    for (const auto* list : {&options_.features, &options_.exclude}) {
      for (const auto& name : *list) {
        if (find(name) == others.end())
          return Error{fmt::format("has no column of means {}", shown_text(name)), path_, 1};
      }
    }
    const auto take = [&](std::size_t c) {
      if (std::ranges::find(options_.exclude, names_[c]) == options_.exclude.end() &&
          std::ranges::find(features_, c) == features_.end()) {
        features_.push_back(c);
      }
    };
    for (const auto& name : options_.features) take(*find(name));
    if (options_.features.empty()) std::ranges::for_each(others, take);
    return {};
  }

  Result<void> read_share(const std::vector<std::string_view>& cells, std::uint64_t line, std::uint32_t bag) {
    if (share_ == kNone) return {};
    const char* expected = "a proportion between 0 and 1";
    const auto share = cell_number(cells[share_], expected);
    if (!share) return fault(share.error().message, line, share_);
    if (*share < 0 || *share > 1) {
      return fault(fmt::format("{} is outside [0, 1]; expected {}", shown_text(cells[share_]), expected),
                   line, share_);
    }
    if (bag == out_.shares.size()) {
      out_.shares.push_back(*share);
    } else if (out_.shares[bag] != *share) {
      return fault(fmt::format("bag {} has proportion {} here but {} before; expected one proportion per bag",
                               shown_text(cells[bag_]), *share, out_.shares[bag]),
                   line, share_);
    }
    return {};
  }

  [[nodiscard]] Error fault(std::string message, std::uint64_t line, std::size_t c) const {
    return {std::move(message), path_, line, fmt::format("{} ({})", c + 1, cut_text(names_[c]))};
  }

  const std::string& path_;
  const BagMeansOptions& options_;
  std::vector<std::string> names_;
  std::size_t bag_ = kNone, size_ = kNone, share_ = kNone, bound_ = kNone;
  std::vector<std::size_t> features_;
  std::vector<double> high_, low_;
  NameTable bags_;
  GroupedSums out_;
};

}  // namespace

Result<GroupedSums> read_bag_means(const TableSource& source, const BagMeansOptions& options,
                                   const Observer& observer) {
  GroupedSums out;
  for (const TablePart& part : source.parts) {
    MeansReader reader(part.path, options);
    auto read = read_csv_records(
        part.path, [&](const auto& names) { return reader.header(names); },
        [&](const auto& cells, std::uint64_t line) { return reader.record(cells, line); }, observer);
    if (!read) return read.error();
    auto sums = reader.take();
    if (!sums) return sums.error();
    if (auto merged = out.merge(std::move(*sums)); !merged) return merged.error();
  }
  return out;
}

}  // namespace bagwise
