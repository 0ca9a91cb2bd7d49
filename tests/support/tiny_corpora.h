// Tiny corpora in the forms of 20 Newsgroups and Reuters-21578, made of nonsense, for tests.
#pragma once

#include <fmt/format.h>

#include <array>
#include <filesystem>
#include <fstream>
#include <map>
#include <string>
#include <vector>

#include "bagwise/core/random.h"

namespace bagwise::test {

using CorpusFiles = std::map<std::string, std::string>;  // from names to bytes

inline const std::vector<std::string> kGroups = {"alt.atheism",
                                                 "comp.graphics",
                                                 "comp.os.ms-windows.misc",
                                                 "comp.sys.ibm.pc.hardware",
                                                 "comp.sys.mac.hardware",
                                                 "comp.windows.x",
                                                 "misc.forsale",
                                                 "rec.autos",
                                                 "rec.motorcycles",
                                                 "rec.sport.baseball",
                                                 "rec.sport.hockey",
                                                 "sci.crypt",
                                                 "sci.electronics",
                                                 "sci.med",
                                                 "sci.space",
                                                 "soc.religion.christian",
                                                 "talk.politics.guns",
                                                 "talk.politics.mideast",
                                                 "talk.politics.misc",
                                                 "talk.religion.misc"};

// Words w0, w1, ..., the first the most frequent, a stop word now and then; `bias` shifts which are frequent.
inline std::string nonsense(Rng& rng, std::size_t words, std::uint64_t bias) {
  std::string out;
  for (std::size_t i = 0; i < words; ++i) {
    if (rng.below(5) == 0) out += rng.below(2) == 0 ? "the " : "Don't ";
    const std::uint64_t most = 1 + rng.below(40);
    out += fmt::format("w{}{}", (rng.below(most) + (rng.below(3) == 0 ? bias : 0)) % 60,
                       rng.below(8) == 0 ? ",\n" : " ");
  }
  return out;
}

inline std::string message(const std::string& group, const std::string& body) {
  return fmt::format("Newsgroups: {0}\nPath: a!b\nFrom: someone@{0}\nSubject: {0}\n about {0}\n\n{1}\n",
                     group, body);
}

// `messages` in every group. Some repeat an earlier one, of any group, byte for byte; some repeat but its
// body; some have no body.
inline CorpusFiles tiny_newsgroups(std::uint64_t seed, std::size_t messages) {
  Rng rng(seed);
  CorpusFiles out;
  std::vector<std::string> all, bodies;
  std::uint64_t bias = 0;
  for (const std::string& group : kGroups) {
    bias += 3;
    for (std::size_t i = 0; i < messages; ++i) {
      const std::uint64_t kind = rng.below(12);
      std::string body = nonsense(rng, 3 + rng.below(12), bias);
      if (kind == 0 && !bodies.empty()) body = bodies[rng.below(bodies.size())];
      if (kind == 1) body.clear();
      std::string bytes = message(group, body);
      if (kind == 2 && !all.empty()) bytes = all[rng.below(all.size())];
      all.push_back(bytes);
      bodies.push_back(body);
      out[fmt::format("{}/{}", group, 100 + i)] = std::move(bytes);
    }
  }
  return out;
}

// As TITLE and BODY stand in TEXT; without a body for a BRIEF, without a title either for an UNPROC.
struct ReutersText {
  std::string title, body;
  enum class Type { kNorm, kBrief, kUnproc } type = Type::kNorm;
};

inline std::string reuters_document(std::uint64_t id, const std::vector<std::string>& places,
                                    const std::vector<std::string>& people,
                                    const std::vector<std::string>& orgs, const ReutersText& text) {
  const auto element = [](const char* name, const std::vector<std::string>& values) {
    std::string out = fmt::format("<{}>", name);
    for (const std::string& value : values) out += fmt::format("<D>{}</D>", value);
    return out + fmt::format("</{}>\n", name);
  };
  std::string out = id % 2 == 0
                        ? fmt::format("<REUTERS TOPICS=\"NO\" OLDID=\"9{0}\" NEWID=\"{0}\">\n", id)
                        : fmt::format("<REUTERS NEWID=\"{0}\" LEWISSPLIT=\"TRAIN\"  OLDID=\"9{0}\">\n", id);
  out += "<DATE> 1-JAN-1987</DATE>\n" + element("TOPICS", {"tin"}) + element("PLACES", places) +
         element("PEOPLE", people) + element("ORGS", orgs) + "<UNKNOWN> \n&#5;&#22;C M</UNKNOWN>\n";
  switch (text.type) {
    case ReutersText::Type::kNorm:
      out += fmt::format(
          "<TEXT>&#2;\n<TITLE>{}</TITLE>\n<DATELINE>    NOWHERE, Jan 1 - </DATELINE><BODY>{}\n"
          "&#3;</BODY></TEXT>\n",
          text.title, text.body);
      break;
    case ReutersText::Type::kBrief:
      out += fmt::format(
          "<TEXT TYPE=\"BRIEF\">&#2;\n******<TITLE>{}</TITLE>\nBlah blah blah.\n&#3;\n\n</TEXT>\n",
          text.title);
      break;
    case ReutersText::Type::kUnproc:
      out += fmt::format("<TEXT TYPE=\"UNPROC\">&#2;\n{}\n&#3;</TEXT>\n", text.body);
      break;
  }
  return out + "</REUTERS>\n";
}

// `documents` in each of the 22 files; some repeat the text of an earlier one.
inline CorpusFiles tiny_reuters(std::uint64_t seed, std::size_t documents) {
  Rng rng(seed);
  CorpusFiles out;
  std::vector<ReutersText> texts;
  const auto values = [&](const char* tag, std::uint64_t chance) {
    std::vector<std::string> chosen;
    while (rng.below(100) < chance && chosen.size() < 3) {
      chosen.push_back(fmt::format("{}-{}", tag, rng.below(1 + rng.below(9))));
      chance /= 2;
    }
    return chosen;
  };
  std::uint64_t id = 1;
  for (int file = 0; file < 22; ++file) {
    std::string& bytes = out[fmt::format("reut2-{:03}.sgm", file)];
    bytes = "<!DOCTYPE lewis SYSTEM \"lewis.dtd\">\n";
    for (std::size_t i = 0; i < documents; ++i, ++id) {
      const std::uint64_t kind = rng.below(12);
      ReutersText text{nonsense(rng, 1 + rng.below(3), id % 7), nonsense(rng, 3 + rng.below(12), id % 11)};
      if (kind == 0 && !texts.empty()) text = texts[rng.below(texts.size())];
      if (kind == 1) text.type = ReutersText::Type::kBrief;
      if (kind == 2) text.type = ReutersText::Type::kUnproc;
      texts.push_back(text);
      bytes += reuters_document(id, values("place", 60), values("who", 30), values("org", 30), text);
    }
  }
  return out;
}

inline void write_corpus(const CorpusFiles& files, const std::filesystem::path& folder) {
  for (const auto& [name, bytes] : files) {
    std::filesystem::create_directories((folder / name).parent_path());
    std::ofstream out(folder / name, std::ios::binary);
    out.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  }
}

}  // namespace bagwise::test
