// Runs the bagwise binary in a folder of its own and captures what it said.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "support/temp_dir.h"

namespace bagwise::test {

struct Outcome {
  int status = 0;  // the exit status, or 128 + the signal that ended it
  std::string out, err;
};

using Files = std::map<std::string, std::string>;

// A folder with some files, in which the binary runs: names in commands are relative to it.
class Workplace {
 public:
  explicit Workplace(const Files& files = {});

  // `words` are those after "bagwise", split at spaces; no word here has a space in it.
  [[nodiscard]] Outcome run(const std::string& words, std::size_t largest_file = 0) const;
  [[nodiscard]] Outcome shell(const std::string& script) const;  // $BAGWISE is the binary
  // Starts the binary and leaves it running; `meanwhile` gets its process id, then its end is awaited.
  [[nodiscard]] Outcome run_while(const std::string& words, const std::function<void(int)>& meanwhile) const;

  void write(const std::string& name, const std::string& bytes) const;
  [[nodiscard]] std::string read(const std::string& name) const;
  [[nodiscard]] bool has(const std::string& name) const;
  [[nodiscard]] std::vector<std::string> names() const;  // of all files, sorted
  [[nodiscard]] std::string path(const std::string& name) const { return folder_.file(name); }

 private:
  [[nodiscard]] Outcome execute(const std::vector<std::string>& argv, std::size_t largest_file,
                                const std::function<void(int)>& meanwhile) const;

  TempDir folder_;
  TempDir captured_;
};

std::vector<std::string> split(const std::string& text, char at);

}  // namespace bagwise::test
