#include "bagwise/solver/internal/sample.h"

#include <catch2/catch.hpp>
#include <map>

#include "support/tube_certificate.h"
#include "support/tube_problems.h"

namespace bagwise {

TEST_CASE("sample: it has one of every few rows of a task, unchanged but for costs raised",
          "[solver][sample]") {
  Rng rng(141);
  const std::size_t every = 8;
  for (const bool sparse : {false, true}) {
    auto made = test::make_random(
        rng, {.rows = 900, .features = 3, .tasks = 2, .shifted = true, .one_sided = true, .sparse = sparse});
    TubeProblem& p = made->problem;
    p.lambda.push_back(2);  // a task of few rows
    p.direction.push_back(p.direction[0]);
    for (std::size_t i = 0; i < 900; i += 90) p.task[i] = 2;
    std::map<std::size_t, std::size_t> place, count, taken, last;  // of a row in its task; of tasks
    for (std::size_t i = 0; i < p.size(); ++i) {
      p.target[i] = static_cast<double>(i);  // tells which row it is
      place[i] = count[p.task[i]]++;
    }
    REQUIRE(internal::RowSample::worthwhile(p, every));
    const internal::RowSample sample(p, every, 2);
    const TubeProblem& q = sample.problem();
    CHECK(q.lambda == p.lambda);
    CHECK(q.direction == p.direction);
    for (const double y : q.target) ++taken[p.task[static_cast<std::size_t>(y)]];
    const auto whole = test::plain_rows(p.rows), drawn = test::plain_rows(q.rows);
    REQUIRE(drawn.size() == q.size());
    for (std::size_t k = 0; k < q.size(); ++k) {
      const auto i = static_cast<std::size_t>(q.target[k]);
      const std::size_t t = p.task[i], group = t == 2 ? place[i] : place[i] / every;
      CHECK(last[t] == group);  // groups in order, none left out, none twice
      last[t] = group + 1;
      CHECK(q.task[k] == t);
      CHECK(drawn[k] == whole[i]);
      CHECK(q.tube[k] == p.tube[i]);
      CHECK(q.shift_above[k] == p.shift_above[i]);
      CHECK(q.shift_below[k] == p.shift_below[i]);
      const double weight = static_cast<double>(count[t]) / static_cast<double>(taken[t]);
      CHECK(q.cost_above[k] == Approx(weight * p.cost_above[i]));
      CHECK(q.cost_below[k] == Approx(weight * p.cost_below[i]));
    }
    CHECK(taken[2] == count[2]);
    for (const std::size_t t : {0U, 1U}) CHECK(taken[t] == (count[t] + every - 1) / every);
  }
}

TEST_CASE("sample: rows too few for their features are not sampled", "[solver][sample]") {
  Rng rng(143);
  CHECK_FALSE(
      internal::RowSample::worthwhile(test::make_random(rng, {.rows = 200, .features = 3})->problem, 8));
  CHECK(internal::RowSample::worthwhile(test::make_random(rng, {.rows = 300, .features = 3})->problem, 8));
}

}  // namespace bagwise
