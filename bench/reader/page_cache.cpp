// The bound: the file read through from the page cache, nothing done with it.
#include <fcntl.h>
#include <unistd.h>

#include <cstdlib>
#include <vector>

#include "bagwise/core/timing.h"
#include "task.h"

namespace reader_bench {

double read_page_cache(const Task& task) {
  const bagwise::Stopwatch watch;
  const int file = open(task.file.c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0) std::abort();
  std::vector<char> buffer(std::size_t{1} << 20);
  while (read(file, buffer.data(), buffer.size()) > 0) {
  }
  close(file);
  return watch.seconds();
}

}  // namespace reader_bench
