// TarReader: the plain members of a tar archive one after the other, in memory that their sizes bound.
//
// Plain or packed by gzip, zstd, xz, lzma, bzip2 or compress, which is seen from the bytes. Nothing is
// written, no link is followed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "bagwise/core/observer.h"
#include "bagwise/core/result.h"

namespace bagwise::internal {

struct TarMember {
  std::string name;  // as the archive has it, without a leading "./"
  std::string bytes;
};

class TarReader {
 public:
  // The observer is told how much of the file has been read; kStop ends the reading with an error.
  static Result<TarReader> open(const std::string& path, const Observer& observer);
  TarReader(TarReader&& other) noexcept;
  TarReader& operator=(TarReader&& other) = delete;
  ~TarReader();

  // The next plain member that is wanted, by its name; none at the end. Errors: a wanted member of more than
  // `largest` bytes, whatever its header says; an archive that is damaged, cut short, or none at all.
  Result<std::optional<TarMember>> next(const std::function<bool(std::string_view)>& wanted,
                                        std::uint64_t largest);

  // Members so far that are links, devices and the like, or whose names lead out of the archive.
  [[nodiscard]] std::size_t passed_over() const;

 private:
  struct State;
  explicit TarReader(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace bagwise::internal
