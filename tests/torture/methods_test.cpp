// Every method on data that is hard to compute with.
#include "support/nasty_fits.h"
#include "support/nasty_problems.h"

namespace bagwise {
namespace {

using test::Nasty;
using test::Variant;

// On all problems, now dense and now sparse, with one task or two where the method takes sources.
void torture(const std::vector<Variant>& variants) {
  std::vector<Nasty> problems = test::nasty_values();
  for (Nasty& problem : test::nasty_bags()) problems.push_back(std::move(problem));
  std::size_t turn = 0;
  for (const Variant& variant : variants) {
    CAPTURE(variant.name());
    const bool sources = find_method(variant.method)->uses_sources;
    for (const Nasty& problem : problems) {
      CAPTURE(problem.name);
      const std::size_t tasks = sources ? 1 + turn / 2 % 2 : 1;
      const bool sparse = turn++ % 2 == 0;
      CAPTURE(tasks, sparse);
      test::expect_fit(variant, test::make_nasty(problem, tasks, sparse), problem.told, problem.hopeless);
    }
    ++turn;  // another form of every problem for the next variant
  }
}

TEST_CASE("torture: inv-cal", "[torture][inv_cal]") {
  torture({{"inv-cal"},
           {"inv-cal"},
           {"inv-cal", {{"scale", "standard"}}},
           {"inv-cal", {{"scale", "maxabs"}}},
           {"inv-cal", {{"metric", "pca"}}},
           {"inv-cal", {{"tube", "calibrated"}, {"clip", "1e-12"}, {"bag-weight", "size"}}},
           {"inv-cal", {{"kernel", "rbf"}}},
           {"inv-cal", {{"kernel", "poly"}}},
           {"inv-cal", {{"kernel", "poly"}, {"scale", "standard"}}},
           {"inv-cal", {{"kernel", "rbf"}, {"nystrom", "5"}}}});
}

TEST_CASE("torture: tl-llp, linear", "[torture][tl_llp]") {
  torture({{"tl-llp", {{"uncertainty", "off"}}},
           {"tl-llp", {{"uncertainty", "off"}}},
           {"tl-llp", {{"uncertainty", "off"}, {"scale", "maxabs"}}},
           {"tl-llp"},
           {"tl-llp"},
           {"tl-llp", {{"scale", "standard"}}},
           {"tl-llp", {{"metric", "pca"}}},
           {"tl-llp", {{"uncertainty", "literal"}}},
           {"tl-llp", {{"uncertainty", "literal"}, {"scale", "maxabs"}}}});
}

TEST_CASE("torture: tl-llp, kernels", "[torture][tl_llp]") {
  torture({{"tl-llp", {{"kernel", "rbf"}}},
           {"tl-llp", {{"kernel", "rbf"}, {"scale", "maxabs"}}},
           {"tl-llp", {{"kernel", "rbf"}, {"uncertainty", "literal"}}},
           {"tl-llp", {{"kernel", "poly"}}},
           {"tl-llp", {{"kernel", "poly"}, {"uncertainty", "off"}}},
           {"tl-llp", {{"kernel", "rbf"}, {"nystrom", "5"}}},
           {"tl-llp", {{"kernel", "poly"}, {"nystrom", "5"}, {"scale", "standard"}}}});
}

TEST_CASE("torture: mean-map", "[torture][mean_map]") {
  torture({{"mean-map"},
           {"mean-map"},
           {"mean-map", {{"scale", "standard"}}},
           {"mean-map", {{"scale", "maxabs"}}},
           {"mean-map", {{"metric", "pca"}}}});
}

TEST_CASE("torture: alter-psvm", "[torture][alter_psvm]") {
  const auto with = [](OptionTexts more) {
    more.insert({{"restarts", "1"}, {"reheat", "false"}});
    return Variant{"alter-psvm", more};
  };
  torture({with({}), with({{"scale", "standard"}}), with({{"metric", "pca"}}), with({{"kernel", "rbf"}}),
           with({{"kernel", "rbf"}, {"nystrom", "5"}})});
}

TEST_CASE("torture: conv-psvm", "[torture][conv_psvm]") {
  torture({{"conv-psvm"},
           {"conv-psvm"},
           {"conv-psvm", {{"scale", "standard"}}},
           {"conv-psvm", {{"metric", "pca"}}},
           {"conv-psvm", {{"kernel", "rbf"}}},
           {"conv-psvm", {{"kernel", "poly"}}},
           {"conv-psvm", {{"kernel", "rbf"}, {"nystrom", "5"}}}});
}

TEST_CASE("torture: tl-count", "[torture][tl_count]") {
  torture({{"tl-count"},
           {"tl-count"},
           {"tl-count", {{"scale", "standard"}}},
           {"tl-count", {{"scale", "maxabs"}, {"init", "tl-llp"}}},
           {"tl-count", {{"exact-up-to", "0"}}},
           {"tl-count", {{"metric", "pca"}}},
           {"tl-count", {{"kernel", "rbf"}, {"nystrom", "5"}}}});
}

}  // namespace
}  // namespace bagwise
