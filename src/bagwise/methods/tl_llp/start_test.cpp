#include "bagwise/methods/tl_llp/start.h"

#include <catch2/catch.hpp>

#include "bagwise/methods/grouped_rows.h"
#include "bagwise/methods/path_state.h"
#include "bagwise/methods/scorer.h"
#include "support/transfer_problems.h"

namespace bagwise {
namespace {

TEST_CASE("tl_llp start: scores of scaled rows are those of a fit that scales them itself",
          "[methods][tl_llp][start]") {
  Rng rng(1);
  for (int round = 0; round < 9; ++round) {
    const test::World world = test::random_world(rng, 1 + rng.below(3), 3);
    TlLlpOptions own;
    own.uncertainty = Uncertainty::kOff;
    own.scale = round % 2 == 0 ? Scale::kStandard : Scale::kNone;
    own.gap = 1e-10;
    KernelFunction kernel;
    if (round % 3 == 2) {
      own.kernel = kernel.kind = KernelKind::kRbf;
      own.gamma = kernel.gamma = 0.2;
    }
    const auto fit = fit_tl_llp(world.tasks, own, {});
    REQUIRE(fit.ok());
    std::vector<BaggedData> scaled;
    for (const BaggedData& data : world.data) scaled.push_back(group_rows(data, fit->model.scaling).data);
    std::vector<const BaggedData*> tasks;
    for (const BaggedData& data : scaled) tasks.push_back(&data);
    auto options = tl_llp_start(own.kernel_choice(), kernel);
    options.gap = own.gap;
    const Scaling unlike{"standard", {7, 7, 7}, {7, 7, 7}};
    const auto f = tl_llp_scores(tasks, options, {.scaling = &unlike});
    REQUIRE(f.ok());
    const auto g =
        Scorer(fit->model, tasks.size() - 1).scores(group_rows(world.data.back(), {}).data.features.view());
    CAPTURE(round, tasks.size());
    for (std::size_t i = 0; i < g.size(); ++i) CHECK((*f)[i] == Approx(g[i]).margin(1e-4));
  }
}

TEST_CASE("tl_llp start: on a path it is rough, and leaves the path's state to the other method",
          "[methods][tl_llp][start]") {
  Rng rng(2);
  const test::World world = test::random_world(rng, 2, 3);
  const BaggedData* const tasks[] = {&world.data[0], &world.data[1]};
  PathState state;
  const auto rough = fit_tl_llp_start(tasks, tl_llp_start({}, {}), {.path = &state});
  const auto fine = fit_tl_llp_start(tasks, tl_llp_start({}, {}), {});
  REQUIRE(rough.ok());
  REQUIRE(fine.ok());
  for (const auto& [name, value] : rough->model.options) {
    if (name == "gap") CHECK(to_text(value) == "0.003");
  }
  CHECK(*fine->model.training.relative_gap <= 1e-6);
  CHECK_FALSE(state.last);
  CHECK_FALSE(state.means);
}

}  // namespace
}  // namespace bagwise
