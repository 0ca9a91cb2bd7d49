// ByteSource: the bytes of a file in order, unpacked if it is .gz or .zst, in bounded memory.
//
// Plain files are read, not mapped: a reused buffer stays in the cache, file pages stay out of the memory of
// this process, and a file that shrinks meanwhile is an early end rather than a SIGBUS.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "bagwise/core/observer.h"
#include "bagwise/core/result.h"

namespace bagwise::internal {

// Asked about five times a second while bytes are waited for that do not come, on the thread that reads;
// kStop ends the wait. Where a signal should end it, whoever handles the signal has to answer kStop here.
using Waiting = std::function<Next()>;

// Tells the observer that reading waits. For the thread that called the library only.
Waiting telling(const Observer& observer);

class ByteSource {
 public:
  // Opens a plain, gzip or zstd file; which of them is seen from its first bytes. Errors: not there, a
  // folder, not readable, or called .gz / .zst without being such.
  static Result<std::unique_ptr<ByteSource>> open(const std::string& path, const Waiting& waiting = {});

  // A plain file from byte `from` on.
  static Result<std::unique_ptr<ByteSource>> open_at(const std::string& path, std::uint64_t from,
                                                     const Waiting& waiting = {});

  virtual ~ByteSource() = default;
  ByteSource(const ByteSource&) = delete;
  ByteSource& operator=(const ByteSource&) = delete;

  // Up to `size` next bytes; 0 only at the end. A truncated or corrupt stream is an error, and so is a wait
  // that was ended.
  virtual Result<std::size_t> read(char* to, std::size_t size, const Waiting& waiting = {}) = 0;

  [[nodiscard]] virtual std::uint64_t consumed() const = 0;   // bytes of the file itself, before unpacking
  [[nodiscard]] virtual std::uint64_t total() const = 0;      // size of the file; 0 = not known
  [[nodiscard]] virtual bool plain() const { return false; }  // neither packed nor a pipe

 protected:
  ByteSource() = default;
};

// Whether `path` can be read twice (a pipe cannot).
bool can_read_twice(const std::string& path);

// How large a file is, and whether it can be read from anywhere within; a pipe has size 0 and cannot.
struct FileSize {
  std::uint64_t size = 0;
  bool divisible = false;
};
Result<FileSize> divisible_size(const std::string& path);

// The name without .gz or .zst, in lower case: what kind of table it is.
std::string name_without_packing(const std::string& path);

}  // namespace bagwise::internal
