// Three bags of two people each, known only by their share of positives: who is positive?
#include <bagwise/methods/registry.h>
#include <bagwise/methods/scorer.h>

#include <cstddef>
#include <cstdio>

int main() {
  const double age[] = {21, 25, 33, 47, 62, 70};  // two people per bag
  bagwise::ReducedBags data;
  data.feature_names = {"age"};
  data.bags = {{"a", "b", "c"}, {0.0, 0.5, 1.0}};  // nobody, half, everybody
  data.sums = bagwise::BagSums(3, 1);
  for (std::size_t i = 0; i < 6; ++i) data.sums.add_row(i / 2, {&age[i], 1}, 0);

  const bagwise::TrainingTask target{.name = "target", .reduced = data};
  const auto fit = bagwise::find_method("inv-cal")->fit({&target, 1}, {{"C", "4"}}, {});
  if (!fit) return std::puts(fit.error().text().c_str()), 2;

  const auto f = bagwise::Scorer(fit->model, 0).scores(bagwise::DenseView{age, 6, 1});
  for (std::size_t i = 0; i < 6; ++i) std::printf("age %g: %s\n", age[i], f[i] > 0 ? "positive" : "negative");
}
