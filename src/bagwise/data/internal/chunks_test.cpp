#include "bagwise/data/internal/chunks.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cstring>

#include "bagwise/core/random.h"

using namespace bagwise;
using namespace bagwise::internal;

namespace {

// Bytes from memory, in pieces as small as a pipe may give.
class TextSource final : public ByteSource {
 public:
  TextSource(std::string text, std::size_t step) : text_(std::move(text)), step_(step) {}
  Result<std::size_t> read(char* to, std::size_t size, const Waiting&) override {
    const std::size_t part = std::min({size, step_, text_.size() - at_});
    std::memcpy(to, text_.data() + at_, part);
    at_ += part;
    return part;
  }
  [[nodiscard]] std::uint64_t consumed() const override { return at_; }
  [[nodiscard]] std::uint64_t total() const override { return text_.size(); }

 private:
  std::string text_;
  std::size_t step_;
  std::size_t at_ = 0;
};

struct Cut {
  std::vector<std::string> pieces;
  bool cut_off = false;
};

Cut cut(const std::string& text, std::size_t step, Chunks::Quotes quotes, ChunkSizes sizes) {
  Chunks chunks(std::make_unique<TextSource>(text, step), quotes, sizes);
  Cut out;
  for (Chunk chunk;;) {
    const auto got = chunks.next(chunk);
    REQUIRE(got);
    if (!*got) return out;
    REQUIRE(chunk.begin < chunk.end);
    REQUIRE(chunk.end[-1] == '\n');
    out.pieces.emplace_back(chunk.begin, chunk.end);
    out.cut_off = chunk.cut_off;
    chunks.recycle(std::move(chunk));
  }
}

std::string join(const std::vector<std::string>& pieces) {
  std::string out;
  for (const auto& piece : pieces) out += piece;
  return out;
}

}  // namespace

TEST_CASE("chunks: pieces hold whole rows, and together the whole text", "[data][chunks]") {
  Rng rng(5);
  for (int round = 0; round < 300; ++round) {
    std::string text;
    const std::uint64_t size = rng.below(600);
    while (text.size() < size) text += "ab,\"\n\r"[rng.below(6)];
    const auto quotes = rng.below(2) == 0 ? Chunks::Quotes::kRespect : Chunks::Quotes::kIgnore;
    const ChunkSizes sizes{1 + rng.below(90), 100000};
    const Cut whole = cut(text, 1000000, quotes, sizes);
    CHECK(cut(text, 1 + rng.below(20), quotes, sizes).pieces == whole.pieces);  // cut by the text alone
    CHECK_FALSE(whole.cut_off);
    std::string expected = text;
    if (!text.empty() && text.back() != '\n') expected += '\n';
    CHECK(join(whole.pieces) == expected);
    if (quotes == Chunks::Quotes::kIgnore) continue;
    for (std::size_t i = 0; i + 1 < whole.pieces.size(); ++i) {
      CHECK(std::count(whole.pieces[i].begin(), whole.pieces[i].end(), '"') % 2 == 0);
    }
  }
}

TEST_CASE("chunks: pieces are about as large as asked", "[data][chunks]") {
  std::string text;
  for (int i = 0; i < 1000; ++i) text += "0123456\n";
  for (const auto& piece : cut(text, 100, Chunks::Quotes::kRespect, {100, 1000}).pieces)
    CHECK(piece.size() <= 100);
  CHECK(cut(text, 100, Chunks::Quotes::kRespect, {100, 1000}).pieces.size() == 84);
}

TEST_CASE("chunks: a row beyond the limit is cut off and nothing follows", "[data][chunks][badargs]") {
  for (const std::string& text :
       {"a\n" + std::string(5000, 'x') + "\nb\n", "a\n\"" + std::string(900, '\n') + "\"\n"}) {
    const Cut out = cut(text, 1000, Chunks::Quotes::kRespect, {64, 512});
    CHECK(out.cut_off);
    CHECK(out.pieces.size() == 2);
    CHECK(out.pieces[1].size() <= 513);
  }
}
