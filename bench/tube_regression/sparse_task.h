// The job with many sparse features: 200,000 rows of 40 nonzeros in 50,000 columns, one plane, one free bias.
#pragma once

#include <cstdint>
#include <string_view>

#include "bagwise/linalg/rows.h"
#include "bagwise/solver/tube_problem.h"

namespace bagwise::bench {

// How rows and targets come about; README.md states it in full.
enum class SparseKind {
  kDocuments,  // single documents; targets from a hidden plane, with noise
  kBags,     // means of bags of four short documents; targets from the share of positive ones, as InvCal has
  kUniform,  // all columns equally frequent; targets from a hidden plane, with noise
};
std::string_view name(SparseKind kind);

struct SparseShape {
  std::size_t rows = 200000, columns = 50000, nonzeros = 40;
};

struct SparseTask {
  Csr rows;
  TubeProblem problem;  // points into rows; tube 0.1
};
void make_sparse_task(SparseKind kind, const SparseShape& shape, std::uint64_t seed, SparseTask& task);
void set_cost(TubeProblem& problem, double cost);

// Prints the table; of one kind and cost alone where `only` names them ("bags 32"; empty: all).
void against_liblinear_on_sparse_rows(std::string_view only, std::uint64_t seed);

}  // namespace bagwise::bench
