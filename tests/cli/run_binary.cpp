#include "cli/run_binary.h"

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <sstream>

namespace bagwise::test {
namespace {

std::string read_whole(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

void send_to(const std::string& path, int descriptor) {
  const int file = open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
  dup2(file, descriptor);
}

}  // namespace

std::vector<std::string> split(const std::string& text, char at) {
  std::vector<std::string> out;
  std::istringstream in(text);
  for (std::string part; std::getline(in, part, at);) {
    if (!part.empty()) out.push_back(part);
  }
  return out;
}

Workplace::Workplace(const Files& files) {
  for (const auto& [name, bytes] : files) write(name, bytes);
}

Outcome Workplace::run(const std::string& words, std::size_t largest_file) const {
  std::vector<std::string> argv = split(words, ' ');
  argv.insert(argv.begin(), BAGWISE_BINARY);
  return execute(argv, largest_file, [](int) {});
}

Outcome Workplace::shell(const std::string& script) const {
  return execute({"/bin/sh", "-c", "BAGWISE='" BAGWISE_BINARY "'; " + script}, 0, [](int) {});
}

Outcome Workplace::run_while(const std::string& words, const std::function<void(int)>& meanwhile) const {
  std::vector<std::string> argv = split(words, ' ');
  argv.insert(argv.begin(), BAGWISE_BINARY);
  return execute(argv, 0, meanwhile);
}

Outcome Workplace::execute(const std::vector<std::string>& argv, std::size_t largest_file,
                           const std::function<void(int)>& meanwhile) const {
  std::vector<char*> words;
  for (const std::string& word : argv) words.push_back(const_cast<char*>(word.c_str()));
  words.push_back(nullptr);
  const std::string out = captured_.file("out"), err = captured_.file("err");
  const pid_t child = fork();
  if (child == 0) {
    send_to(out, STDOUT_FILENO);
    send_to(err, STDERR_FILENO);
    if (largest_file > 0) {
      const rlimit limit{largest_file, largest_file};
      setrlimit(RLIMIT_FSIZE, &limit);
    }
    if (chdir(folder_.path.c_str()) == 0) execv(words[0], words.data());
    _exit(127);
  }
  meanwhile(child);
  int status = 0;
  waitpid(child, &status, 0);
  return {WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status), read_whole(out), read_whole(err)};
}

void Workplace::write(const std::string& name, const std::string& bytes) const {
  std::filesystem::create_directories(std::filesystem::path(path(name)).parent_path());
  std::ofstream(path(name), std::ios::binary) << bytes;
}

std::string Workplace::read(const std::string& name) const { return read_whole(path(name)); }
bool Workplace::has(const std::string& name) const { return std::filesystem::exists(path(name)); }

std::vector<std::string> Workplace::names() const {
  std::vector<std::string> out;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder_.path)) {
    if (!entry.is_directory()) out.push_back(std::filesystem::relative(entry.path(), folder_.path).string());
  }
  std::sort(out.begin(), out.end());
  return out;
}

}  // namespace bagwise::test
