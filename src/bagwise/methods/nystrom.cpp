#include "bagwise/methods/nystrom.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cassert>
#include <cmath>

#include "bagwise/core/parallel.h"
#include "bagwise/core/random.h"
#include "bagwise/linalg/blas.h"
#include "bagwise/linalg/kernel_rows.h"
#include "bagwise/linalg/spectrum.h"
#include "bagwise/methods/kernel_model.h"
#include "bagwise/methods/scaling.h"

namespace bagwise {
namespace {

constexpr std::size_t kPiece = 256;        // rows mapped at a time
constexpr std::size_t kPiecesAtOnce = 16;  // and pieces held until they are added up

std::vector<std::string> coordinate_names(const NystromMap& map) {
  std::vector<std::string> out;
  for (std::size_t c = 0; c < map.coordinates(); ++c) out.push_back(fmt::format("phi{}", c + 1));
  return out;
}

Eigen::Index as_index(std::size_t n) { return static_cast<Eigen::Index>(n); }

// A number that depends on the entries that are not 0 alone, in their order.
struct RowHash {
  std::uint64_t state = 0;

  void add(std::size_t column, double value) {
    if (value == 0) return;
    state = Rng(state ^ std::bit_cast<std::uint64_t>(value), column)();
  }
};

std::uint64_t hash_of(const DenseView& rows, std::size_t i) {
  RowHash hash;
  for (std::size_t j = 0; j < rows.columns; ++j) hash.add(j, rows.row(i)[j]);
  return hash.state;
}

std::uint64_t hash_of(const CsrView& rows, std::size_t i) {
  RowHash hash;
  for (auto k = static_cast<std::size_t>(rows.start[i]); k < static_cast<std::size_t>(rows.start[i + 1]); ++k)
    hash.add(static_cast<std::size_t>(rows.index[k]), rows.values[k]);
  return hash.state;
}

struct Lot {
  std::uint64_t number = 0;
  std::size_t table = 0, row = 0;
};

// The rows with the smallest numbers, of equal rows one.
std::vector<Lot> draw(std::span<const RowsView> tables, std::size_t count, std::uint64_t seed) {
  std::vector<Lot> lots;
  for (std::size_t t = 0; t < tables.size(); ++t) {
    std::visit(
        [&](const auto& rows) {
          for (std::size_t i = 0; i < rows.rows; ++i) lots.push_back({Rng(seed, hash_of(rows, i))(), t, i});
        },
        tables[t]);
  }
  std::sort(lots.begin(), lots.end(), [](const Lot& a, const Lot& b) { return a.number < b.number; });
  const auto equal = [](const Lot& a, const Lot& b) { return a.number == b.number; };
  lots.erase(std::unique(lots.begin(), lots.end(), equal), lots.end());
  lots.resize(std::min(lots.size(), count));
  return lots;
}

Features gather(std::span<const RowsView> tables, const Scaling& scaling, const std::vector<Lot>& lots) {
  std::vector<Features> rows;
  for (const Lot& lot : lots) rows.push_back(scaled_rows(scaling, tables[lot.table], lot.row, 1));
  if (!rows.empty()) return stack(rows);
  return DenseRows(tables.empty() ? 0 : column_count(tables[0]));
}

// Maps rows block by block; the landmarks are made ready once.
class Mapper {
 public:
  Mapper(const NystromMap& map, const Scaling& scaling, const RowsView& rows)
      : map_(map),
        scaling_(scaling),
        rows_(rows),
        space_(map.kernel, map.landmarks.view(), map.landmarks.view()),
        landmarks_(space_, map.landmarks.view(), 0, map.landmarks.rows()),
        to_map_(map.to_map) {}

  [[nodiscard]] std::size_t pieces() const { return (row_count(rows_) + kPiece - 1) / kPiece; }

  // The scaled rows of piece p, and phi of each.
  void run(std::size_t p, Features& scaled, RowMatrix& phi) const {
    const std::size_t from = p * kPiece, count = std::min(kPiece, row_count(rows_) - from);
    scaled = scaled_rows(scaling_, rows_, from, count);
    RowMatrix block;
    kernel_block(space_, KernelRows(space_, scaled.view(), 0, count), landmarks_, block);
    reshape(phi, as_index(count), to_map_.cols());
    dense_product(block.data(), count, to_map_.data(), map_.coordinates(), landmarks_.rows(), phi.data());
  }

 private:
  const NystromMap& map_;
  const Scaling& scaling_;
  const RowsView& rows_;
  KernelSpace space_;
  KernelRows landmarks_;
  RowMatrix to_map_;
};

double squared_length(const DenseView& rows, std::size_t i) {
  return Eigen::Map<const Vector>(rows.row(i).data(), as_index(rows.columns)).squaredNorm();
}
double squared_length(const CsrView& rows, std::size_t i) {
  double sum = 0;
  for (auto k = static_cast<std::size_t>(rows.start[i]); k < static_cast<std::size_t>(rows.start[i + 1]); ++k)
    sum += rows.values[k] * rows.values[k];
  return sum;
}

// The rows of a mapped piece into their bags.
void add_piece(const Features& scaled, const RowMatrix& phi, const KernelFunction& kernel, std::size_t from,
               const BaggedData& data, std::span<const double> bounds, BagSums& sums) {
  const auto columns = static_cast<std::size_t>(phi.cols());
  const RowsView rows = scaled.view();
  for (std::size_t i = 0; i < scaled.rows(); ++i) {
    const double square = std::visit([&](const auto& view) { return squared_length(view, i); }, rows);
    const double bound =
        bounds.empty() ? 0.0 : bound_in_kernel_space(kernel, std::sqrt(square), bounds[from + i]);
    sums.add_row(data.bag_of_row[from + i], {phi.row(as_index(i)).data(), columns}, bound);
  }
}

// u^(n-1) + u^(n-2) v + ... + v^(n-1) = (u^n - v^n) / (u - v)
double power_sum(double u, double v, int n) {
  double sum = 0, power = 1;
  for (int i = 0; i < n; ++i) {
    sum = sum * u + power;
    power *= v;
  }
  return sum;
}

}  // namespace

NystromMap fit_nystrom(const KernelFunction& kernel, std::span<const RowsView> tables, const Scaling& scaling,
                       std::size_t count, std::uint64_t seed) {
  NystromMap map{kernel, gather(tables, scaling, draw(tables, count, seed)), {}};
  RowMatrix products;
  kernel_block(kernel, map.landmarks.view(), map.landmarks.view(), products);
  const ColMatrix symmetric = 0.5 * (products + products.transpose());
  if (symmetric.size() == 0 || !symmetric.allFinite()) return map;
  const auto [values, vectors] = spectrum_of(symmetric);
  Eigen::Index kept = 0;
  while (kept < values.size() && values[kept] > kNystromCutoff * values[0]) ++kept;
  map.to_map = vectors.leftCols(kept) * values.head(kept).cwiseSqrt().cwiseInverse().asDiagonal();
  return map;
}

RowMatrix map_rows(const NystromMap& map, const Scaling& scaling, const RowsView& rows, unsigned threads) {
  RowMatrix out(as_index(row_count(rows)), as_index(map.coordinates()));
  const Mapper mapper(map, scaling, rows);
  const SerialBlas serial;
  parallel_for(mapper.pieces(), threads, [&](std::size_t p) {
    Features scaled;
    RowMatrix phi;
    mapper.run(p, scaled, phi);
    out.middleRows(as_index(p * kPiece), phi.rows()) = phi;
  });
  return out;
}

BaggedData map_bags(const NystromMap& map, const Scaling& scaling, const BaggedData& data, unsigned threads) {
  BaggedData out;
  out.feature_names = coordinate_names(map);
  out.bags = data.bags;
  out.bag_of_row = data.bag_of_row;
  const RowMatrix phi = map_rows(map, scaling, data.features.view(), threads);
  DenseRows rows(data.features.rows(), map.coordinates());
  std::copy_n(phi.data(), phi.size(), rows.row(0).data());
  out.features = std::move(rows);
  return out;
}

ReducedBags reduce_mapped(const NystromMap& map, const Scaling& scaling, const BaggedData& data,
                          std::span<const double> bounds, unsigned threads, const Observer& observer) {
  assert(bounds.empty() || bounds.size() == data.features.rows());
  ReducedBags out;
  out.feature_names = coordinate_names(map);
  out.bags = data.bags;
  out.sums = BagSums(data.bags.size(), map.coordinates());
  out.has_bounds = !bounds.empty();
  const RowsView rows = data.features.view();
  const Mapper mapper(map, scaling, rows);
  const SerialBlas serial;
  std::vector<Features> scaled(kPiecesAtOnce);
  std::vector<RowMatrix> phi(kPiecesAtOnce);
  for (std::size_t first = 0; first < mapper.pieces(); first += kPiecesAtOnce) {
    const Progress progress{"mapping", static_cast<double>(first), static_cast<double>(mapper.pieces())};
    if (tell(observer, progress) == Next::kStop) break;
    const std::size_t count = std::min(kPiecesAtOnce, mapper.pieces() - first);
    parallel_for(count, threads, [&](std::size_t p) { mapper.run(first + p, scaled[p], phi[p]); });
    for (std::size_t p = 0; p < count; ++p)
      add_piece(scaled[p], phi[p], map.kernel, (first + p) * kPiece, data, bounds, out.sums);
  }
  return out;
}

std::vector<double> expansion_weights(const NystromMap& map, const VectorRef& w) {
  const Vector c = map.to_map * w;
  return {c.data(), c.data() + c.size()};
}

void use_landmarks(const NystromMap& map, const std::vector<std::string>& features, const Scaling& scaling,
                   Model& model) {
  const auto to_landmarks = [&](std::vector<double>& w) {
    if (!w.empty()) w = expansion_weights(map, Eigen::Map<const Vector>(w.data(), as_index(w.size())));
  };
  for (TaskModel& task : model.tasks) to_landmarks(task.weights);
  to_landmarks(model.shared_weights);
  model.expansion = Expansion{map.kernel, map.landmarks};
  model.features = features;
  model.scaling = scaling;
  model.training.features = features.size();
}

// For poly, B^p - 2 C^p + A^p = (B - C) S_p(B, C) - (C - A) S_p(C, A) with S_n(u, v) = (u^n - v^n)/(u - v)
//   = gamma delta^2 S_p(B, C) + gamma |x| delta (B - A) sum_i C^(p-1-i) S_i(B, A),
// in which every term is positive: small bounds lose nothing.
double bound_in_kernel_space(const KernelFunction& kernel, double length, double bound) {
  if (kernel.kind == KernelKind::kLinear) return bound;
  const double gamma = kernel.gamma;
  if (kernel.kind == KernelKind::kRbf) return std::sqrt(-2 * std::expm1(-gamma * bound * bound));
  const double a = gamma * length * length + 1;
  const double b = gamma * (length + bound) * (length + bound) + 1;
  const double c = gamma * length * (length + bound) + 1;
  double sum = 0;
  for (int i = 1; i < kernel.degree; ++i) sum += std::pow(c, kernel.degree - 1 - i) * power_sum(b, a, i);
  return std::sqrt(gamma * bound * bound * power_sum(b, c, kernel.degree) +
                   gamma * length * bound * gamma * bound * (2 * length + bound) * sum);
}

}  // namespace bagwise
