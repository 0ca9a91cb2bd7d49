#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "bagwise/core/parallel.h"
#include "bagwise/data/internal/generators.h"

namespace bagwise::generators {
namespace {

constexpr std::uint64_t kBlockRows = 256;

// v - 2 (u.v) u: mirrors v on the plane normal to u.
void reflect(std::span<const double> u, std::span<double> v) {
  const double twice = 2 * dot(u, v);
  for (std::size_t i = 0; i < v.size(); ++i) v[i] -= twice * u[i];
}

// The gap between the class means that makes `plane` the best one and its Mahalanobis length `length`:
// S plane * length / sqrt(plane . S plane), S = H diag(spread^2) H.
std::vector<double> gap_for(const GaussianWorld& world, std::span<const double> plane, double length) {
  std::vector<double> gap(plane.begin(), plane.end());
  reflect(world.mirror, gap);
  for (std::size_t i = 0; i < gap.size(); ++i) gap[i] *= world.spread[i] * world.spread[i];
  reflect(world.mirror, gap);
  const double scale = length / std::sqrt(dot(plane, gap));
  for (double& x : gap) x *= scale;
  return gap;
}

Dataset draw_rows(const GaussianWorld& world, std::span<const double> gap, std::uint64_t rows,
                  std::uint64_t seed) {
  Dataset out;
  DenseRows values(rows, gap.size());
  out.labels = draw_labels(rows, seed);
  parallel_for((rows + kBlockRows - 1) / kBlockRows, 0, [&](std::size_t block) {
    const std::uint64_t end = std::min<std::uint64_t>(rows, (block + 1) * kBlockRows);
    for (std::uint64_t i = block * kBlockRows; i < end; ++i) {
      Rng rng(seed, (std::uint64_t{1} << 32) + i);
      world.draw(gap, out.labels[i], rng, values.row(i));
    }
  });
  out.features = Features(std::move(values));
  for (std::size_t j = 1; j <= gap.size(); ++j) out.feature_names.push_back(fmt::format("x{}", j));
  return out;
}

}  // namespace

GaussianWorld::GaussianWorld(const GeneratorOptions& options) {
  Rng rng(seed_of(options.seed, Part::kTruth));
  const auto normal = [](Rng& from) { return from.normal(); };
  const std::size_t d = options.features;
  for (std::size_t i = 0; i < d; ++i) spread.push_back(1 / (1 + static_cast<double>(i) / 20));
  for (std::size_t i = 0; i < d; ++i) mirror.push_back(rng.normal());
  const double length = std::sqrt(dot(mirror, mirror));
  for (double& x : mirror) x /= length;
  for (std::size_t i = 0; i < d; ++i) centre.push_back(spread[i] * rng.normal());
  reflect(mirror, centre);
  planes = draw_planes(d, options.angle_degrees, rng, normal);
  const double gap_length = 2 * normal_quantile(options.best_accuracy);
  source_gap = gap_for(*this, planes.source, gap_length);
  target_gap = gap_for(*this, planes.target, gap_length);
}

void GaussianWorld::draw(std::span<const double> gap, std::int8_t label, Rng& rng,
                         std::span<double> out) const {
  for (std::size_t i = 0; i < out.size(); ++i) out[i] = spread[i] * rng.normal();
  reflect(mirror, out);
  const double side = label > 0 ? 0.5 : -0.5;
  for (std::size_t i = 0; i < out.size(); ++i) {
    out[i] = round_to_millionths(centre[i] + side * gap[i] + out[i]);
  }
}

GeneratedData generate_gaussian(const GeneratorOptions& options) {
  const GaussianWorld world(options);
  GeneratedData out;
  out.source = draw_rows(world, world.source_gap, options.source_rows, seed_of(options.seed, Part::kSource));
  out.target = draw_rows(world, world.target_gap, options.target_rows, seed_of(options.seed, Part::kTarget));
  out.test = draw_rows(world, world.target_gap, options.test_rows, seed_of(options.seed, Part::kTest));
  out.best_accuracy = options.best_accuracy;
  out.best_accuracy_how = "exact";
  out.angle_degrees = angle_between(world.planes);
  return out;
}

}  // namespace bagwise::generators
