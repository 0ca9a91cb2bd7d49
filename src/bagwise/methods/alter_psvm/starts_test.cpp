#include "bagwise/methods/alter_psvm/starts.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <cstddef>
#include <cstdlib>
#include <vector>

#include "bagwise/bags/deal.h"
#include "bagwise/data/generate.h"
#include "bagwise/methods/alter_psvm/alter_psvm.h"
#include "bagwise/methods/alter_psvm/alternation.h"
#include "bagwise/methods/metric.h"
#include "bagwise/methods/scorer.h"
#include "bagwise/methods/tl_llp/tl_llp.h"
#include "support/transfer_problems.h"

namespace bagwise {
namespace {

using test::random_world;
using test::World;

// In every bag the share of positives that is nearest to the known one, by looking for the highest score left
// again and again.
Labels plain_labels(const GroupedRows& rows, const std::vector<double>& scores) {
  Labels out(scores.size(), -1);
  for (std::size_t k = 0; k < rows.bags(); ++k) {
    const double wanted = rows.proportions()[k] * static_cast<double>(rows.size(k));
    for (int taken = 0; wanted - taken > 0.5 + 1e-9; ++taken) {
      std::size_t best = rows.bag_start[k + 1];
      for (std::size_t i = rows.bag_start[k]; i < rows.bag_start[k + 1]; ++i) {
        if (out[i] < 0 && (best == rows.bag_start[k + 1] || scores[i] > scores[best])) best = i;
      }
      out[best] = 1;
    }
  }
  return out;
}

// What the alternation comes to from these labels.
alter_psvm::Answer from_labels(const GroupedRows& rows, Labels labels, const AlterPsvmOptions& options) {
  const alter_psvm::Problem problem{rows.bag_start, rows.proportions(), options.C, options.C_p,
                                    options.epsilon};
  const auto machine = make_linear_svm(rows.rows(), 1);
  Watched watched;
  return alter_psvm::alternate(problem, *machine, {std::move(labels)},
                               {.gap = options.gap, .max_rounds = options.max_rounds}, watched);
}

TEST_CASE("starts: the highest scores of every bag are positive, as many as its share says",
          "[methods][alter_psvm][starts]") {
  Rng rng(1);
  for (int round = 0; round < 20; ++round) {
    const BaggedData data = test::random_bags(rng, 10, 2, 8);
    const GroupedRows rows = group_rows(data, {});
    std::vector<double> scores;
    for (std::size_t i = 0; i < data.bag_of_row.size(); ++i) scores.push_back(rng.normal());
    CHECK(alter_psvm::labels_by_score(rows, scores) == plain_labels(rows, scores));
  }
}

TEST_CASE("starts: random labels have as many positives in every bag, anywhere in it",
          "[methods][alter_psvm][starts]") {
  Rng rng(2);
  const BaggedData data = test::random_bags(rng, 10, 2, 8);
  const GroupedRows rows = group_rows(data, {});
  const Labels first = plain_labels(rows, std::vector<double>(data.bag_of_row.size(), 0.0));
  std::vector<int> sum(data.bag_of_row.size(), 0);
  constexpr int kRounds = 400;
  for (int round = 0; round < kRounds; ++round) {
    const Labels drawn = alter_psvm::random_labels(rows, rng);
    for (std::size_t k = 0; k < rows.bags(); ++k) {
      const auto from = static_cast<std::ptrdiff_t>(rows.bag_start[k]),
                 to = static_cast<std::ptrdiff_t>(rows.bag_start[k + 1]);
      CHECK(std::is_permutation(drawn.begin() + from, drawn.begin() + to, first.begin() + from));
    }
    for (std::size_t i = 0; i < sum.size(); ++i) sum[i] += drawn[i];
  }
  // In a bag with both labels each row gets both: that it does not has a chance below 1e-20 (7/8 to the
  // 400th).
  for (std::size_t k = 0; k < rows.bags(); ++k) {
    const auto from = static_cast<std::ptrdiff_t>(rows.bag_start[k]),
               to = static_cast<std::ptrdiff_t>(rows.bag_start[k + 1]);
    if (std::equal(first.begin() + from + 1, first.begin() + to, first.begin() + from)) continue;
    CHECK(
        std::all_of(sum.begin() + from, sum.begin() + to, [](int each) { return std::abs(each) < kRounds; }));
  }
}

TEST_CASE("starts: tl-llp's is the labels of a fit to sources and target in one scaling or metric",
          "[methods][alter_psvm][starts]") {
  Rng rng(2);
  for (int round = 0; round < 6; ++round) {
    const World world = random_world(rng, 1 + rng.below(3), 4, 14);
    std::vector<TrainingTask> tasks = world.tasks;
    Context context{.threads = 1};
    std::optional<MappedTasks> mapped;
    if (round % 3 == 2) {
      mapped = std::move(*map_tasks(world.tasks, context));
      tasks = mapped->tasks;
      context = mapped->context(context);
    }
    AlterPsvmOptions options;
    options.init = Init::kTlLlp;
    options.reheat = false;
    options.scale = round % 3 == 1 ? Scale::kStandard : Scale::kNone;
    const auto fitted = fit_alter_psvm(tasks, options, context);
    REQUIRE(fitted.ok());
    REQUIRE(fitted->model.tasks.size() == 1);
    CHECK(fitted->model.tasks[0].name == "target");
    REQUIRE(fitted->model.training.starts.size() == 1);
    CHECK(fitted->model.training.starts[0].init == "tl-llp");

    TlLlpOptions own;
    own.uncertainty = Uncertainty::kOff;
    own.scale = options.scale;
    const auto start = fit_tl_llp(tasks, own, context);
    REQUIRE(start.ok());
    const BaggedData& target = *tasks.back().rows;
    const auto f = Scorer(start->model, tasks.size() - 1).scores(group_rows(target, {}).rows());
    const GroupedRows rows = group_rows(target, start->model.scaling);
    const auto expected = from_labels(rows, plain_labels(rows, f), options);
    CAPTURE(round, tasks.size());
    CHECK(fitted->model.training.starts[0].machines == expected.machines);
    CHECK(fitted->model.training.objective == Approx(expected.objective).epsilon(1e-12));
  }
}

TEST_CASE("starts: both is random labels beside tl-llp's where there are sources, beside inv-cal's else",
          "[methods][alter_psvm][starts]") {
  Rng rng(3);
  const World world = random_world(rng, 2, 3);
  const auto starts_of = [](std::span<const TrainingTask> tasks, Init init) {
    const auto fitted = fit_alter_psvm(tasks, {.init = init, .restarts = 2}, {});
    std::vector<std::string> out;
    REQUIRE(fitted.ok());
    for (const StartReport& start : fitted->model.training.starts) out.push_back(start.init);
    return out;
  };
  using Names = std::vector<std::string>;
  const std::span<const TrainingTask> all = world.tasks, alone = all.last(1);
  CHECK(starts_of(all, Init::kBoth) == Names{"tl-llp", "random", "random"});
  CHECK(starts_of(alone, Init::kBoth) == Names{"inv-cal", "random", "random"});
  CHECK(starts_of(alone, Init::kTlLlp) == Names{"tl-llp"});
  CHECK(starts_of(alone, Init::kRandom) == Names{"random", "random"});
  for (const Init init : {Init::kRandom, Init::kInvCal}) {
    const auto refused = fit_alter_psvm(all, {.init = init}, {});
    REQUIRE_FALSE(refused.ok());
    CHECK(refused.error().message ==
          "init = " + name_of(init) + " uses no source; expected tl-llp or both where there are sources");
  }
}

TEST_CASE("starts: with sources the bits do not depend on threads nor on the order of any rows",
          "[methods][alter_psvm][starts]") {
  Rng rng(4);
  const World world = random_world(rng, 2, 3);
  World turned;  // every table upside down
  for (const BaggedData& data : world.data) {
    BaggedData other = data;
    std::vector<std::size_t> order(data.bag_of_row.size());
    for (std::size_t i = 0; i < order.size(); ++i) order[i] = order.size() - 1 - i;
    other.features = take_rows(data.features.view(), order);
    std::reverse(other.bag_of_row.begin(), other.bag_of_row.end());
    turned.data.push_back(std::move(other));
  }
  for (std::size_t t = 0; t < world.tasks.size(); ++t)
    turned.tasks.push_back({world.tasks[t].name, reduce(turned.data[t]), &turned.data[t]});
  for (const KernelChoice& kernel : {KernelChoice{}, KernelChoice{KernelKind::kRbf, 0.1, 3, 0},
                                     KernelChoice{KernelKind::kPoly, 0.1, 2, 20}}) {
    AlterPsvmOptions options;
    options.init = Init::kTlLlp;
    options.kernel = kernel.kernel;
    options.gamma = kernel.gamma;
    options.degree = kernel.degree;
    options.nystrom = kernel.nystrom;
    const auto one = fit_alter_psvm(world.tasks, options, {.threads = 1});
    const auto four = fit_alter_psvm(world.tasks, options, {.threads = 4});
    const auto other = fit_alter_psvm(turned.tasks, options, {.threads = 2});
    REQUIRE(one.ok());
    REQUIRE(four.ok());
    REQUIRE(other.ok());
    CAPTURE(name_of(kernel.kernel));
    CHECK(one->model.training.starts[0].init == "tl-llp");
    CHECK(one->model.tasks[0].weights == four->model.tasks[0].weights);
    CHECK(one->model.tasks[0].weights == other->model.tasks[0].weights);
  }
}

TEST_CASE("starts: from related sources tl-llp's labels lead to a better plane than random ones can",
          "[methods][alter_psvm][starts]") {
  double random = 0, transferred = 0;
  constexpr std::uint64_t kSeeds = 3;
  for (std::uint64_t seed = 1; seed <= kSeeds; ++seed) {
    GeneratorOptions how = generator_preset(GeneratorKind::kGaussian, GeneratorPreset::kRelated, seed);
    how.source_rows = 960;
    how.target_rows = 320;
    how.test_rows = 1000;
    how.features = 40;
    auto made = generate(how);
    REQUIRE(made.ok());
    Rng rng(seed);
    const auto in_bags = [&](Dataset rows) {
      auto dealt = deal_bags(std::move(rows), 32, rng);
      return std::move(*attach_proportions(std::move(dealt->instances), "", &dealt->proportions));
    };
    const BaggedData source = in_bags(std::move(made->source)), target = in_bags(std::move(made->target));
    const std::vector<TrainingTask> tasks = {{"source", reduce(source), &source},
                                             {"target", reduce(target), &target}};
    const auto accuracy = [&](std::span<const TrainingTask> given, Init init) {
      const auto fitted = fit_alter_psvm(given, {.init = init, .restarts = 1, .reheat = false}, {});
      REQUIRE(fitted.ok());
      const auto f = Scorer(fitted->model, 0).scores(made->test.features.view());
      double right = 0;
      for (std::size_t i = 0; i < f.size(); ++i) right += (f[i] > 0) == (made->test.labels[i] > 0) ? 1 : 0;
      return right / static_cast<double>(f.size()) / kSeeds;
    };
    random += accuracy({&tasks.back(), 1}, Init::kRandom);
    transferred += accuracy(tasks, Init::kTlLlp);
  }
  CAPTURE(random, transferred);
  CHECK(transferred > random + 0.1);
}

}  // namespace
}  // namespace bagwise
