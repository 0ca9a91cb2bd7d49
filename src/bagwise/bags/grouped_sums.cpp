#include "bagwise/bags/grouped_sums.h"

#include <fmt/format.h>

#include <algorithm>
#include <cassert>
#include <charconv>
#include <iterator>
#include <map>
#include <optional>
#include <set>
#include <tuple>
#include <utility>

#include "bagwise/bags/feature_moments.h"
#include "bagwise/core/checksum.h"
#include "bagwise/data/csv_records.h"

namespace bagwise {
namespace {

// The one-hot column that a feature "column=value" is of, the longest that fits; null: it is of none.
const std::string* column_of(const std::string& feature, const std::vector<std::string>& one_hot) {
  const std::string* found = nullptr;
  for (const auto& column : one_hot) {
    if (feature.size() > column.size() && feature.starts_with(column) && feature[column.size()] == '=' &&
        (found == nullptr || column.size() > found->size())) {
      found = &column;
    }
  }
  return found;
}

std::optional<std::uint64_t> as_number(const std::string& name) {
  std::uint64_t out = 0;
  const auto [end, fault] = std::from_chars(name.data(), name.data() + name.size(), out);
  if (fault != std::errc() || end != name.data() + name.size()) return std::nullopt;
  return out;
}

// The features of both sides of a sparse table: by number where they are numbers (as one file of all rows
// would have them), else the new ones behind.
std::vector<std::string> united(std::vector<std::string> features, const std::vector<std::string>& more) {
  const std::set<std::string_view> known(features.begin(), features.end());
  std::vector<std::string> fresh;
  std::copy_if(more.begin(), more.end(), std::back_inserter(fresh),
               [&](const auto& name) { return !known.contains(name); });
  const bool were_sorted = std::is_sorted(features.begin(), features.end(), [](const auto& a, const auto& b) {
    return as_number(a) < as_number(b);
  });
  features.insert(features.end(), fresh.begin(), fresh.end());
  if (were_sorted && std::all_of(features.begin(), features.end(), as_number)) {
    std::sort(features.begin(), features.end(),
              [](const auto& a, const auto& b) { return *as_number(a) < *as_number(b); });
  }
  return features;
}

// The features of both sides where text columns were spread: the values of a column sorted, at the place of
// its first one here, and behind all others if there is none here.
std::vector<std::string> united_values(const GroupedSums& mine, const GroupedSums& other) {
  std::map<std::string, std::set<std::string>> features_of;
  for (const GroupedSums* side : {&mine, &other}) {
    for (const auto& name : side->schema.feature_names) {
      if (const auto* column = column_of(name, mine.one_hot)) features_of[*column].insert(name);
    }
  }
  std::vector<std::string> out;
  const auto put = [&](const std::string& column) {
    if (const auto values = features_of.extract(column)) {
      out.insert(out.end(), values.mapped().begin(), values.mapped().end());
    }
  };
  for (const auto& name : mine.schema.feature_names) {
    if (const auto* column = column_of(name, mine.one_hot)) {
      put(*column);
    } else {
      out.push_back(name);
    }
  }
  for (const auto& column : mine.one_hot) put(column);
  return out;
}

// The first plain feature of `a` that `b` lacks; null: there is none.
const std::string* lacking(const GroupedSums& a, const GroupedSums& b) {
  const std::set<std::string_view> has(b.schema.feature_names.begin(), b.schema.feature_names.end());
  for (const auto& name : a.schema.feature_names) {
    if (!has.contains(name) && column_of(name, a.one_hot) == nullptr) return &name;
  }
  return nullptr;
}

// Where each name of `from` stands in `to`, or kNowhere.
std::vector<std::uint32_t> places(const std::vector<std::string>& from, std::span<const std::string> to) {
  std::map<std::string_view, std::uint32_t> at;
  for (std::size_t j = 0; j < to.size(); ++j) at.emplace(to[j], static_cast<std::uint32_t>(j));
  std::vector<std::uint32_t> out;
  for (const auto& name : from) {
    const auto found = at.find(name);
    out.push_back(found == at.end() ? BagSums::kNowhere : found->second);
  }
  return out;
}

// The features in the places that `names` gives them; others are left out.
void place(GroupedSums& sums, std::span<const std::string> names) {
  if (std::equal(names.begin(), names.end(), sums.schema.feature_names.begin(),
                 sums.schema.feature_names.end())) {
    return;
  }
  const auto to = places(sums.schema.feature_names, names);
  sums.sums = sums.sums.replaced(to, names.size());
  if (sums.has_moments) sums.moments = sums.moments.replaced(to, names.size());
  if (!sums.schema.fill.empty()) {
    std::vector<double> fill(names.size(), 0.0);
    for (std::size_t j = 0; j < to.size(); ++j) {
      if (to[j] != BagSums::kNowhere) fill[to[j]] = sums.schema.fill[j];
    }
    sums.schema.fill = std::move(fill);
  }
  sums.schema.feature_names.assign(names.begin(), names.end());
}

// That the tables are of one kind: what they have beside features.
Result<void> check_kind(const GroupedSums& mine, const GroupedSums& other) {
  const std::string here = other.origin(), there = mine.origin();
  const auto differ = [&](bool has, std::string_view what) {
    return Error{has ? fmt::format("has {}, but {} has not; expected all or none to have it", what, there)
                     : fmt::format("has no {}, but {} has; expected all or none to have it",
                                   what.starts_with("a ") ? what.substr(2) : what, there),
                 here};
  };
  if (mine.schema.sparse != other.schema.sparse) {
    return Error{
        fmt::format("is of a {} table, but {} is of a {} one; expected parts of one table",
                    other.schema.sparse ? "sparse" : "dense", there, mine.schema.sparse ? "sparse" : "dense"),
        here};
  }
  if (mine.schema.has_shares != other.schema.has_shares)
    return differ(other.schema.has_shares, "a proportion column");
  if (mine.schema.has_bounds != other.schema.has_bounds)
    return differ(other.schema.has_bounds, "a delta column");
  const std::set<std::string> spread(mine.one_hot.begin(), mine.one_hot.end());
  const std::set<std::string> other_spread(other.one_hot.begin(), other.one_hot.end());
  for (const auto& [a, b, has] :
       {std::tuple{&spread, &other_spread, false}, {&other_spread, &spread, true}}) {
    for (const auto& column : *a) {
      if (b->contains(column)) continue;
      return Error{
          fmt::format("{} column {} spread by one-hot, but {} {}; expected the same everywhere",
                      has ? "has" : "does not have", shown_text(column), there, has ? "has not" : "has"),
          here};
    }
  }
  return {};
}

Result<void> check_features(const GroupedSums& mine, const GroupedSums& other) {
  if (mine.schema.sparse || mine.schema.feature_names == other.schema.feature_names) return {};
  if (const auto* name = lacking(mine, other)) {
    return Error{fmt::format("has no feature {}, which {} has; expected the same features in all of them",
                             shown_text(*name), mine.origin()),
                 other.origin()};
  }
  if (const auto* name = lacking(other, mine)) {
    return Error{fmt::format("has a feature {}, which {} lacks; expected the same features in all of them",
                             shown_text(*name), mine.origin()),
                 other.origin()};
  }
  return {};
}

}  // namespace

std::string GroupedSums::origin() const {
  if (origins.empty()) return "sums";
  if (origins.size() == 1) return origins[0];
  return fmt::format("{} and {} more", origins[0], origins.size() - 1);
}

Result<void> GroupedSums::merge(GroupedSums&& other) {
  if (other.blank()) return {};
  if (blank()) {
    *this = std::move(other);
    return {};
  }
  if (auto same = check_kind(*this, other); !same) return same;
  if (auto same = check_features(*this, other); !same) return same;
  if (schema.feature_names != other.schema.feature_names) {
    const auto all = schema.sparse ? united(schema.feature_names, other.schema.feature_names)
                                   : united_values(*this, other);
    place(*this, all);
    place(other, all);
  }
  if (schema.fill != other.schema.fill) {
    return Error{
        fmt::format("fills empty cells with other means than {}; the mean over all parts must be known "
                    "before any is summed",
                    origin()),
        other.origin()};
  }
  if (missing == Missing::kError) missing = other.missing;

  if (bag_numbers.size() != names.size()) {
    bag_numbers = {};
    for (const auto& name : names) bag_numbers.number(name);
  }
  const auto first_origin = static_cast<std::uint32_t>(origins.size());
  std::vector<std::uint32_t> to(other.names.size());
  for (std::size_t k = 0; k < to.size(); ++k) {
    to[k] = bag_numbers.number(other.names[k]);
    if (to[k] == names.size()) {
      names.push_back(std::move(other.names[k]));
      origin_of_bag.push_back(first_origin + other.origin_of_bag[k]);
      if (schema.has_shares) shares.push_back(other.shares[k]);
    } else if (schema.has_shares && shares[to[k]] != other.shares[k]) {
      return Error{fmt::format("bag {} has proportion {} here but {} in {}; expected one proportion per bag",
                               shown_text(other.names[k]), other.shares[k], shares[to[k]],
                               origins[origin_of_bag[to[k]]]),
                   other.origins[other.origin_of_bag[k]]};
    }
  }
  origins.insert(origins.end(), other.origins.begin(), other.origins.end());
  if (sums.bags() == 0) sums = BagSums(0, schema.feature_names.size(), other.sums.layout());
  sums.grow(names.size());
  sums.merge(other.sums, to);
  has_moments = has_moments && other.has_moments;
  if (has_moments) {
    moments.merge(other.moments);
  } else {
    moments = FeatureMoments();
  }
  rows += other.rows;
  return {};
}

GroupedSums GroupedSums::without_bags() const {
  GroupedSums out;
  out.schema = schema;
  out.one_hot = one_hot;
  out.missing = missing;
  out.has_moments = has_moments;
  out.moments = moments;
  out.origins = origins;
  out.sums = BagSums(0, schema.feature_names.size(), sums.layout());
  return out;
}

std::vector<GroupedSums> GroupedSums::split_by_bag(std::size_t parts) const {
  assert(parts > 0);
  std::vector<std::vector<std::uint32_t>> bags_of(parts);
  for (std::size_t k = 0; k < names.size(); ++k) {
    bags_of[checksum_of(names[k]) % parts].push_back(static_cast<std::uint32_t>(k));
  }
  std::vector<GroupedSums> out;
  for (std::size_t p = 0; p < parts; ++p) {
    GroupedSums part = without_bags();
    if (p > 0 && has_moments) part.moments = FeatureMoments(schema.feature_names.size());
    part.sums = sums.reordered(bags_of[p]);
    for (const std::uint32_t k : bags_of[p]) {
      part.names.push_back(names[k]);
      part.origin_of_bag.push_back(origin_of_bag[k]);
      if (schema.has_shares) part.shares.push_back(shares[k]);
      part.rows += sums.count(k);
    }
    out.push_back(std::move(part));
  }
  return out;
}

Result<GroupedSums> GroupedSums::aligned(std::span<const std::string> features) && {
  const std::set<std::string_view> listed(features.begin(), features.end());
  for (const auto& name : schema.feature_names) {
    if (listed.contains(name)) continue;
    return Error{
        fmt::format("has a feature {}, which is none of the {} expected", shown_text(name), features.size()),
        origin()};
  }
  place(*this, features);
  return std::move(*this);
}

Result<GroupedSums> GroupedSums::chosen(std::span<const std::string> features,
                                        std::span<const std::string> exclude) && {
  const auto& all = schema.feature_names;
  const auto lacks = [&](const std::string& name) {
    return std::find(all.begin(), all.end(), name) == all.end();
  };
  for (const auto& [named, option] : {std::pair{features, "features"}, {exclude, "exclude"}}) {
    for (const std::string& name : named) {
      if (schema.sparse || !lacks(name)) continue;
      return Error{fmt::format("there is no feature {}, which --{} names", shown_text(name), option),
                   origin()};
    }
  }
  std::vector<std::string> wanted = all;
  if (!features.empty()) wanted.assign(features.begin(), features.end());
  for (const std::string& name : exclude) std::erase(wanted, name);
  if (wanted.empty()) return Error{"no feature is left; expected at least one", origin()};
  place(*this, wanted);
  return std::move(*this);
}

}  // namespace bagwise
