// GroupedSums: the sums of all bags of a table, with what the table said about itself: a value that merges.
//
// Sums of files, of shares of a table or of machines add up to those of all rows. Which proportions bags have
// beyond those that the table brought is not known here (proportions.h); the file of it is in sums_file.h.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "bagwise/bags/bag_sums.h"
#include "bagwise/bags/feature_moments.h"
#include "bagwise/core/result.h"
#include "bagwise/data/name_table.h"
#include "bagwise/data/read_table.h"

namespace bagwise {

struct GroupedSums {
  TableSchema schema;
  std::vector<std::string> one_hot;  // columns that were spread into "column=value" features
  Missing missing = Missing::kError;
  std::vector<std::string> names;  // bags in order of first appearance
  std::vector<double> shares;      // per bag, from the proportion column; empty = no such column
  BagSums sums;
  bool has_moments = false;
  FeatureMoments moments;  // of all rows, where has_moments; else of no feature
  std::uint64_t rows = 0;  // in these bags

  // For messages alone: what was summed, and per bag which of them had it first.
  std::vector<std::string> origins;
  std::vector<std::uint32_t> origin_of_bag;

  // Adds the sums of further rows. Bags are joined by name. So are features: one of a sparse table, or of a
  // one-hot column, that only one side has is 0 in the other; any other difference is an error that names it.
  // So are two different proportions of one bag, and tables of which only one has proportions or bounds.
  // Moments stay only if both sides have them. Sums of nothing (a value as constructed) take what comes.
  // After an error both sides are lost.
  Result<void> merge(GroupedSums&& other);

  // All of it but the origins, as bytes: little-endian and with a checksum, what a .sums file holds
  // (docs/guide/files.md). The same sums give the same bytes. Whatever else the bytes are is an error about
  // `origin`, and never takes more memory than a multiple of their number.
  [[nodiscard]] std::string to_bytes() const;
  static Result<GroupedSums> from_bytes(std::string_view bytes, const std::string& origin);

  // n parts by bag: a bag is in part XXH3(name) mod n (64 bits, seed 0). The moments go with part 0, so that
  // all parts merged are the whole.
  [[nodiscard]] std::vector<GroupedSums> split_by_bag(std::size_t parts) const;
  // What is known of the table without its bags: schema and moments.
  [[nodiscard]] GroupedSums without_bags() const;
  // The features in that order. One that the sums lack is 0; one of theirs that is not listed is an error.
  Result<GroupedSums> aligned(std::span<const std::string> features) &&;
  // Only these features, in that order (none listed: all), without those to exclude. One that the sums lack
  // is an error, unless the table is sparse.
  Result<GroupedSums> chosen(std::span<const std::string> features, std::span<const std::string> exclude) &&;

  // Sums of nothing at all, as constructed.
  [[nodiscard]] bool blank() const {
    return origins.empty() && names.empty() && schema.feature_names.empty();
  }

  // What messages call these sums: "a.csv", or "a.csv and 3 more".
  [[nodiscard]] std::string origin() const;

  NameTable bag_numbers = {};  // kept by merge(): the numbers of `names`, or empty
};

}  // namespace bagwise
