// Writing a file whole or not at all: a temporary beside it, synced, then renamed over it.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "bagwise/core/result.h"

namespace bagwise {

class FileGroup;

// A file in the making. Until commit() the old file is untouched; without a commit() nothing is left behind,
// and what a process that was killed left of this file goes with the next create().
//
// Nothing is written through a symbolic link: a path that is one is an error, unless it leads to a device or
// a pipe. These are written to directly, and so is what the process has open already: /dev/stdout, /dev/fd/N.
class AtomicFile {
 public:
  // Fails where the folder does not exist or cannot be written to.
  static Result<AtomicFile> create(std::string path);

  AtomicFile(AtomicFile&& other) noexcept;
  AtomicFile& operator=(AtomicFile&& other) noexcept;
  AtomicFile(const AtomicFile&) = delete;
  AtomicFile& operator=(const AtomicFile&) = delete;
  ~AtomicFile();

  Result<void> write(std::string_view bytes);  // buffered
  // Flush, sync, rename. With a group: all but the rename, which is left to the group.
  Result<void> commit(FileGroup* group = nullptr);

  // Takes away the temporaries of all files in the making, for a process that must end at once.
  static void abandon_all() noexcept;

 private:
  friend class FileGroup;
  struct State;
  explicit AtomicFile(std::unique_ptr<State> state);
  Result<void> flush();
  Result<void> finish();   // complete, but not there yet
  Result<void> publish();  // there

  std::unique_ptr<State> state_;
};

// Files that appear together, when all of them are complete. Should the last step fail midway, each file is
// the old one or the new one, and there is none where there was none.
class FileGroup {
 public:
  Result<void> publish();

 private:
  friend class AtomicFile;
  std::vector<AtomicFile> files_;
};

// The whole of `bytes` into `path`, or an error and no change.
Result<void> write_file(const std::string& path, std::string_view bytes, FileGroup* group = nullptr);

// The whole file; an error if it cannot be read or is larger than `limit` bytes.
Result<std::string> read_file(const std::string& path, std::uint64_t limit);

}  // namespace bagwise
