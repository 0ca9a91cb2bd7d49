// The two worlds behind generate(): their truth, and how a row is drawn from it.
//
// Every row has a stream of random numbers of its own, so rows can be drawn in any order and on any thread.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "bagwise/core/random.h"
#include "bagwise/core/result.h"
#include "bagwise/data/generate.h"

namespace bagwise::generators {

enum class Part : std::uint64_t { kTruth = 1, kSource, kTarget, kTest, kSearch, kEstimate, kLabels };

// The seed of a part: what is in one part does not depend on how many rows another has.
std::uint64_t seed_of(std::uint64_t seed, Part part);

// Two orthonormal directions T and U, and from them the unit planes of the two tasks,
//   source = cos(h) T + sin(h) U,   target = cos(h) T - sin(h) U,   h = half the angle asked for.
struct TaskPlanes {
  std::vector<double> source, target;
};
TaskPlanes draw_planes(std::uint64_t features, double angle_degrees, Rng& rng, double (*draw)(Rng&));
double angle_between(const TaskPlanes& planes);  // in degrees, measured

// +1 for half of the rows (the smaller half if they are odd in number), -1 for the others, in random order.
std::vector<std::int8_t> draw_labels(std::uint64_t rows, std::uint64_t seed);

double round_to_millionths(double x);

double dot(std::span<const double> a, std::span<const double> b);  // added from left to right

// x = mu + y/2 gap_t + H diag(spread) z, z standard normal; H = I - 2 u u' mirrors, so that features are
// correlated. Both classes have covariance S = H diag(spread^2) H; gap_t = scale_t S plane_t, so the best
// rule is the sign of plane_t . (x - mu), right with probability Phi(|z_gap|/2) where |z_gap| is the
// Mahalanobis length of the gap.
struct GaussianWorld {
  std::vector<double> spread;  // standard deviation along each axis before mirroring: 1/(1 + i/20)
  std::vector<double> mirror;  // u
  std::vector<double> centre;  // mu, shared: about one standard deviation from the origin
  TaskPlanes planes;
  std::vector<double> source_gap, target_gap;

  explicit GaussianWorld(const GeneratorOptions& options);
  // One row of the class `label`, drawn from rng, into `out`.
  void draw(std::span<const double> gap, std::int8_t label, Rng& rng, std::span<double> out) const;
};

// Documents are counts of words; word w occurs in a document of sub-category c a Poisson number of times of
// mean
//   rate_c(w) = kTokens base(w) exp(kappa idf(w) v_c(w)),
// base the Zipf-Mandelbrot law. The positives of source and target are two sub-categories of one top
// category: v = their planes of TaskPlanes, T what the top category's words are, +-U what tells the two
// apart. The negatives come from kOtherTops other top categories of kSubs sub-categories each, whose v sum to
// 0. So the log-odds of a positive against the others, averaged over them, is a plane: each occurrence of w
// adds kappa idf(w) plane(w), that is kappa plane(w) per unit of tf * idf.
struct DocumentWorld {
  static constexpr std::size_t kOtherTops = 4, kSubs = 2, kNegatives = kOtherTops * kSubs;
  static constexpr double kTokens = 40;  // words of a document that is about nothing
  static constexpr std::size_t kCategories = kNegatives + 2;
  static constexpr std::size_t kSource = kNegatives, kTarget = kNegatives + 1;  // the positives

  std::vector<double> base;  // sums to 1
  std::vector<double> idf;   // -log of the share of documents about nothing that have the word
  TaskPlanes planes;
  std::array<std::vector<double>, kCategories> topics;  // v_c: the negatives first
  double kappa = 0;
  std::array<std::vector<double>, kCategories> cumulative;  // of the rates; the last is the document's mean
  static constexpr std::size_t kGuides = 256;
  std::array<std::array<std::uint32_t, kGuides>, kCategories>
      guide{};  // first word of each 1/256 of the rate

  explicit DocumentWorld(const GeneratorOptions& options);
  // Sets kappa and the rates; false if documents would grow past 10,000 words.
  bool separate(double kappa_wanted);

  // The words of one document of the class `label` of the task whose positives are `positive`.
  void draw(std::size_t positive, std::int8_t label, Rng& rng, std::vector<std::uint32_t>& counts) const;
  // log P(counts | positive) - log P(counts | negative).
  [[nodiscard]] double log_odds(std::size_t positive, std::span<const std::uint32_t> counts) const;
};

// log(1 + tf) * idf of every word, scaled to length 1 (a document without words is all zeros), in millionths.
std::vector<double> document_features(const DocumentWorld& world, std::span<const std::uint32_t> counts);

// The accuracy of the best rule for the target, as the mean over `documents` of the larger class probability.
struct Estimate {
  double mean = 0, standard_error = 0;
};
Estimate estimate_best_accuracy(const DocumentWorld& world, std::uint64_t documents, std::uint64_t seed);

// The world whose best accuracy is the asked one, found by a search on kappa.
Result<DocumentWorld> separated_world(const GeneratorOptions& options);

GeneratedData generate_gaussian(const GeneratorOptions& options);
Result<GeneratedData> generate_documents(const GeneratorOptions& options);

}  // namespace bagwise::generators
