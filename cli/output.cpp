#include "cli/output.h"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <utility>

#include "bagwise/report/table.h"

namespace bagwise::cli {
namespace {

bool same_file(const std::string& a, const std::string& b) {
  std::error_code ignored;
  return a == b || std::filesystem::equivalent(a, b, ignored);
}

// Why the first write to standard output that failed did so; 0: none did. A long text fails before its end.
int first_fault = 0;

bool is_silent = false;

// A terminal obeys control characters, and names and ids may have any: there they are shown instead. What
// goes to a file or a pipe keeps every byte.
std::string for_terminal(std::string_view text) {
  std::string out;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find_first_of("\n\t"), text.size());
    out += printable(text.substr(0, end));
    if (end < text.size()) out += text[end];
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return out;
}

// False, with errno, where it could not all be written.
bool put_out(std::string_view text) {
  static const bool kTerminal = isatty(STDOUT_FILENO) == 1;
  if (!kTerminal) return std::fwrite(text.data(), 1, text.size(), stdout) == text.size();
  const std::string shown = for_terminal(text);
  return std::fwrite(shown.data(), 1, shown.size(), stdout) == shown.size();
}

MadeFolders* first_folders = nullptr;

Error output_fault(int why) {
  return {fmt::format("cannot write: {}", std::strerror(why)), "standard output"};
}

}  // namespace

bool is_special(const std::string& path) {
  std::error_code ignored;
  const auto status = std::filesystem::status(path, ignored);
  return std::filesystem::is_other(status);
}

bool is_standard_output(const std::string& path) {
  struct stat named {
  }, standard{};
  return path == "-" || (stat(path.c_str(), &named) == 0 && fstat(STDOUT_FILENO, &standard) == 0 &&
                         named.st_dev == standard.st_dev && named.st_ino == standard.st_ino);
}

bool leaves_room_for_report(const std::string& path) {
  return !is_standard_output(path) && !is_special(path);
}

Result<void> check_json_output(bool json, const std::string& output, std::string_view option) {
  if (!json || !is_standard_output(output) || output == "/dev/null") return {};
  return Error{
      fmt::format("--json: the output already goes to standard output; give it a file with {}", option)};
}

void be_silent() { is_silent = true; }
bool silent() { return is_silent; }

void remark(std::string_view text) {
  if (!is_silent) std::fwrite(text.data(), 1, text.size(), stderr);
}

void print(std::string_view text) {
  if (is_silent) return;
  if (!put_out(text) && first_fault == 0) first_fault = errno;
}

Result<void> finish_output() {
  if (std::fflush(stdout) != 0 && first_fault == 0) first_fault = errno;
  if (std::ferror(stdout) != 0 && first_fault == 0) first_fault = EIO;  // of a write that nobody checked
  if (first_fault == 0) return {};
  return output_fault(first_fault);
}

Result<void> check_outputs(const std::vector<std::string>& outputs, const std::vector<std::string>& inputs) {
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    if (outputs[i] == "-")
      return Error{"this output cannot go to standard output; expected the name of a file", "-"};
    for (const std::string& input : inputs) {
      if (same_file(outputs[i], input))
        return Error{"is both an input and the output; expected another name", outputs[i]};
    }
    for (std::size_t j = 0; j < i; ++j) {
      if (same_file(outputs[i], outputs[j]))
        return Error{"is asked for as two outputs; expected two names", outputs[i]};
    }
    // Opening a pipe to try it would be seen at its other end.
    if (is_special(outputs[i])) continue;
    if (auto probe = AtomicFile::create(outputs[i]); !probe) return probe.error();
  }
  return {};
}

Result<Sink> Sink::open(const std::string& path) {
  Sink sink;
  if (path != "-") {
    auto file = CompressedFile::create(path);
    if (!file) return file.error();
    sink.file_.emplace(std::move(*file));
  }
  return sink;
}

Result<void> Sink::write(std::string_view bytes) {
  if (file_) return file_->write(bytes);
  if (is_silent) return {};
  if (!put_out(bytes)) return output_fault(errno);
  return {};
}

Result<void> Sink::close(FileGroup* group) { return file_ ? file_->commit(group) : finish_output(); }

MadeFolders::MadeFolders() : next_(std::exchange(first_folders, this)) {}

void MadeFolders::abandon_all() noexcept {
  for (const MadeFolders* one = first_folders; one != nullptr; one = one->next_) {
    for (const auto& folder : one->made_) rmdir(folder.c_str());  // the innermost is the first
  }
}

MadeFolders::~MadeFolders() {
  first_folders = next_;
  // The innermost first.
  std::stable_sort(made_.begin(), made_.end(),
                   [](const auto& a, const auto& b) { return a.native().size() > b.native().size(); });
  for (const auto& folder : made_) rmdir(folder.c_str());
}

Result<void> MadeFolders::create(const std::filesystem::path& folder) {
  std::error_code fault;
  for (auto at = folder; !at.empty() && !std::filesystem::exists(at, fault); at = at.parent_path()) {
    made_.push_back(at);
  }
  std::filesystem::create_directories(folder, fault);
  if (fault) return Error{fmt::format("cannot make this folder: {}", fault.message()), folder.string()};
  return {};
}

}  // namespace bagwise::cli
