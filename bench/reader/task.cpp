#include "task.h"

#include <fmt/format.h>

#include <cmath>
#include <cstdio>
#include <cstdlib>

#include "bagwise/core/random.h"

namespace reader_bench {

Task make_task(const std::string& file, std::uint64_t rows, std::uint64_t bags) {
  Task task{file, 0, rows, {}};
  std::vector<std::vector<double>> sums(bags, std::vector<double>(kFeatures, 0.0));
  bagwise::Rng rng(1);
  std::FILE* out = std::fopen(file.c_str(), "w");
  if (out == nullptr) std::abort();
  fmt::memory_buffer text;
  fmt::format_to(std::back_inserter(text), "bag");
  for (std::size_t j = 0; j < kFeatures; ++j) fmt::format_to(std::back_inserter(text), ",x{}", j);
  text.push_back('\n');
  for (std::uint64_t i = 0; i < rows; ++i) {
    const std::uint64_t bag = rng.below(bags);
    fmt::format_to(std::back_inserter(text), "b{}", bag);
    for (std::size_t j = 0; j < kFeatures; ++j) {
      const double value = std::round(rng.normal() * 10000) / 10000;
      fmt::format_to(std::back_inserter(text), ",{:.4f}", value);
      sums[bag][j] += value;
    }
    text.push_back('\n');
    if (text.size() > (1U << 20) || i + 1 == rows) {
      task.bytes += text.size();
      if (std::fwrite(text.data(), 1, text.size(), out) != text.size()) std::abort();
      text.clear();
    }
  }
  if (std::fclose(out) != 0) std::abort();
  for (std::uint64_t k = 0; k < bags; ++k) task.sums[fmt::format("b{}", k)] = sums[k];
  return task;
}

bool same_answer(const Answer& answer, const Task& task) {
  if (answer.sums.size() != task.sums.size()) return false;
  for (const auto& [bag, sums] : task.sums) {
    const auto found = answer.sums.find(bag);
    if (found == answer.sums.end()) return false;
    for (std::size_t j = 0; j < kFeatures; ++j) {
      if (!(std::abs(found->second[j] - sums[j]) <= 1e-6)) return false;
    }
  }
  return true;
}

}  // namespace reader_bench
