// Archives of a corpus. Headers have a checksum: a mutator puts half of the inputs right again.
#include <fmt/format.h>

#include <cstdint>
#include <cstring>

#include "bagwise/data/corpus/corpus.h"
#include "bagwise/data/internal/tar_reader.h"
#include "harness.h"

namespace bagwise::fuzz {
namespace {

constexpr std::size_t kBlock = 512, kChecksum = 148, kChecksumSize = 8, kMagic = 257;
constexpr std::uint64_t kLargest = 256 << 10;

void put_header_right(std::uint8_t* header) {
  std::memset(header + kChecksum, ' ', kChecksumSize);
  unsigned sum = 0;
  for (std::size_t i = 0; i < kBlock; ++i) sum += header[i];
  const std::string digits = fmt::format("{:06o}", sum);
  std::memcpy(header + kChecksum, digits.c_str(), digits.size() + 1);
}

}  // namespace

// xz has a dictionary as large as its first block asks for, up to 256 MiB. (A later block may ask for more,
// which libarchive gives it: it is touched only as far as is unpacked.)
const Bound kBound{.fixed = 288 * kMiB, .per_byte = 512};

void fuzz_one(std::string_view input) {
  const std::string path = input_file("corpus.tar", input);
  auto archive = internal::TarReader::open(path, {});
  if (!archive) return require_error(archive.error());
  std::uint64_t total = 0;
  while (total < 16 * kMiB) {
    const auto member = archive->next([](std::string_view) { return true; }, kLargest);
    if (!member) return require_error(member.error());
    if (!*member) break;
    const std::string& name = (*member)->name;
    require(!name.empty() && name.front() != '/' && ("/" + name + "/").find("/../") == std::string::npos,
            "no name leads out of the archive");
    require((*member)->bytes.size() <= kLargest, "no member is larger than it may be");
    total += (*member)->bytes.size();
  }
  for (const CorpusKind kind : {CorpusKind::kNewsgroups, CorpusKind::kReuters}) {
    const auto corpus = read_corpus(kind, path, {.threads = 1});
    if (!corpus) require_error(corpus.error());
  }
}

}  // namespace bagwise::fuzz

extern "C" std::size_t LLVMFuzzerMutate(std::uint8_t* data, std::size_t size, std::size_t most);
extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size, std::size_t most,
                                               unsigned seed) {
  using namespace bagwise::fuzz;
  size = LLVMFuzzerMutate(data, size, most);
  if (!puts_right(seed)) return size;
  for (std::size_t at = 0; at + kBlock <= size; at += kBlock) {
    if (std::memcmp(data + at + kMagic, "ustar", 5) == 0) put_header_right(data + at);
  }
  return size;
}
