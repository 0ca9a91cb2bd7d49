// Where results go: standard output, or files that are written whole or not at all.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "bagwise/core/atomic_file.h"
#include "bagwise/core/result.h"
#include "bagwise/data/compressed_file.h"

namespace bagwise::cli {

void print(std::string_view text);   // to standard output; faults are told by finish_output()
Result<void> finish_output();        // flushes standard output
void remark(std::string_view text);  // to standard error, as it is

// From now on this process prints nothing of its own accord: of several ranks one speaks for all.
void be_silent();
bool silent();

// Whether what is written to `path` comes out where print() goes: "-", /dev/stdout, or the file it is sent
// to.
bool is_standard_output(const std::string& path);
// Whether a report may be printed beside it: an output of its own, and a file that stays.
bool leaves_room_for_report(const std::string& path);
// --json beside an output that already goes to standard output is an error; `option` is what names it.
Result<void> check_json_output(bool json, const std::string& output, std::string_view option);
// A pipe or a device: what can be read only once, and is not there to be looked at afterwards.
bool is_special(const std::string& path);

// Before long work: every output can be created, none is an input of the same command, none another output,
// none is "-": these are files only.
Result<void> check_outputs(const std::vector<std::string>& outputs, const std::vector<std::string>& inputs);

// "-" is standard output; else a file that appears, whole, on close(); .gz and .zst compress.
class Sink {
 public:
  static Result<Sink> open(const std::string& path);
  Result<void> write(std::string_view bytes);
  Result<void> close(FileGroup* group = nullptr);
  [[nodiscard]] bool is_standard_output() const { return !file_.has_value(); }

 private:
  std::optional<CompressedFile> file_;
};

// Folders made with those above them; whichever of them are still empty at the end are taken away again.
class MadeFolders {
 public:
  MadeFolders();
  ~MadeFolders();
  MadeFolders(const MadeFolders&) = delete;
  MadeFolders& operator=(const MadeFolders&) = delete;

  Result<void> create(const std::filesystem::path& folder);  // fine if it is there already

  // Takes away those of all that live, for a process that must end at once.
  static void abandon_all() noexcept;

 private:
  std::vector<std::filesystem::path> made_;
  MadeFolders* next_;  // of those that live; commands have them on one thread
};

}  // namespace bagwise::cli
