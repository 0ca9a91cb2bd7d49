#include "bagwise/comm/deal_over_ranks.h"

#include <atomic>
#include <catch2/catch.hpp>
#include <chrono>
#include <map>
#include <optional>
#include <string>
#include <thread>

#include "bagwise/comm/packed.h"
#include "bagwise/comm/threads.h"

namespace {

using bagwise::Communicator;
using bagwise::DealtWork;
using bagwise::Next;
using bagwise::Progress;
using bagwise::Watched;

std::string square(std::size_t piece) { return std::to_string(piece * piece); }

}  // namespace

TEST_CASE("deal_over_ranks: rank 0 takes every piece's result exactly once", "[comm][deal][spmd]") {
  for (const int ranks : {1, 2, 4}) {
    for (const std::size_t pieces : {0U, 1U, 3U, 100U}) {
      for (const unsigned threads : {1U, 3U}) {
        std::map<std::size_t, std::string> taken;
        std::atomic<int> twice{0}, whole{0}, elsewhere{0};
        bagwise::run_thread_ranks(ranks, [&](Communicator& comm) {
          const DealtWork work{.run = [&](std::size_t i, Watched&) { return std::optional(square(i)); },
                               .take =
                                   [&](std::size_t i, const std::string& bytes) {
                                     elsewhere += comm.rank() != 0;
                                     twice += !taken.emplace(i, bytes).second;
                                     return true;
                                   }};
          whole += bagwise::deal_over_ranks(comm, pieces, threads, "cells", pieces, {}, work);
        });
        CHECK(whole == ranks);
        CHECK(twice == 0);
        CHECK(elsewhere == 0);
        REQUIRE(taken.size() == pieces);
        for (const auto& [piece, bytes] : taken) CHECK(bytes == square(piece));
      }
    }
  }
}

TEST_CASE("deal_over_ranks: every rank that is free gets pieces", "[comm][deal][spmd]") {
  for (const int ranks : {2, 4}) {
    std::atomic<int> waiting{0}, met{0};
    bagwise::run_thread_ranks(ranks, [&](Communicator& comm) {
      // No piece ends before as many are under way as there are ranks.
      const DealtWork work{.run =
                               [&](std::size_t, Watched&) {
                                 ++waiting;
                                 for (int i = 0; i < 5000 && waiting < ranks; ++i)
                                   std::this_thread::sleep_for(std::chrono::milliseconds(1));
                                 met += waiting >= ranks;
                                 return std::optional<std::string>("");
                               },
                           .take = [](std::size_t, const std::string&) { return true; }};
      bagwise::deal_over_ranks(comm, static_cast<std::size_t>(ranks), 1, "cells", 0, {}, work);
    });
    CHECK(met == ranks);
  }
}

TEST_CASE("deal_over_ranks: a stop on any rank ends all, and one deal does not disturb the next",
          "[comm][deal][spmd]") {
  for (const int ranks : {1, 2, 4}) {
    for (int stopper = 0; stopper < ranks; ++stopper) {
      std::atomic<int> whole{0}, wrong{0};
      bagwise::run_thread_ranks(ranks, [&](Communicator& comm) {
        const DealtWork endless{.run = [&](std::size_t, Watched& watched) -> std::optional<std::string> {
                                  while (!watched.stop) std::this_thread::yield();
                                  return std::nullopt;
                                },
                                .take =
                                    [&](std::size_t, const std::string&) {
                                      ++wrong;
                                      return true;
                                    }};
        const auto watch = [&](const Progress&) {
          return comm.rank() == stopper ? Next::kStop : Next::kContinue;
        };
        for (int round = 0; round < 3; ++round) {
          whole += bagwise::deal_over_ranks(comm, 1000, 2, "cells", 1000, watch, endless);
          std::size_t taken = 0;
          const DealtWork quick{.run = [&](std::size_t i, Watched&) { return std::optional(square(i)); },
                                .take =
                                    [&](std::size_t i, const std::string& bytes) {
                                      wrong += bytes != square(i);
                                      ++taken;
                                      return true;
                                    }};
          wrong += !bagwise::deal_over_ranks(comm, 20, 2, "cells", 20, {}, quick);
          wrong += taken != (comm.rank() == 0 ? 20U : 0U);
        }
      });
      CHECK(whole == 0);
      CHECK(wrong == 0);
    }
  }
}

TEST_CASE("deal_over_ranks: a result that is refused ends all", "[comm][deal][spmd]") {
  std::atomic<int> whole{0};
  bagwise::run_thread_ranks(4, [&](Communicator& comm) {
    const DealtWork work{.run = [&](std::size_t i, Watched&) { return std::optional(square(i)); },
                         .take = [](std::size_t, const std::string&) { return false; }};
    whole += bagwise::deal_over_ranks(comm, 100000, 1, "cells", 0, {}, work);
  });
  CHECK(whole == 0);
}

TEST_CASE("packed: values come back as they were", "[comm][packed]") {
  bagwise::Packing out;
  const std::vector<double> numbers = {1.5, -0.0, 1e300};
  out.number(0.1).count(7).maybe(std::nullopt).maybe(2.5).text(std::string("a\0b", 3)).numbers(numbers);
  out.numbers({}).text("");
  bagwise::Unpacking in(out.bytes());
  CHECK(in.number() == 0.1);
  CHECK(in.count() == 7);
  CHECK(!in.maybe().has_value());
  CHECK(in.maybe() == 2.5);
  CHECK(in.text() == std::string("a\0b", 3));
  CHECK(in.numbers() == numbers);
  CHECK(in.numbers().empty());
  CHECK(in.text().empty());
}
