#include "bagwise/data/generate.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "bagwise/core/memory_budget.h"
#include "bagwise/core/portable_math.h"
#include "bagwise/data/internal/generators.h"

namespace bagwise {
namespace generators {

std::uint64_t seed_of(std::uint64_t seed, Part part) { return Rng(seed, static_cast<std::uint64_t>(part))(); }

double dot(std::span<const double> a, std::span<const double> b) {
  double sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i) sum += a[i] * b[i];
  return sum;
}

namespace {

void scale_to_unit(std::vector<double>& v) {
  const double length = std::sqrt(dot(v, v));
  for (double& x : v) x /= length;
}

}  // namespace

TaskPlanes draw_planes(std::uint64_t features, double angle_degrees, Rng& rng, double (*draw)(Rng&)) {
  std::vector<double> top(features), sub(features);
  for (double& x : top) x = draw(rng);
  for (double& x : sub) x = draw(rng);
  scale_to_unit(top);
  for (int pass = 0; pass < 2; ++pass) {  // twice: orthogonal to the last bit also where they were close
    const double along = dot(top, sub);
    for (std::size_t i = 0; i < sub.size(); ++i) sub[i] -= along * top[i];
    scale_to_unit(sub);
  }
  const auto [cosine, sine] = portable_cosine_sine(angle_degrees / 2);
  TaskPlanes planes{top, top};
  for (std::size_t i = 0; i < sub.size(); ++i) {
    planes.source[i] = cosine * top[i] + sine * sub[i];
    planes.target[i] = cosine * top[i] - sine * sub[i];
  }
  return planes;
}

double angle_between(const TaskPlanes& planes) {
  std::vector<double> a = planes.source, b = planes.target;
  scale_to_unit(a);
  scale_to_unit(b);
  double difference = 0, sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    difference += (a[i] - b[i]) * (a[i] - b[i]);
    sum += (a[i] + b[i]) * (a[i] + b[i]);
  }
  return portable_angle_degrees(std::sqrt(difference), std::sqrt(sum));
}

std::vector<std::int8_t> draw_labels(std::uint64_t rows, std::uint64_t seed) {
  std::vector<std::int8_t> labels(rows, -1);
  for (std::uint64_t i = 0; i < rows / 2; ++i) labels[i] = 1;
  Rng rng(seed, static_cast<std::uint64_t>(Part::kLabels));
  shuffle(std::span<std::int8_t>(labels), rng);
  return labels;
}

double round_to_millionths(double x) {
  const double rounded = std::floor(x * 1e6 + 0.5) / 1e6;
  return rounded == 0 ? 0.0 : rounded;  // no negative zeros
}

}  // namespace generators

GeneratorOptions generator_preset(GeneratorKind kind, GeneratorPreset preset, std::uint64_t seed) {
  GeneratorOptions options;
  options.kind = kind;
  options.angle_degrees = preset == GeneratorPreset::kRelated ? 20 : 90;
  options.seed = seed;
  return options;
}

Result<void> check(const GeneratorOptions& options) {
  const auto breaks = [](std::string_view name, auto value, std::string_view rule) {
    return Error{fmt::format("{} = {} breaks {} {}", name, value, name, rule)};
  };
  if (options.source_rows == 0) return breaks("source rows", options.source_rows, ">= 1");
  if (options.target_rows == 0) return breaks("target rows", options.target_rows, ">= 1");
  if (options.test_rows == 0) return breaks("test rows", options.test_rows, ">= 1");
  if (options.features < 2) return breaks("features", options.features, ">= 2");
  if (options.features > kMostGeneratedFeatures)
    return breaks("features", options.features, fmt::format("<= {}", kMostGeneratedFeatures));
  for (const std::uint64_t rows : {options.source_rows, options.target_rows, options.test_rows}) {
    if (rows > kMostGeneratedRows) return breaks("rows", rows, fmt::format("<= {}", kMostGeneratedRows));
  }
  if (!(options.best_accuracy > 0.5 && options.best_accuracy < 1)) {
    return breaks("best accuracy", options.best_accuracy, "in (0.5, 1)");
  }
  if (!(options.angle_degrees >= 0 && options.angle_degrees <= 180)) {
    return breaks("angle", options.angle_degrees, "in [0, 180] degrees");
  }
  return {};
}

Result<GeneratedData> generate(const GeneratorOptions& options) {
  if (auto checked = check(options); !checked) return checked.error();
  const double rows = static_cast<double>(options.source_rows) + static_cast<double>(options.target_rows) +
                      static_cast<double>(options.test_rows);
  // Documents are sparse: about 40 words in a row, each a number and its place.
  constexpr double kWords = 30;
  const double columns = options.kind == GeneratorKind::kGaussian
                             ? static_cast<double>(options.features)
                             : std::min(kWords, static_cast<double>(options.features) / 8);
  if (auto fits = check_matrix("generated rows", rows, columns, "generate fewer rows or features"); !fits)
    return fits.error();
  if (options.kind == GeneratorKind::kGaussian) return generators::generate_gaussian(options);
  return generators::generate_documents(options);
}

}  // namespace bagwise
