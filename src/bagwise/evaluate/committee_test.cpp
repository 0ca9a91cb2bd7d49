#include "bagwise/evaluate/committee.h"

#include <catch2/catch.hpp>
#include <cmath>
#include <numeric>

#include "bagwise/core/random.h"

namespace bagwise {
namespace {

std::vector<TaskModel> random_planes(Rng& rng, const std::vector<std::string>& names, std::size_t features) {
  std::vector<TaskModel> out;
  for (const std::string& name : names) {
    out.push_back({name, {}, rng.normal(), {0.5 + rng.uniform(), rng.normal()}});
    for (std::size_t j = 0; j < features; ++j) out.back().weights.push_back(rng.normal());
  }
  return out;
}

TEST_CASE("committee: a setting weighs by how much worse it is, and nothing below a hundredth",
          "[evaluate][committee]") {
  const std::vector<double> values = {7, 3, 3 + 4 * std::log(100.0) - 1e-9, 3 + 4 * std::log(100.0) + 1e-6};
  const auto weights = weights_of_values(values, 4);
  CHECK(weights[0] == Approx(std::exp(-1.0)));
  CHECK(weights[1] == 1);
  CHECK(weights[2] == Approx(0.01));
  CHECK(weights[3] == 0);
  CHECK(weights_of_values(std::vector<double>{5, 5}, 4) == std::vector<double>{1, 1});
  CHECK(weights_of_values({}, 4).empty());
  // What all have in common does not matter; a small tau leaves the best alone.
  CHECK(weights_of_values(std::vector<double>{1e9, 1e9 + 4}, 4)[1] == Approx(std::exp(-1.0)));
  CHECK(weights_of_values(std::vector<double>{1, 0, 1}, 1e-6) == std::vector<double>{0, 1, 0});
}

TEST_CASE("committee: shares add up to one and the model's plane is the weighted mean",
          "[evaluate][committee]") {
  Rng rng(1);
  for (int round = 0; round < 20; ++round) {
    const std::size_t features = 1 + rng.below(5), count = 1 + rng.below(9);
    const std::vector<std::string> names = {"source", "source-2", "target"};
    std::vector<Member> members;
    double total = 0;
    for (std::uint32_t m = 0; m < count; ++m) {
      members.push_back({m / 2, m % 2, 0.01 + rng.uniform(), random_planes(rng, names, features)});
      total += members.back().weight;
    }
    Model model;
    model.tasks = random_planes(rng, {"old"}, 2);
    set_committee(members, std::vector<std::string>((count + 1) / 2, "s"), model);
    REQUIRE(model.committee);
    const Committee& committee = *model.committee;
    CHECK(committee.size() == count);
    CHECK(std::accumulate(committee.share.begin(), committee.share.end(), 0.0) == Approx(1).epsilon(1e-14));
    REQUIRE(model.tasks.size() == 3);
    REQUIRE(committee.tasks.size() == 3);
    for (std::size_t t = 0; t < 3; ++t) {
      CHECK(model.tasks[t].name == names[t]);
      CHECK(model.tasks[t].probability.slope == 1);
      CHECK(model.tasks[t].probability.offset == 0);
      double bias = 0;
      std::vector<double> weights(features, 0.0);
      for (std::size_t m = 0; m < count; ++m) {
        const TaskModel& plane = members[m].planes[t];
        CHECK(committee.setting[m] == m / 2);
        CHECK(committee.fold[m] == m % 2);
        CHECK(committee.share[m] == Approx(members[m].weight / total));
        CHECK(committee.tasks[t].bias[m] == plane.bias);
        CHECK(committee.tasks[t].probability[m].slope == plane.probability.slope);
        CHECK(committee.tasks[t].probability[m].offset == plane.probability.offset);
        bias += members[m].weight / total * plane.bias;
        for (std::size_t j = 0; j < features; ++j) {
          CHECK(committee.tasks[t].weights(static_cast<Eigen::Index>(m), static_cast<Eigen::Index>(j)) ==
                plane.weights[j]);
          weights[j] += members[m].weight / total * plane.weights[j];
        }
      }
      CHECK(model.tasks[t].bias == Approx(bias).margin(1e-14));
      for (std::size_t j = 0; j < features; ++j)
        CHECK(model.tasks[t].weights[j] == Approx(weights[j]).margin(1e-14));
    }
  }
}

TEST_CASE("committee: of members with sources and members without, the target is what stays",
          "[evaluate][committee]") {
  Rng rng(2);
  const std::vector<Member> members = {{0, 0, 1, random_planes(rng, {"source", "target"}, 2)},
                                       {1, 0, 3, random_planes(rng, {"target"}, 2)},
                                       {0, 1, 4, random_planes(rng, {"source", "target"}, 2)}};
  for (const bool turned : {false, true}) {
    std::vector<Member> given = members;
    if (turned) std::swap(given[0], given[1]);
    Model model;
    set_committee(given, {"with", "without"}, model);
    REQUIRE(model.tasks.size() == 1);
    CHECK(model.tasks[0].name == "target");
    REQUIRE(model.committee->tasks.size() == 1);
    for (std::size_t m = 0; m < 3; ++m)
      CHECK(model.committee->tasks[0].bias[m] == given[m].planes.back().bias);
    CHECK(model.tasks[0].bias == Approx(members[0].planes[1].bias / 8 + members[1].planes[0].bias * 3 / 8 +
                                        members[2].planes[1].bias / 2));
  }
}

}  // namespace
}  // namespace bagwise
