#include "bagwise/data/internal/corpus_files.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <optional>

#include "bagwise/core/atomic_file.h"
#include "bagwise/core/parallel.h"
#include "bagwise/data/internal/tar_reader.h"

namespace bagwise::internal {
namespace {

namespace fs = std::filesystem;

constexpr int kDeepest = 4;                                   // folders are looked into that far down
constexpr std::size_t kMostEntries = 2'000'000;               // of a folder or an archive
constexpr std::uint64_t kMostBytes = std::uint64_t{2} << 30;  // of wanted files, all in all
constexpr std::size_t kFilesAtOnce = 512;
constexpr std::uint64_t kBytesAtOnce = std::uint64_t{8} << 20;
constexpr std::size_t kEntriesBetweenTelling = 1000;

Error stopped(const std::string& path) { return {"reading was stopped", path}; }
Error too_much(const std::string& path) {
  return {fmt::format("holds more than {} entries, or more than {} GB to read; expected the corpus alone",
                      kMostEntries, kMostBytes >> 30),
          path};
}

// Some files that are parsed together, and where the outcome goes.
class Batch {
 public:
  Batch(const std::string& path, const CorpusReader& reader, unsigned threads)
      : path_(path), reader_(reader), threads_(threads) {}

  // Parses `count` files, each got by get(i) on any thread, in the order of their places.
  template <class Get>
  Result<void> parse(std::size_t count, const Get& get, CorpusFiles& out) {
    std::vector<std::optional<Result<CorpusFile>>> outcomes(count);
    parallel_for(count, threads_, [&](std::size_t i) { outcomes[i].emplace(parse_one(get(i))); });
    for (auto& outcome : outcomes) {
      if (!*outcome) return outcome->error();
      out.files.push_back(std::move(**outcome));
    }
    return {};
  }

 private:
  Result<CorpusFile> parse_one(Result<TarMember> member) const {
    if (!member) return member.error();
    auto documents = reader_.parse(member->name, member->bytes);
    if (!documents) {
      Error error = documents.error();
      error.file = corpus_file_name(path_, member->name);
      return error;
    }
    return CorpusFile{std::move(member->name), std::move(*documents)};
  }

  const std::string& path_;
  const CorpusReader& reader_;
  unsigned threads_;
};

struct FoundFile {
  std::string name;
  std::uint64_t bytes = 0;
};

// Finds all wanted files below a folder.
class Walk {
 public:
  Walk(const std::string& path, const CorpusReader& reader, const Observer& observer)
      : path_(path), reader_(reader), observer_(observer) {}

  Result<std::vector<FoundFile>> find() {
    if (auto looked = look_into(path_, 1); !looked) return looked.error();
    std::sort(found_.begin(), found_.end(),
              [](const FoundFile& a, const FoundFile& b) { return a.name < b.name; });
    return std::move(found_);
  }

 private:
  Result<void> look_into(const fs::path& folder, int depth) {
    std::error_code fault;
    std::vector<fs::path> folders;
    for (fs::directory_iterator at(folder, fault), end; !fault && at != end; at.increment(fault)) {
      if (++entries_ > kMostEntries) return too_much(path_);
      if (entries_ % kEntriesBetweenTelling == 0 &&
          tell(observer_, {.phase = "listing", .done = static_cast<double>(entries_)}) == Next::kStop)
        return stopped(path_);
      if (at->path().filename().native().starts_with('.')) continue;
      std::error_code ignored;  // of an entry that vanished or a link that leads nowhere: it is not wanted
      if (at->is_directory(ignored)) {
        if (!at->is_symlink(ignored)) folders.push_back(at->path());
        continue;
      }
      std::string name = at->path().lexically_relative(path_).generic_string();
      if (!reader_.wanted(name) || !at->is_regular_file(ignored)) continue;
      found_.push_back({std::move(name), at->file_size(ignored)});
      bytes_ += found_.back().bytes;
      if (bytes_ > kMostBytes) return too_much(path_);
    }
    if (fault) return Error{fmt::format("cannot list this folder: {}", fault.message()), folder.string()};
    if (depth == kDeepest) return {};
    for (const fs::path& inner : folders) {
      if (auto looked = look_into(inner, depth + 1); !looked) return looked;
    }
    return {};
  }

  const std::string& path_;
  const CorpusReader& reader_;
  const Observer& observer_;
  std::vector<FoundFile> found_;
  std::size_t entries_ = 0;
  std::uint64_t bytes_ = 0;
};

Result<CorpusFiles> read_folder(const std::string& path, const CorpusReader& reader, unsigned threads,
                                const Observer& observer) {
  auto found = Walk(path, reader, observer).find();
  if (!found) return found.error();
  double total = 0, done = 0;
  for (const FoundFile& file : *found) total += static_cast<double>(file.bytes);
  CorpusFiles out;
  Batch batch(path, reader, threads);
  for (std::size_t first = 0; first < found->size();) {
    std::size_t count = 0;
    std::uint64_t bytes = 0;
    for (; first + count < found->size() && count < kFilesAtOnce && bytes < kBytesAtOnce; ++count)
      bytes += (*found)[first + count].bytes;
    const auto get = [&](std::size_t i) -> Result<TarMember> {
      const std::string& name = (*found)[first + i].name;
      auto text = read_file((fs::path(path) / name).string(), reader.largest);
      if (!text) return text.error();
      return TarMember{name, std::move(*text)};
    };
    if (auto parsed = batch.parse(count, get, out); !parsed) return parsed.error();
    first += count;
    done += static_cast<double>(bytes);
    if (tell(observer, {.phase = "reading", .done = done, .total = total}) == Next::kStop)
      return stopped(path);
  }
  return out;
}

Result<CorpusFiles> read_archive(const std::string& path, const CorpusReader& reader, unsigned threads,
                                 const Observer& observer) {
  auto archive = TarReader::open(path, observer);
  if (!archive) return archive.error();
  CorpusFiles out;
  Batch batch(path, reader, threads);
  std::vector<TarMember> members;
  std::uint64_t waiting = 0, total = 0;
  const auto parse_waiting = [&]() -> Result<void> {
    auto parsed = batch.parse(
        members.size(), [&](std::size_t i) -> Result<TarMember> { return std::move(members[i]); }, out);
    members.clear();
    waiting = 0;
    return parsed;
  };
  for (std::size_t entries = 0;; ++entries) {
    auto member = archive->next(reader.wanted, reader.largest);
    if (!member) return member.error();
    if (!*member) break;
    waiting += (*member)->bytes.size();
    total += (*member)->bytes.size();
    if (entries >= kMostEntries || total > kMostBytes) return too_much(path);
    members.push_back(std::move(**member));
    if (members.size() < kFilesAtOnce && waiting < kBytesAtOnce) continue;
    if (auto parsed = parse_waiting(); !parsed) return parsed.error();
  }
  if (auto parsed = parse_waiting(); !parsed) return parsed.error();
  out.passed_over = archive->passed_over();
  std::stable_sort(out.files.begin(), out.files.end(),
                   [](const CorpusFile& a, const CorpusFile& b) { return a.name < b.name; });
  return out;
}

}  // namespace

std::string corpus_file_name(const std::string& path, std::string_view name) {
  return (fs::path(path) / name).string();
}

Result<CorpusFiles> read_corpus_files(const std::string& path, const CorpusReader& reader, unsigned threads,
                                      const Observer& observer) {
  std::error_code fault;
  if (!fs::exists(path, fault) && !fault) return Error{"there is no such file or folder", path};
  return fs::is_directory(path, fault) ? read_folder(path, reader, threads, observer)
                                       : read_archive(path, reader, threads, observer);
}

}  // namespace bagwise::internal
