// A file in the making that is compressed on its way, by the ending of its name.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "bagwise/core/atomic_file.h"
#include "bagwise/core/result.h"

namespace bagwise {

// The form of a table's file, by its name: "a.svm.gz" is SVMlight, gzip. Whatever is not SVMlight is CSV.
struct FileForm {
  enum class Compression { kNone, kGzip, kZstd };
  Compression compression = Compression::kNone;
  bool svmlight = false;
};
FileForm form_by_name(std::string_view path);

// Whole or not at all, as AtomicFile is.
class CompressedFile {
 public:
  static Result<CompressedFile> create(const std::string& path);
  CompressedFile(CompressedFile&& other) noexcept;
  CompressedFile& operator=(CompressedFile&& other) = delete;
  ~CompressedFile();

  Result<void> write(std::string_view bytes);
  Result<void> commit(FileGroup* group = nullptr);

 private:
  struct Gzip;
  struct Zstd;
  explicit CompressedFile(AtomicFile file);

  AtomicFile file_;
  std::unique_ptr<Gzip> gzip_;  // at most one of the two
  std::unique_ptr<Zstd> zstd_;
};

}  // namespace bagwise
