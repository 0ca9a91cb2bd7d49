// awk (Debian's mawk): the same sums in one line.
#include <fmt/format.h>

#include <cstdio>
#include <cstdlib>
#include <sstream>

#include "bagwise/core/timing.h"
#include "task.h"

namespace reader_bench {

Answer run_awk(const Task& task) {
  const std::string command = fmt::format(
      "awk -F, 'NR > 1 {{ b[$1] = 1; for (j = 2; j <= {0}; ++j) s[$1, j] += $j }} "
      "END {{ for (k in b) {{ printf \"%s\", k; for (j = 2; j <= {0}; ++j) printf \" %.10f\", s[k, j]; print "
      "\"\" }} }}' "
      "'{1}'",
      kFeatures + 1, task.file);
  Answer answer;
  const bagwise::Stopwatch watch;
  std::FILE* pipe = popen(command.c_str(), "r");
  if (pipe == nullptr) std::abort();
  std::string text;
  char buffer[4096];
  for (std::size_t got = 0; (got = std::fread(buffer, 1, sizeof buffer, pipe)) > 0;) text.append(buffer, got);
  pclose(pipe);
  answer.seconds = watch.seconds();
  std::istringstream lines(text);
  for (std::string bag; lines >> bag;) {
    auto& sums = answer.sums[bag];
    sums.resize(kFeatures);
    for (double& sum : sums) lines >> sum;
  }
  return answer;
}

}  // namespace reader_bench
