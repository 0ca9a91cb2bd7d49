// The task: sums per bag of a CSV table of a bag column and ten numbers; who gives which answer, how fast.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace reader_bench {

constexpr std::size_t kFeatures = 10;

struct Task {
  std::string file;
  std::uint64_t bytes = 0, rows = 0;
  std::map<std::string, std::vector<double>> sums;  // per bag, by a naive loop over the numbers as written
};

// Writes the table (seeded) and adds up what it writes.
Task make_task(const std::string& file, std::uint64_t rows, std::uint64_t bags);

struct Answer {
  std::map<std::string, std::vector<double>> sums;
  double seconds = 0;
};

// To 1e-6 absolute: awk prints few digits and adds without compensation.
bool same_answer(const Answer& answer, const Task& task);

// The competitors, one file each.
double read_page_cache(const Task& task);  // seconds to read() the file through, in blocks of 1 MiB
Answer run_awk(const Task& task);
Answer run_ours(const Task& task, unsigned threads);
double run_read_table(const Task& task, unsigned threads, std::uint64_t& matrix_bytes);  // seconds

}  // namespace reader_bench
