#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "bagwise/core/parallel.h"
#include "bagwise/core/portable_math.h"
#include "bagwise/data/internal/generators.h"

namespace bagwise::generators {
namespace {

constexpr std::uint64_t kBlockRows = 256;
constexpr std::uint64_t kSearchDocuments = 16384, kEstimateDocuments = 65536;
constexpr double kMostTokens = 10000;

// Heavy-tailed: most words say little about a topic, a few say much.
double topic_weight(Rng& rng) {
  const double z = rng.normal();
  return z * std::abs(z);
}

// Poisson by Knuth's product of uniforms, in pieces whose exp(-mean) is far from underflow.
std::uint64_t poisson(double mean, Rng& rng) {
  constexpr double kPiece = 256;
  std::uint64_t count = 0;
  for (; mean > 0; mean -= kPiece) {
    const double stop = portable_exp(-std::min(mean, kPiece));
    for (double product = rng.uniform(); product > stop; product *= rng.uniform()) ++count;
  }
  return count;
}

}  // namespace

DocumentWorld::DocumentWorld(const GeneratorOptions& options) {
  Rng rng(seed_of(options.seed, Part::kTruth));
  const std::size_t d = options.features;
  double total = 0;
  for (std::size_t w = 0; w < d; ++w) {
    base.push_back(1 / (static_cast<double>(w + 1) + 2.7));
    total += base.back();
  }
  for (double& p : base) {
    p /= total;
    idf.push_back(-portable_log(1 - portable_exp(-kTokens * p)));
  }
  planes = draw_planes(d, options.angle_degrees, rng, topic_weight);
  topics[kSource] = planes.source;
  topics[kTarget] = planes.target;

  // Sub-categories of one top category share 0.8 of their direction.
  std::vector<double> mean(d, 0.0);
  for (std::size_t top = 0; top < kOtherTops; ++top) {
    std::vector<double> shared(d);
    for (double& x : shared) x = topic_weight(rng);
    for (std::size_t sub = 0; sub < kSubs; ++sub) {
      std::vector<double>& v = topics[top * kSubs + sub];
      v = shared;
      for (double& x : v) x = 0.8 * x + 0.6 * topic_weight(rng);
      const double length = std::sqrt(dot(v, v));
      for (std::size_t w = 0; w < d; ++w) {
        v[w] /= length;
        mean[w] += v[w] / static_cast<double>(kNegatives);
      }
    }
  }
  for (std::size_t c = 0; c < kNegatives; ++c) {
    for (std::size_t w = 0; w < d; ++w) topics[c][w] -= mean[w];
  }
}

bool DocumentWorld::separate(double kappa_wanted) {
  kappa = kappa_wanted;
  for (std::size_t c = 0; c < kCategories; ++c) {
    double sum = 0;
    cumulative[c].resize(base.size());
    for (std::size_t w = 0; w < base.size(); ++w) {
      sum += kTokens * base[w] * portable_exp(kappa * idf[w] * topics[c][w]);
      cumulative[c][w] = sum;
    }
    if (!(sum <= kMostTokens)) return false;
    std::uint32_t word = 0;
    for (std::size_t k = 0; k < kGuides; ++k) {
      const double at = static_cast<double>(k) / kGuides * sum;
      while (word + 1 < base.size() && cumulative[c][word] <= at) ++word;
      guide[c][k] = word;
    }
  }
  return true;
}

void DocumentWorld::draw(std::size_t positive, std::int8_t label, Rng& rng,
                         std::vector<std::uint32_t>& counts) const {
  const std::size_t category = label > 0 ? positive : static_cast<std::size_t>(rng.below(kNegatives));
  const std::vector<double>& rates = cumulative[category];
  counts.assign(rates.size(), 0);
  for (std::uint64_t left = poisson(rates.back(), rng); left > 0; --left) {
    // The first word whose cumulative rate is above `at`; the guide says where to begin looking.
    const double u = rng.uniform(), at = u * rates.back();
    std::size_t word = guide[category][static_cast<std::size_t>(u * kGuides)];
    while (word + 1 < rates.size() && rates[word] <= at) ++word;
    ++counts[word];
  }
}

double DocumentWorld::log_odds(std::size_t positive, std::span<const std::uint32_t> counts) const {
  std::array<double, kNegatives> against{};
  double in_favour = 0;
  for (std::size_t w = 0; w < counts.size(); ++w) {
    if (counts[w] == 0) continue;
    const double weight = kappa * counts[w] * idf[w];
    in_favour += weight * topics[positive][w];
    for (std::size_t c = 0; c < kNegatives; ++c) against[c] += weight * topics[c][w];
  }
  in_favour -= cumulative[positive].back();
  for (std::size_t c = 0; c < kNegatives; ++c) against[c] -= cumulative[c].back();
  const double largest = *std::max_element(against.begin(), against.end());
  double sum = 0;
  for (const double a : against) sum += portable_exp(a - largest);
  return in_favour - largest - portable_log(sum / static_cast<double>(kNegatives));
}

std::vector<double> document_features(const DocumentWorld& world, std::span<const std::uint32_t> counts) {
  std::vector<double> out(counts.size(), 0.0);
  double squares = 0;
  for (std::size_t w = 0; w < counts.size(); ++w) {
    if (counts[w] == 0) continue;
    out[w] = portable_log(1.0 + counts[w]) * world.idf[w];
    squares += out[w] * out[w];
  }
  if (squares == 0) return out;
  const double length = std::sqrt(squares);
  for (double& x : out) x = round_to_millionths(x / length);
  return out;
}

Estimate estimate_best_accuracy(const DocumentWorld& world, std::uint64_t documents, std::uint64_t seed) {
  const std::size_t blocks = static_cast<std::size_t>((documents + kBlockRows - 1) / kBlockRows);
  std::vector<double> sums(blocks, 0.0), squares(blocks, 0.0);
  parallel_for(blocks, 0, [&](std::size_t block) {
    std::vector<std::uint32_t> counts;
    const std::uint64_t end = std::min<std::uint64_t>(documents, (block + 1) * kBlockRows);
    for (std::uint64_t i = block * kBlockRows; i < end; ++i) {
      Rng rng(seed, i);
      world.draw(DocumentWorld::kTarget, i % 2 == 0 ? 1 : -1, rng, counts);
      const double odds = world.log_odds(DocumentWorld::kTarget, counts);
      const double likelier = 1 / (1 + portable_exp(-std::abs(odds)));
      sums[block] += likelier;
      squares[block] += likelier * likelier;
    }
  });
  double sum = 0, square = 0;
  for (std::size_t b = 0; b < blocks; ++b) {
    sum += sums[b];
    square += squares[b];
  }
  const auto n = static_cast<double>(documents);
  const double mean = sum / n;
  return {mean, std::sqrt(std::max(0.0, square / n - mean * mean) / n)};
}

Result<DocumentWorld> separated_world(const GeneratorOptions& options) {
  DocumentWorld world(options);
  const std::uint64_t seed = seed_of(options.seed, Part::kSearch);
  // The same random numbers for every kappa: a smooth function of it, up to single documents.
  const auto excess_at = [&](double kappa) {
    return world.separate(kappa)
               ? estimate_best_accuracy(world, kSearchDocuments, seed).mean - options.best_accuracy
               : -1.0;
  };
  double low = 0, high = 1;
  double low_excess = 0.5 - options.best_accuracy, high_excess = excess_at(high);
  while (high_excess < 0) {
    if (high_excess == -1.0 || high > 1e6) {
      return Error{fmt::format("best accuracy = {} cannot be reached by documents of {} words",
                               options.best_accuracy, options.features)};
    }
    low = high;
    low_excess = high_excess;
    high *= 2;
    high_excess = excess_at(high);
  }
  // Regula falsi with the Illinois rule: an end that stays put twice counts half.
  for (int step = 0; step < 20; ++step) {
    const double middle = (low * high_excess - high * low_excess) / (high_excess - low_excess);
    const double excess = excess_at(middle);  // leaves the world at `middle`
    if (std::abs(excess) < 1e-4) break;       // far below the estimate's own error
    if (excess < 0) {
      low = middle;
      low_excess = excess;
      high_excess /= 2;
    } else {
      high = middle;
      high_excess = excess;
      low_excess /= 2;
    }
  }
  return world;
}

namespace {

Dataset draw_rows(const DocumentWorld& world, std::size_t positive, std::uint64_t rows, std::uint64_t seed) {
  Dataset out;
  out.labels = draw_labels(rows, seed);
  std::vector<Csr> blocks(static_cast<std::size_t>((rows + kBlockRows - 1) / kBlockRows));
  parallel_for(blocks.size(), 0, [&](std::size_t block) {
    std::vector<std::uint32_t> counts;
    Csr& part = blocks[block];
    const std::uint64_t end = std::min<std::uint64_t>(rows, (block + 1) * kBlockRows);
    for (std::uint64_t i = block * kBlockRows; i < end; ++i) {
      Rng rng(seed, (std::uint64_t{1} << 32) + i);
      world.draw(positive, out.labels[i], rng, counts);
      const std::vector<double> values = document_features(world, counts);
      for (std::size_t w = 0; w < values.size(); ++w) {
        if (values[w] == 0) continue;
        part.index.push_back(static_cast<std::int32_t>(w));
        part.values.push_back(values[w]);
      }
      part.start.push_back(static_cast<std::int64_t>(part.values.size()));
    }
  });
  Csr all;
  all.columns = world.base.size();
  for (const Csr& part : blocks) {
    const std::int64_t before = all.start.back();
    for (std::size_t i = 1; i < part.start.size(); ++i) all.start.push_back(before + part.start[i]);
    all.index.insert(all.index.end(), part.index.begin(), part.index.end());
    all.values.insert(all.values.end(), part.values.begin(), part.values.end());
  }
  out.features = Features(std::move(all));
  for (std::size_t w = 1; w <= world.base.size(); ++w) out.feature_names.push_back(fmt::format("w{}", w));
  return out;
}

}  // namespace

Result<GeneratedData> generate_documents(const GeneratorOptions& options) {
  auto separated = separated_world(options);
  if (!separated) return separated.error();
  const DocumentWorld& world = *separated;
  GeneratedData out;
  out.source =
      draw_rows(world, DocumentWorld::kSource, options.source_rows, seed_of(options.seed, Part::kSource));
  out.target =
      draw_rows(world, DocumentWorld::kTarget, options.target_rows, seed_of(options.seed, Part::kTarget));
  out.test = draw_rows(world, DocumentWorld::kTarget, options.test_rows, seed_of(options.seed, Part::kTest));
  const Estimate best =
      estimate_best_accuracy(world, kEstimateDocuments, seed_of(options.seed, Part::kEstimate));
  out.best_accuracy = best.mean;
  out.best_accuracy_how = fmt::format("estimated from {} documents, standard error {:.1g}",
                                      kEstimateDocuments, best.standard_error);
  out.angle_degrees = angle_between(world.planes);
  return out;
}

}  // namespace bagwise::generators
