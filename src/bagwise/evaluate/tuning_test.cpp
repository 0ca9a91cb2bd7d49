#include "bagwise/evaluate/tuning.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <catch2/catch.hpp>
#include <chrono>
#include <cmath>
#include <functional>
#include <map>
#include <mutex>
#include <thread>

#include "bagwise/bags/folds.h"
#include "bagwise/bags/take_bags.h"
#include "bagwise/evaluate/grid.h"
#include "bagwise/methods/metric.h"
#include "bagwise/methods/scorer.h"
#include "support/transfer_problems.h"

namespace bagwise {
namespace {

using test::random_world;
using test::World;

Arm arm_of(const char* method, const std::vector<GridAxis>& axes, const std::string& metric = "none") {
  return {find_method(method), metric, all_combinations(axes)};
}

// One setting by plain loops: its criterion on every fold, and its planes.
struct SlowSetting {
  std::size_t arm = 0;
  OptionTexts setting;
  double value = 0;
  std::vector<std::vector<TaskModel>> planes;  // per fold
};

std::vector<TaskModel> planes_of(const Model& model) {
  std::vector<TaskModel> out;
  for (std::size_t t = 0; t < model.tasks.size(); ++t) {
    const Plane plane = raw_plane(model, t);
    out.push_back({model.tasks[t].name,
                   {plane.weights.data(), plane.weights.data() + plane.weights.size()},
                   plane.bias,
                   model.tasks[t].probability});
  }
  return out;
}

// Fits one path without a fold of bags.
std::vector<Fit> slow_fits(std::span<const TrainingTask> given, const Arm& arm, const SettingsPath& path,
                           std::span<const std::uint32_t> fold, std::uint64_t seed) {
  const auto seen = tasks_for(*arm.method, path[0], given);
  std::vector<TrainingTask> tasks(seen.begin(), seen.end());
  Context context{.seed = seed, .threads = 1};
  std::optional<MappedTasks> mapped;
  if (arm.metric == "pca") {
    mapped = std::move(*map_tasks(tasks, context));
    context.scaling = &mapped->metric.scaling;
    tasks = mapped->tasks;
  }
  const auto rest = other_bags(tasks.back().reduced.bags.size(), fold);
  const BaggedData rows = take_bags(*tasks.back().rows, rest);
  tasks.back().reduced = take_bags(tasks.back().reduced, rest);
  tasks.back().rows = &rows;
  auto fits = arm.method->fit_path(tasks, path, context);
  REQUIRE(fits.ok());
  for (Fit& fit : *fits) {
    if (mapped) fold_back(*mapped, fit.model);
  }
  return std::move(*fits);
}

std::vector<SlowSetting> slow_tuning(const World& world, const std::vector<Arm>& arms, const TuneOptions& o,
                                     std::uint64_t seed) {
  const BaggedData& target = world.data.back();
  std::vector<std::uint64_t> sizes(target.bags.size(), 0);
  for (const std::uint32_t k : target.bag_of_row) ++sizes[k];
  std::vector<std::vector<std::uint32_t>> folds;
  for (std::uint64_t r = 0; r < o.repeats; ++r) {
    Rng rng(seed, r);
    for (const auto& fold : bag_folds(sizes, target.bags.proportions, o.folds, rng)) folds.push_back(fold);
  }
  std::vector<SlowSetting> out;
  for (std::size_t a = 0; a < arms.size(); ++a) {
    for (const SettingsPath& path : arms[a].paths) {
      const std::size_t first = out.size();
      for (const OptionTexts& setting : path) out.push_back({a, setting, 0, {}});
      for (const auto& fold : folds) {
        const auto fits = slow_fits(world.tasks, arms[a], path, fold, seed);
        const BaggedData held = take_bags(target, fold);
        std::vector<std::size_t> start = {0};
        for (const std::uint32_t k : fold) start.push_back(start.back() + sizes[k]);
        for (std::size_t s = 0; s < path.size(); ++s) {
          const Model& model = fits[s].model;
          const auto f = Scorer(model, model.tasks.size() - 1).scores(held.features.view(), 1);
          out[first + s].value +=
              criterion_value(o.criterion, f, model.tasks.back().probability, start, held.bags) /
              static_cast<double>(o.repeats);
          out[first + s].planes.push_back(planes_of(model));
        }
      }
    }
  }
  return out;
}

// How much each setting weighs in the average: by its arm's best value, then by its own within the arm.
std::vector<double> slow_weights(const std::vector<SlowSetting>& settings, std::size_t arms, double tau) {
  std::vector<double> least(arms, 1e300), sum(arms, 0), out;
  double best = 1e300, total = 0;
  for (const SlowSetting& s : settings) {
    least[s.arm] = std::min(least[s.arm], s.value);
    best = std::min(best, s.value);
  }
  const auto weight = [&](double worse) {
    return std::exp(-worse / tau) < 0.01 ? 0 : std::exp(-worse / tau);
  };
  for (const SlowSetting& s : settings) sum[s.arm] += weight(s.value - least[s.arm]);
  for (const SlowSetting& s : settings) {
    out.push_back(weight(least[s.arm] - best) * weight(s.value - least[s.arm]) / sum[s.arm]);
    total += out.back();
  }
  for (double& w : out) w /= total;
  return out;
}

void check_same(const Model& a, const Model& b) {
  REQUIRE(a.tasks.size() == b.tasks.size());
  for (std::size_t t = 0; t < a.tasks.size(); ++t) {
    CHECK(a.tasks[t].weights == b.tasks[t].weights);
    CHECK(a.tasks[t].bias == b.tasks[t].bias);
  }
  REQUIRE(a.committee.has_value() == b.committee.has_value());
  if (a.committee) {
    CHECK(a.committee->share == b.committee->share);
    CHECK(a.committee->settings == b.committee->settings);
    CHECK(a.committee->setting == b.committee->setting);
    CHECK(a.committee->fold == b.committee->fold);
    for (std::size_t t = 0; t < a.tasks.size(); ++t)
      CHECK(a.committee->tasks[t].weights == b.committee->tasks[t].weights);
  }
  CHECK(a.options == b.options);
  CHECK(a.method == b.method);
  CHECK(a.selection->best == b.selection->best);
  CHECK(a.selection->value == b.selection->value);
}

void check_same(const Tuned& a, const Tuned& b) {
  check_same(a.fit.model, b.fit.model);
  CHECK(a.best == b.best);
  CHECK(a.members == b.members);
  REQUIRE(a.tried.size() == b.tried.size());
  for (std::size_t s = 0; s < a.tried.size(); ++s) {
    CHECK(a.tried[s].setting == b.tried[s].setting);
    CHECK(a.tried[s].value == b.tried[s].value);
    CHECK(a.tried[s].folds == b.tried[s].folds);
  }
}

const std::vector<GridAxis> kCosts = {{"C", {"0.1", "1", "10"}}};
const std::vector<GridAxis> kMoreCosts = {{"C", {"0.1", "1", "10"}}, {"epsilon", {"0.1", "0.5"}}};

}  // namespace

TEST_CASE("tuning: it is what plain loops over folds and settings come to", "[evaluate][tuning]") {
  Rng rng(1);
  for (const Criterion criterion : {Criterion::kMiscount, Criterion::kSoftError, Criterion::kLikelihood}) {
    const World world = random_world(rng, 2, 3, 15);
    const std::vector<Arm> arms = {arm_of("tl-llp", kMoreCosts), arm_of("inv-cal", kCosts),
                                   arm_of("inv-cal", kCosts, "pca"), arm_of("tl-llp", kCosts, "pca"),
                                   arm_of("mean-map", {{"lambda", {"0.1", "1"}}})};
    const TuneOptions options{.folds = 4, .repeats = 2, .criterion = criterion, .tau = 3};
    const auto tuned = tune(world.tasks, arms, options, {.seed = 5, .threads = 2});
    REQUIRE(tuned.ok());
    const auto slow = slow_tuning(world, arms, options, 5);
    REQUIRE(tuned->tried.size() == slow.size());
    const auto best = std::min_element(slow.begin(), slow.end(),
                                       [](const auto& a, const auto& b) { return a.value < b.value; });
    CHECK(tuned->tried[tuned->best].value == Approx(best->value));
    for (std::size_t s = 0; s < slow.size(); ++s) {
      CHECK(tuned->tried[s].arm == slow[s].arm);
      CHECK(tuned->tried[s].setting == slow[s].setting);
      CHECK(tuned->tried[s].folds == 8);
      CHECK(tuned->tried[s].value == Approx(slow[s].value).margin(1e-9));
    }
    // The committee: 8 planes of every setting that weighs anything, to the bit.
    const Model& model = tuned->fit.model;
    REQUIRE(model.committee);
    const Committee& committee = *model.committee;
    const auto weights = slow_weights(slow, arms.size(), options.tau);
    std::size_t m = 0;
    std::vector<double> of_arms(arms.size(), 0.0);
    Vector mean = Vector::Zero(3);
    for (std::size_t s = 0; s < slow.size(); ++s) {
      if (weights[s] == 0) continue;
      of_arms[slow[s].arm] += weights[s];
      for (std::uint32_t f = 0; f < 8; ++f, ++m) {
        REQUIRE(m < committee.size());
        CHECK(committee.settings[committee.setting[m]] == full_text(arms[slow[s].arm], slow[s].setting));
        CHECK(committee.fold[m] == f);
        CHECK(committee.share[m] == Approx(weights[s] / 8));
        const TaskModel& plane = slow[s].planes[f].back();
        for (Eigen::Index j = 0; j < 3; ++j) {
          const double w = plane.weights[static_cast<std::size_t>(j)];
          CHECK(committee.tasks[0].weights(static_cast<Eigen::Index>(m), j) == w);
          mean[j] += weights[s] / 8 * w;
        }
        CHECK(committee.tasks[0].bias[m] == plane.bias);
      }
    }
    CHECK(m == committee.size());
    CHECK(tuned->members == m);
    REQUIRE(tuned->arm_shares.size() == arms.size());
    for (std::size_t a = 0; a < arms.size(); ++a) CHECK(tuned->arm_shares[a] == Approx(of_arms[a]));
    REQUIRE(model.tasks.size() == 1);  // mean-map and inv-cal know no source
    for (std::size_t j = 0; j < 3; ++j)
      CHECK(model.tasks[0].weights[j] == Approx(mean[static_cast<Eigen::Index>(j)]));
    CHECK(model.method == "auto");
    CHECK(model.features == world.data.back().feature_names);
    REQUIRE(model.selection);
    CHECK(model.selection->settings == slow.size());
    CHECK(model.selection->folds == 4);
    CHECK(model.selection->repeats == 2);
    CHECK(model.selection->seed == 5);
    CHECK(model.selection->value == tuned->tried[tuned->best].value);
    CHECK(model.selection->best ==
          full_text(arms[tuned->tried[tuned->best].arm], tuned->tried[tuned->best].setting));
  }
}

TEST_CASE("tuning: the number of threads changes no bit", "[evaluate][tuning]") {
  Rng rng(2);
  const World world = random_world(rng, 2, 4, 20);
  const std::vector<Arm> arms = {arm_of("tl-llp", kMoreCosts), arm_of("inv-cal", kCosts, "pca"),
                                 arm_of("alter-psvm", kCosts)};
  for (const Combine combine : {Combine::kBest, Combine::kAverage}) {
    const TuneOptions options{.folds = 3, .combine = combine};
    const auto one = tune(world.tasks, arms, options, {.seed = 3, .threads = 1});
    const auto four = tune(world.tasks, arms, options, {.seed = 3, .threads = 4});
    REQUIRE(one.ok());
    REQUIRE(four.ok());
    check_same(*one, *four);
  }
  const auto other = tune(world.tasks, arms, {.folds = 3}, {.seed = 4, .threads = 1});
  REQUIRE(other.ok());
  const auto again = tune(world.tasks, arms, {.folds = 3}, {.seed = 3, .threads = 1});
  CHECK(other->fit.model.tasks[0].weights != again->fit.model.tasks[0].weights);
}

TEST_CASE("tuning: the best setting is fitted to all bags, and a plane is a committee's mean",
          "[evaluate][tuning]") {
  Rng rng(3);
  const World world = random_world(rng, 2, 3, 16);
  for (const std::string metric : {"none", "pca"}) {
    const std::vector<Arm> arms = {arm_of("tl-llp", kMoreCosts, metric)};
    const Context context{.seed = 2, .threads = 1};
    const auto best = tune(world.tasks, arms, {.folds = 3, .combine = Combine::kBest}, context);
    const auto average = tune(world.tasks, arms, {.folds = 3}, context);
    const auto plane = tune(world.tasks, arms, {.folds = 3, .combine = Combine::kPlane}, context);
    REQUIRE(best.ok());
    REQUIRE(average.ok());
    REQUIRE(plane.ok());
    OptionTexts setting = best->tried[best->best].setting;
    setting["metric"] = metric;
    const auto fit = find_method("tl-llp")->fit(world.tasks, setting, context);
    REQUIRE(fit.ok());
    REQUIRE(best->fit.model.tasks.size() == 2);
    for (std::size_t t = 0; t < 2; ++t) {
      CHECK(best->fit.model.tasks[t].weights == fit->model.tasks[t].weights);
      CHECK(best->fit.model.tasks[t].bias == fit->model.tasks[t].bias);
    }
    CHECK(best->fit.model.metric.kind == metric);
    CHECK(best->members == 0);
    CHECK(best->arm_shares == std::vector<double>{1});
    CHECK_FALSE(best->fit.model.committee);
    CHECK(average->fit.model.committee);
    CHECK_FALSE(plane->fit.model.committee);
    CHECK(plane->members == average->members);
    REQUIRE(plane->fit.model.tasks.size() == 2);
    for (std::size_t t = 0; t < 2; ++t)
      CHECK(plane->fit.model.tasks[t].weights == average->fit.model.tasks[t].weights);
    for (const Tuned* tuned : {&*best, &*average, &*plane}) {
      CHECK(tuned->fit.model.method == "tl-llp");
      CHECK(tuned->best == best->best);
    }
    CHECK(best->fit.model.selection->combine == "best");
    CHECK(plane->fit.model.selection->combine == "plane");
  }
}

TEST_CASE("tuning: what halving keeps has the values that the whole grid gives it", "[evaluate][tuning]") {
  Rng rng(4);
  const World world = random_world(rng, 1, 3, 20);
  // Paths of one setting each: what is dropped was no one's start.
  Arm arm{find_method("inv-cal"), "none", {}};
  for (int c = 0; c < 14; ++c) {
    for (const char* epsilon : {"0.01", "0.2", "0.6"})
      arm.paths.push_back({{{"C", fmt::format("{}", std::exp2(c - 7))}, {"epsilon", epsilon}}});
  }
  const auto grid = tune(world.tasks, {arm}, {.folds = 4}, {.threads = 2});
  const auto halved = tune(world.tasks, {arm}, {.folds = 4, .search = Search::kHalving}, {.threads = 2});
  REQUIRE(grid.ok());
  REQUIRE(halved.ok());
  std::map<std::size_t, int> tried_on;
  double worst_kept = 0, best_dropped = 1e300;
  for (std::size_t s = 0; s < 42; ++s) {
    const Tried &a = grid->tried[s], &b = halved->tried[s];
    CHECK(a.setting == b.setting);
    CHECK(a.folds == 4);
    ++tried_on[b.folds];
    if (b.folds == 4) CHECK(a.value == b.value);
    if (b.folds == 4) worst_kept = std::max(worst_kept, b.value);
    if (b.folds == 1) best_dropped = std::min(best_dropped, b.value);
  }
  CHECK(tried_on == std::map<std::size_t, int>{{1, 28}, {2, 4}, {4, 10}});
  CHECK(halved->tried[halved->best].folds == 4);
  CHECK(halved->fit.model.selection->search == "halving");
  // The committee has members of the survivors alone, each on all folds.
  CHECK(halved->members % 4 == 0);
  CHECK(halved->members <= 40);
  CHECK(halved->fit.model.committee->settings.size() == halved->members / 4);
}

namespace {

// A memory that counts, and a method whose fits are counted.
struct Notebook {
  std::map<std::string, PathOutcome> known;
  int recalled = 0, kept = 0;
  std::mutex mutex;

  Memory memory() {
    return {.recall = [this](const std::string& key) -> std::optional<PathOutcome> {
              const std::lock_guard guard(mutex);
              const auto found = known.find(key);
              if (found == known.end()) return std::nullopt;
              ++recalled;
              return found->second;
            },
            .keep =
                [this](const std::string& key, const PathOutcome& outcome) {
                  const std::lock_guard guard(mutex);
                  CHECK(known.emplace(key, outcome).second);
                  ++kept;
                }};
  }
};

struct Counted {
  Method method;
  std::atomic<int> paths{0};

  explicit Counted(const char* name) : method(*find_method(name)) {
    method.fit_path = [this, fit = method.fit_path](std::span<const TrainingTask> tasks,
                                                    std::span<const OptionTexts> path,
                                                    const Context& context) {
      ++paths;
      return fit(tasks, path, context);
    };
  }
};

}  // namespace

TEST_CASE("tuning: what is remembered is not fitted again and gives the same model", "[evaluate][tuning]") {
  Rng rng(5);
  const World world = random_world(rng, 1, 3, 18);
  for (const Search search : {Search::kGrid, Search::kHalving}) {
    for (const Combine combine : {Combine::kBest, Combine::kAverage}) {
      Counted counted("inv-cal");
      const std::vector<Arm> arms = {{&counted.method, "none", all_combinations(kMoreCosts)},
                                     {&counted.method, "pca", all_combinations(kCosts)}};
      const TuneOptions options{.folds = 3, .combine = combine, .search = search};
      Notebook notebook;
      const auto first = tune(world.tasks, arms, options, {.threads = 2}, notebook.memory());
      REQUIRE(first.ok());
      CHECK(counted.paths == notebook.kept);
      CHECK(notebook.kept == 9);  // three paths on three folds
      CHECK(notebook.recalled == 0);
      const auto second = tune(world.tasks, arms, options, {.threads = 2}, notebook.memory());
      REQUIRE(second.ok());
      CHECK(counted.paths == 9);
      CHECK(notebook.kept == 9);
      CHECK(notebook.recalled == 9);
      check_same(*first, *second);
      // An outcome of another shape is none.
      std::vector<std::function<void(PathOutcome&)>> breaks = {[](PathOutcome& o) { o.pop_back(); }};
      if (combine == Combine::kAverage) {
        breaks.emplace_back([](PathOutcome& o) { o[0].planes.clear(); });
        breaks.emplace_back([](PathOutcome& o) { o[0].planes[0].weights.pop_back(); });
      } else {
        breaks.emplace_back([](PathOutcome& o) { o[0].planes.resize(1); });
      }
      for (const auto& damage : breaks) {
        const auto whole = notebook.known.begin()->second;
        damage(notebook.known.begin()->second);
        auto memory = notebook.memory();
        memory.keep = {};
        const int before = counted.paths;
        const auto third = tune(world.tasks, arms, options, {.threads = 2}, memory);
        REQUIRE(third.ok());
        CHECK(counted.paths == before + 1);
        check_same(*first, *third);
        notebook.known.begin()->second = whole;
      }
    }
  }
}

TEST_CASE("tuning: alter-psvm's starts with and without the source are weighed as transfer is",
          "[evaluate][tuning]") {
  Rng rng(8);
  const World world = random_world(rng, 2, 3, 15);
  for (const std::string metric : {"none", "pca"}) {
    const std::vector<Arm> arms = {
        arm_of("alter-psvm", {{"C", {"0.1", "1"}}, {"init", {"inv-cal", "tl-llp"}}}, metric)};
    const TuneOptions options{.folds = 3};
    Notebook notebook;
    const auto tuned = tune(world.tasks, arms, options, {.seed = 5, .threads = 2}, notebook.memory());
    REQUIRE(tuned.ok());
    const auto slow = slow_tuning(world, arms, options, 5);
    REQUIRE(tuned->tried.size() == 4);
    double with = 0, without = 0;
    for (std::size_t s = 0; s < slow.size(); ++s) {
      CHECK(tuned->tried[s].setting == slow[s].setting);
      CHECK(tuned->tried[s].value == Approx(slow[s].value).margin(1e-9));
    }
    REQUIRE(tuned->related);
    const Committee& committee = *tuned->fit.model.committee;
    CHECK(committee.tasks.size() == 1);
    for (std::size_t m = 0; m < committee.size(); ++m) {
      const std::string& setting = committee.settings[committee.setting[m]];
      (setting.find("init=tl-llp") != std::string::npos ? with : without) += committee.share[m];
    }
    CHECK(with == Approx(tuned->transfer_share));
    CHECK(without == Approx(1 - tuned->transfer_share));
    // One plane of two tasks is all there is to remember.
    const int kept = notebook.kept;
    const auto again = tune(world.tasks, arms, options, {.seed = 5}, notebook.memory());
    REQUIRE(again.ok());
    CHECK(notebook.kept == kept);
    check_same(*tuned, *again);
    // The best is fitted to what it takes of the tasks, whichever it is.
    for (const char* init : {"inv-cal", "tl-llp"}) {
      const std::vector<Arm> one = {arm_of("alter-psvm", {{"C", {"0.1"}}, {"init", {init}}}, metric)};
      const auto best = tune(world.tasks, one, {.folds = 3, .combine = Combine::kBest}, {.seed = 5});
      REQUIRE(best.ok());
      CHECK(best->fit.model.training.starts[0].init == init);
    }
  }
}

TEST_CASE("tuning: stopped, it keeps what was done and goes on from there", "[evaluate][tuning]") {
  Rng rng(6);
  const World world = random_world(rng, 2, 3, 18);
  const std::vector<Arm> arms = {arm_of("tl-llp", kMoreCosts), arm_of("inv-cal", kMoreCosts)};
  const TuneOptions options{.folds = 3};
  const auto undisturbed = tune(world.tasks, arms, options, {.threads = 2});
  REQUIRE(undisturbed.ok());
  for (const int limit : {0, 1, 4, 7}) {
    Notebook notebook;
    Memory memory = notebook.memory();
    std::atomic<int> kept_so_far{0};
    std::atomic<bool> told{false};
    const Observer stop = [&](const Progress&) {
      told = told || kept_so_far >= limit;
      return told ? Next::kStop : Next::kContinue;
    };
    // The observer is asked only now and then: pieces wait for it once there are enough of them.
    memory.keep = [&, keep = memory.keep](const std::string& key, const PathOutcome& outcome) {
      keep(key, outcome);
      ++kept_so_far;
      for (int wait = 0; wait < 2000 && kept_so_far >= limit && !told; ++wait)
        std::this_thread::sleep_for(std::chrono::milliseconds(5));
    };
    const auto stopped = tune(world.tasks, arms, options, {.threads = 2, .observer = stop}, memory);
    const int kept = notebook.kept;
    CHECK(kept >= limit);
    CHECK(kept < 12);
    REQUIRE_FALSE(stopped.ok());
    CHECK_THAT(stopped.error().message, Catch::Contains("stopped"));
    const auto resumed = tune(world.tasks, arms, options, {.threads = 2}, notebook.memory());
    REQUIRE(resumed.ok());
    CHECK(notebook.recalled == kept);
    CHECK(notebook.kept == 12);
    check_same(*undisturbed, *resumed);
  }
}

TEST_CASE("tuning: progress never falls and ends at its total", "[evaluate][tuning]") {
  Rng rng(7);
  const World world = random_world(rng, 1, 3, 18);
  for (const Search search : {Search::kGrid, Search::kHalving}) {
    double last = 0, total = 0;
    bool rising = true;
    const Observer watch = [&](const Progress& p) {
      if (p.phase != "choosing") return Next::kContinue;
      rising = rising && p.done >= last && p.done <= p.total && (total == 0 || p.total == total);
      last = p.done;
      total = p.total;
      return Next::kContinue;
    };
    const auto tuned = tune(world.tasks, {arm_of("inv-cal", kMoreCosts), arm_of("mean-map", {})},
                            {.folds = 3, .search = search}, {.threads = 1, .observer = watch});
    REQUIRE(tuned.ok());
    CHECK(rising);
    CHECK(total == 21);
  }
}

TEST_CASE("tuning: what cannot be tuned is refused by name", "[evaluate][tuning][badargs]") {
  Rng rng(8);
  const World world = random_world(rng, 1, 2, 8);
  const std::size_t bags = world.data[0].bags.size();
  const auto fault = [&](const std::vector<Arm>& arms, const TuneOptions& options) {
    const auto tuned = tune(world.tasks, arms, options, {.threads = 1});
    return tuned ? std::string() : tuned.error().message;
  };
  const std::vector<Arm> good = {arm_of("inv-cal", kCosts)};
  CHECK(fault(good, {.folds = bags}).empty());
  CHECK_THAT(fault(good, {.folds = bags + 1}),
             Catch::Contains(fmt::format("folds = {} with {} bags", bags + 1, bags)));
  CHECK_THAT(fault(good, {.folds = 1}), Catch::Contains("folds = 1"));
  CHECK_THAT(fault({}, {.folds = 2}), Catch::Contains("no method"));
  CHECK_THAT(fault({arm_of("inv-cal", {{"lambda", {"1"}}})}, {.folds = 2}), Catch::Contains("lambda"));
  CHECK_THAT(fault({arm_of("inv-cal", {{"C", {}}})}, {.folds = 2}), Catch::Contains("no settings"));
  CHECK_THAT(fault({arm_of("inv-cal", {{"C", {"1"}}, {"kernel", {"rbf"}}})}, {.folds = 2}),
             Catch::Contains("combine = average or plane needs planes") && Catch::Contains("kernel=rbf"));
  CHECK(
      fault({arm_of("inv-cal", {{"C", {"1"}}, {"kernel", {"rbf"}}})}, {.folds = 2, .combine = Combine::kBest})
          .empty());
  // A metric goes with no kernel, and there are only so many.
  CHECK_THAT(fault({arm_of("inv-cal", {{"kernel", {"rbf"}}}, "pca")}, {.folds = 2}),
             Catch::Contains("kernel"));
  CHECK_THAT(fault({arm_of("inv-cal", kCosts, "pcb")}, {.folds = 2}), Catch::Contains("pcb"));
  // A fault of the data is told once, as a fit tells it.
  World same = random_world(rng, 1, 2, 8);
  std::fill(same.tasks[0].reduced.bags.proportions.begin(), same.tasks[0].reduced.bags.proportions.end(),
            0.5);
  const auto tuned = tune(same.tasks, good, {.folds = 2}, {.threads = 1});
  REQUIRE_FALSE(tuned.ok());
  CHECK_THAT(tuned.error().message, Catch::Contains("0.5"));
}

}  // namespace bagwise
