// The C++ side of bench/python: fits a method to arrays that are in memory, as compare.py does from Python.
//
// usage: bench_python_fit FOLDER ROWS COLUMNS BAGS METHOD REPEATS
//   FOLDER/X.f64 (row-major), sorted_bags.u32 (one per row), sorted_proportions.f64 (one per bag). Prints a
//   line with the seconds of each repeat, one with those of processor time, and one with the plane as
//   hexadecimal numbers.
//
// numpy asks for huge pages for its arrays, which makes a pass over them a fifth faster: X has them here too.
#include <fmt/format.h>
#include <sys/mman.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <fstream>
#include <new>
#include <string>
#include <vector>

#include "bagwise/bags/bagged_data.h"
#include "bagwise/core/timing.h"
#include "bagwise/methods/registry.h"

namespace {

using namespace bagwise;

// Memory in huge pages.
template <class T>
struct HugePages {
  using value_type = T;
  static constexpr std::size_t kPage = std::size_t{1} << 21;
  T* allocate(std::size_t count) {
    const std::size_t bytes = (count * sizeof(T) + kPage - 1) / kPage * kPage;
    void* const out = std::aligned_alloc(kPage, bytes);
    if (out == nullptr) throw std::bad_alloc();
    madvise(out, bytes, MADV_HUGEPAGE);
    return static_cast<T*>(out);
  }
  void deallocate(T* memory, std::size_t) { std::free(memory); }
  bool operator==(const HugePages&) const { return true; }
};
template <class T>
using Array = std::vector<T, HugePages<T>>;

template <class T>
Array<T> numbers(const std::string& path, std::size_t count) {
  Array<T> out(count);
  std::ifstream file(path, std::ios::binary);
  file.read(reinterpret_cast<char*>(out.data()), static_cast<std::streamsize>(count * sizeof(T)));
  if (!file) {
    fmt::print(stderr, "{} is too short\n", path);
    std::exit(2);
  }
  return out;
}

Result<Fit> fit_arrays(const Array<double>& x, std::size_t columns, const Array<std::uint32_t>& bag_of_row,
                       const Array<double>& proportions, const Method& method) {
  BaggedData data;
  data.features = Features::in_place(DenseView{x.data(), bag_of_row.size(), columns});
  for (std::size_t j = 0; j < columns; ++j) data.feature_names.push_back(fmt::format("x{}", j + 1));
  for (std::size_t k = 0; k < proportions.size(); ++k) data.bags.names.push_back(fmt::format("{:06}", k));
  data.bags.proportions.assign(proportions.begin(), proportions.end());
  data.bag_of_row.assign(bag_of_row.begin(), bag_of_row.end());
  const TrainingTask task{
      .name = "target", .reduced = reduce(data), .rows = method.needs_instances({}) ? &data : nullptr};
  return method.fit({&task, 1}, {}, {});
}

}  // namespace

int main(int count, char** arguments) {
  if (count != 7) return 2;
  const std::string folder = arguments[1];
  const std::size_t rows = std::stoull(arguments[2]), columns = std::stoull(arguments[3]),
                    bags = std::stoull(arguments[4]);
  const Method& method = *find_method(arguments[5]);
  const int repeats = std::stoi(arguments[6]);
  const auto x = numbers<double>(folder + "/X.f64", rows * columns);
  const auto bag_of_row = numbers<std::uint32_t>(folder + "/sorted_bags.u32", rows);
  const auto proportions = numbers<double>(folder + "/sorted_proportions.f64", bags);
  std::vector<double> seconds, processor;
  std::string plane;
  for (int i = 0; i < repeats; ++i) {
    const std::clock_t begun = std::clock();
    const Stopwatch watch;
    const auto fit = fit_arrays(x, columns, bag_of_row, proportions, method);
    seconds.push_back(watch.seconds());
    processor.push_back(static_cast<double>(std::clock() - begun) / CLOCKS_PER_SEC);
    if (!fit) {
      fmt::print(stderr, "{}\n", fit.error().text());
      return 2;
    }
    const Plane found = raw_plane(fit->model, 0);
    plane = fmt::format("{:a}", found.bias);
    for (const double weight : found.weights) plane += fmt::format(" {:a}", weight);
  }
  fmt::print("{}\n{}\n{}\n", fmt::join(seconds, " "), fmt::join(processor, " "), plane);
  return 0;
}
