#include "bagwise/methods/merge_over_ranks.h"

#include <fmt/format.h>

#include <catch2/catch.hpp>
#include <cmath>
#include <map>
#include <mutex>
#include <set>
#include <string>
#include <vector>

#include "bagwise/bags/feature_moments.h"
#include "bagwise/bags/reduce_table.h"
#include "bagwise/comm/threads.h"
#include "bagwise/core/random.h"

using namespace bagwise;

namespace {

// Sums of some rows that only this rank has, in bags that others have too.
GroupedSums sums_of(int rank, int bags, std::size_t features) {
  Rng rng(7, static_cast<std::uint64_t>(rank));
  GroupedSums out;
  for (std::size_t j = 0; j < features; ++j) out.schema.feature_names.push_back(fmt::format("x{}", j));
  out.schema.has_groups = true;
  out.sums = BagSums(0, features);
  out.has_moments = true;
  out.moments = FeatureMoments(features);
  out.origins = {fmt::format("part-{}", rank)};
  std::map<std::string, std::uint32_t> numbers;
  for (int i = 0; i < 50 * (rank + 1); ++i) {
    const std::string name = fmt::format("bag {}", rng.below(static_cast<std::uint64_t>(bags)));
    const auto [at, is_new] = numbers.emplace(name, static_cast<std::uint32_t>(out.names.size()));
    if (is_new) {
      out.names.push_back(name);
      out.origin_of_bag.push_back(0);
      out.sums.grow(out.names.size());
    }
    std::vector<double> row(features);
    for (double& x : row) x = rng.normal() * 1e3;
    out.sums.add_row(at->second, row, 0);
    out.moments.add_row(row);
    ++out.rows;
  }
  return out;
}

using Row = std::vector<double>;  // count, then sums

std::map<std::string, Row> by_name(const GroupedSums& sums) {
  std::map<std::string, Row> out;
  for (std::size_t k = 0; k < sums.names.size(); ++k) {
    Row row = {static_cast<double>(sums.sums.count(k))};
    for (std::size_t j = 0; j < sums.sums.features(); ++j) row.push_back(sums.sums.sum(k, j));
    out[sums.names[k]] = row;
  }
  return out;
}

}  // namespace

TEST_CASE("merge over ranks: sums that one rank has read reach all", "[methods][merge_over_ranks][spmd]") {
  const auto expected = by_name(sums_of(0, 17, 3));
  for (const int ranks : {1, 2, 3}) {
    for (const SumsOn where : {SumsOn::kFirst, SumsOn::kEvery, SumsOn::kOwner}) {
      std::mutex lock;
      std::map<std::string, Row> got;
      std::uint64_t moment_rows = 0;
      run_thread_ranks(ranks, [&](Communicator& comm) {
        const bool reads = comm.rank() == 0;
        auto owned = spread_bags(comm, reads ? sums_of(0, 17, 3) : GroupedSums());
        auto sums = owned ? collect_sums(comm, std::move(*owned), where) : std::move(owned);
        const std::lock_guard guard(lock);
        CHECK(sums.ok());
        if (!sums) return;
        for (const auto& [name, row] : by_name(*sums)) got[name] = row;
        if (reads) moment_rows = sums->moments.rows;
      });
      CHECK(got == expected);
      CHECK(moment_rows == 50);
    }
  }
}

TEST_CASE("merge over ranks: every bag ends with the sums of all ranks, wherever they are wanted",
          "[methods][merge_over_ranks][spmd]") {
  for (const int ranks : {1, 2, 3, 4}) {
    std::map<std::string, Row> expected;
    std::uint64_t rows = 0;
    for (int r = 0; r < ranks; ++r) {
      rows += sums_of(r, 17, 3).rows;
      for (const auto& [name, row] : by_name(sums_of(r, 17, 3))) {
        Row& sum = expected.try_emplace(name, row.size(), 0.0).first->second;
        for (std::size_t j = 0; j < row.size(); ++j) sum[j] += row[j];
      }
    }
    for (const SumsOn where : {SumsOn::kFirst, SumsOn::kEvery, SumsOn::kOwner}) {
      std::mutex lock;
      std::vector<std::map<std::string, Row>> got(static_cast<std::size_t>(ranks));
      std::vector<double> bytes;
      std::vector<std::uint64_t> moment_rows;
      run_thread_ranks(ranks, [&](Communicator& comm) {
        auto owned = spread_bags(comm, sums_of(comm.rank(), 17, 3));
        const double size = bytes_of_means(comm, *owned);
        auto sums = collect_sums(comm, std::move(*owned), where);
        const std::lock_guard guard(lock);
        got[static_cast<std::size_t>(comm.rank())] = by_name(*sums);
        bytes.push_back(size);
        if (where != SumsOn::kFirst || comm.rank() == 0) moment_rows.push_back(sums->moments.rows);
      });
      for (const double size : bytes) CHECK(size == static_cast<double>(expected.size()) * 3 * 8);
      for (const std::uint64_t count : moment_rows) CHECK(count == rows);
      std::map<std::string, Row> whole;
      for (std::size_t r = 0; r < got.size(); ++r) {
        if (where == SumsOn::kEvery) CHECK(got[r] == got[0]);
        if (where == SumsOn::kFirst && r > 0) CHECK(got[r].empty());
        for (const auto& [name, row] : got[r]) {
          if (where == SumsOn::kOwner) CHECK(!whole.contains(name));
          whole[name] = row;
        }
      }
      REQUIRE(whole.size() == expected.size());
      for (const auto& [name, row] : expected) {
        for (std::size_t j = 0; j < row.size(); ++j)
          CHECK(std::abs(whole[name][j] - row[j]) <= 1e-12 * (1 + std::abs(row[j])));
      }
    }
  }
}

TEST_CASE("merge over ranks: sums that are no numbers are told by bag", "[methods][merge_over_ranks][spmd]") {
  std::mutex lock;
  std::multiset<std::string> messages;
  run_thread_ranks(2, [&](Communicator& comm) {
    GroupedSums mine = sums_of(comm.rank(), 5, 2);
    const std::vector<double> large = {1e308, 0};
    for (int i = 0; i < 2 * comm.rank(); ++i) mine.sums.add_row(0, large, 0);
    const std::string bag = mine.names[0];
    const auto owned = spread_bags(comm, std::move(mine));
    const std::lock_guard guard(lock);
    messages.insert(owned ? "fine" : owned.error().text());
    if (comm.rank() == 1)
      CHECK(owned.error().text() ==
            fmt::format("part-1: bag \"{}\" has values that add up to more than a number holds; expected "
                        "smaller ones (rank 1)",
                        bag));
  });
  CHECK(messages.count(*messages.begin()) == 2);
}

TEST_CASE("merge over ranks: a label that each rank sees in its bags is one for all",
          "[methods][merge_over_ranks][spmd]") {
  for (const int ranks : {1, 2, 3}) {
    std::mutex lock;
    run_thread_ranks(ranks, [&](Communicator& comm) {
      // Feature 0 is the share everywhere, feature 1 on all ranks but the last.
      LeakScan mine;
      const bool last = comm.rank() + 1 == ranks;
      mine.apart = {0, static_cast<std::uint8_t>(last), 1, 1, 1, 1, 1, 1};
      mine.any_rows = comm.rank() == 0;
      mine.least_share = 0.1 * comm.rank();
      mine.largest_share = mine.least_share + (ranks == 1 ? 0.1 : 0);
      const LeakScan all = merge_leaks(comm, mine);
      const std::lock_guard guard(lock);
      CHECK(all.leaked() == std::vector<std::size_t>{0});
    });
  }
}

TEST_CASE("merge over ranks: the fault of one rank ends all of them", "[methods][merge_over_ranks][spmd]") {
  std::mutex lock;
  std::multiset<std::string> messages;
  run_thread_ranks(3, [&](Communicator& comm) {
    Result<GroupedSums> mine = sums_of(comm.rank(), 5, 2);
    if (comm.rank() == 1) mine = Error{"cannot be read", "b.csv", 7, "3 (age)"};
    const auto owned = spread_bags(comm, std::move(mine));
    const std::lock_guard guard(lock);
    messages.insert(owned ? "fine" : owned.error().text());
  });
  CHECK(messages.size() == 3);
  CHECK(messages.count("b.csv:7: column 3 (age): cannot be read (rank 1)") == 3);
}
