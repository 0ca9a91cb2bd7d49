// Training from several files, from rows read again, from sums of bags and from their means.
#include <fmt/format.h>

#include <catch2/catch.hpp>
#include <map>
#include <nlohmann/json.hpp>

#include "cli/split_target.h"

namespace bagwise::test {
namespace {

using Catch::Matchers::Contains;

// One row per bag: bag,size,the means of the features[,proportion]; all to 17 digits.
std::string means_of(const std::string& table, const std::string& proportions, bool with_share) {
  const auto lines = split(table, '\n');
  std::map<std::string, std::vector<double>> sums;
  std::map<std::string, double> size;
  for (std::size_t i = 1; i < lines.size(); ++i) {
    const auto cells = split(lines[i], ',');
    auto& sum = sums[cells[0]];
    sum.resize(cells.size() - 1, 0.0);
    for (std::size_t j = 1; j < cells.size(); ++j) sum[j - 1] += std::stod(cells[j]);
    size[cells[0]] += 1;
  }
  std::map<std::string, std::string> share;
  for (const std::string& line : split(proportions, '\n')) share[split(line, ',')[0]] = split(line, ',')[1];
  std::string out = "bag,size";
  const auto names = split(lines[0], ',');
  for (std::size_t j = 1; j < names.size(); ++j) out += "," + names[j];
  out += with_share ? ",proportion\n" : "\n";
  for (const auto& [bag, sum] : sums) {
    out += fmt::format("{},{}", bag, size[bag]);
    for (const double value : sum) out += fmt::format(",{:.17g}", value / size[bag]);
    out += with_share ? fmt::format(",{}\n", share[bag]) : "\n";
  }
  return out;
}

}  // namespace

TEST_CASE("train: several files and a pattern are one table", "[cli][train][files]") {
  const SplitTarget place;
  said(place, kInvCal + "--target t.csv -o m.json");
  said(place, kInvCal + "--target parts/0.csv --target parts/1.csv --target parts/2.csv -o several.json");
  said(place, kInvCal + "--target parts/*.csv -o pattern.json");
  check_same_model(model_in(place), model_in(place, "several.json"), 1e-12);
  check_same_model(model_in(place), model_in(place, "pattern.json"), 1e-12);
  CHECK_THAT(refused(place, kInvCal + "--target none/*.csv -o m.json"), Contains("none/*.csv"));
  CHECK_THAT(refused(place, kInvCal + "--target t.csv --target t.csv -o m.json"), Contains("t.csv"));
  CHECK_THAT(refused(place, kInvCal + "--target parts/*.csv -o parts/1.csv"), Contains("parts/1.csv"));
}

TEST_CASE("predict: several files and a pattern are one table", "[cli][predict][files]") {
  const SplitTarget place;
  said(place, kInvCal + "--target t.csv -o m.json");
  std::string together;
  for (int part = 0; part < 3; ++part) {
    const auto lines = split(place.read(fmt::format("parts/{}.csv", part)), '\n');
    for (std::size_t i = part == 0 ? 0 : 1; i < lines.size(); ++i) together += lines[i] + "\n";
  }
  place.write("together.csv", together);
  const std::string predict = "predict --model m.json --quiet ";
  const std::string one = said(place, predict + "--input together.csv");
  CHECK(said(place, predict + "--input parts/*.csv") == one);
  CHECK(said(place, predict + "--input parts/0.csv --input parts/1.csv --input parts/2.csv") == one);
  CHECK(said(place, predict + "--input parts/*.csv --proportions p.csv") ==
        said(place, predict + "--input together.csv --proportions p.csv"));
  const std::string before = place.read("parts/1.csv");
  CHECK_THAT(refused(place, predict + "--input parts/*.csv -o parts/1.csv"), Contains("parts/1.csv"));
  CHECK(place.read("parts/1.csv") == before);
  CHECK_THAT(refused(place, predict + "--input none/*.csv"), Contains("none/*.csv"));
}

TEST_CASE("reduce: several files, packed or not, give the sums of one", "[cli][reduce]") {
  const SplitTarget place;
  REQUIRE(place.shell("gzip -k parts/1.csv").status == 0);
  const json one = told(place, "reduce t.csv -o one.sums");
  CHECK(one["rows"] == 96);
  CHECK(one["bags"] == 12);
  CHECK(one["features"] == 6);
  CHECK(one["proportions"] == false);
  CHECK(one["moments"] == true);
  CHECK(one["output"] == "one.sums");
  const json several =
      told(place, "reduce parts/0.csv parts/1.csv.gz parts/2.csv -o several.sums --moments off");
  CHECK(several["rows"] == 96);
  CHECK(several["bags"] == 12);
  CHECK(several["moments"] == false);
  CHECK(told(place, "reduce parts/*.csv -o pattern.sums")["rows"] == 96);
  for (const char* sums : {"one", "several", "pattern"})
    said(place, fmt::format("{}--target-sums {}.sums -o {}.json", kInvCal, sums, sums));
  check_same_model(model_in(place, "one.json"), model_in(place, "several.json"), 1e-12);
  check_same_model(model_in(place, "one.json"), model_in(place, "pattern.json"), 1e-12);
  said(place, kInvCal + "--target-sums pattern.sums --scale standard -o scaled.json");
  CHECK_THAT(refused(place, kInvCal + "--target-sums several.sums --scale standard -o scaled.json"),
             Contains("moments"));
}

TEST_CASE("reduce: what cannot be done is refused and leaves the input alone", "[cli][reduce]") {
  const SplitTarget place;
  const std::string before = place.read("t.csv");
  CHECK_THAT(refused(place, "reduce t.csv -o x.sums --missing mean"), Contains("--missing mean"));
  CHECK_THAT(refused(place, "reduce parts/*.csv t.csv -o t.csv"), Contains("t.csv"));
  CHECK_THAT(refused(place, "reduce t.csv none.csv -o x.sums"), Contains("none.csv"));
  CHECK(place.read("t.csv") == before);
  CHECK_FALSE(place.has("x.sums"));
}

TEST_CASE("inspect: a file of sums tells what it holds", "[cli][inspect][sums]") {
  const Workplace place({{"t.csv", "bag,x,proportion,colour\na,1,0.5,red\na,2,0.5,blue\nb,3,1,red\n"},
                         {"t.svm", "0 qid:a 1:1 7:2\n0 qid:b 2:1\n"}});
  said(place, "reduce t.csv --one-hot colour -o csv.sums --quiet");
  said(place, "reduce t.svm --moments off -o svm.sums --quiet");
  const json dense = told(place, "inspect csv.sums"), sparse = told(place, "inspect svm.sums");
  CHECK(dense == json({{"kind", "sums"},
                       {"rows", 3},
                       {"bags", 2},
                       {"features", 3},
                       {"sparse", false},
                       {"proportions", true},
                       {"deltas", false},
                       {"moments", true},
                       {"one_hot", {"colour"}}}));
  CHECK(sparse["rows"] == 2);
  CHECK(sparse["features"] == 7);
  CHECK(sparse["sparse"] == true);
  CHECK(sparse["proportions"] == false);
  CHECK(sparse["moments"] == false);
  const std::string text = said(place, "inspect svm.sums");
  CHECK_THAT(text, Contains("svm.sums: sums per bag") && Contains("features      7, of a sparse table") &&
                       Contains("proportions   no") && Contains("moments       no"));
  const std::string whole = place.read("csv.sums");
  place.write("csv.sums", whole.substr(0, whole.size() - 1));
  CHECK_THAT(refused(place, "inspect csv.sums"), Contains("csv.sums: is damaged"));
}

TEST_CASE("train: merged sums give the model of the rows, in any order", "[cli][train][sums]") {
  const SplitTarget place;
  place.reduce_parts();
  for (const char* options : {"", "--scale standard "}) {
    const std::string train = kInvCal + options;
    said(place, train + "--target t.csv -o m.json");
    said(place, train + "--target-sums parts/*.sums -o sums.json");
    check_same_model(model_in(place), model_in(place, "sums.json"), 1e-12);
    for (const char* order : {"021", "102", "210"}) {
      std::string command = train;
      for (const char part : std::string(order)) command += fmt::format("--target-sums parts/{}.sums ", part);
      said(place, command + "-o other.json");
      CHECK(place.read("other.json") == place.read("sums.json"));
    }
  }
}

TEST_CASE("train: sums that cannot be used are refused and named", "[cli][train][sums]") {
  const SplitTarget place;
  place.reduce_parts();
  CHECK_THAT(refused(place, kInvCal + "--target t.csv --target-sums parts/*.sums -o m.json"),
             Contains("--target and --target-sums"));
  CHECK_THAT(refused(place,
                     "train --method mean-map --target-sums parts/*.sums --target-proportions p.csv "
                     "-o m.json"),
             Contains("need the rows"));
  CHECK_THAT(refused(place, kTlLlp + "--uncertainty literal --target-sums parts/*.sums -o m.json"),
             Contains("need the rows"));
  const std::string whole = place.read("parts/1.sums");
  std::string flipped = whole;
  flipped[whole.size() / 2] = static_cast<char>(flipped[whole.size() / 2] ^ 1);
  for (const std::string& damaged : {flipped, whole.substr(0, whole.size() - 9), std::string("x")}) {
    place.write("parts/1.sums", damaged);
    CHECK_THAT(refused(place, kInvCal + "--target-sums parts/*.sums -o m.json"), Contains("parts/1.sums"));
  }
  CHECK_FALSE(place.has("m.json"));
}

TEST_CASE("train: a source as sums gives the model of its rows", "[cli][train][sums]") {
  const SplitTarget place;
  place.reduce_parts();
  said(place, "reduce s.csv -o s.sums --quiet");
  place.write("s-means.csv", means_of(place.read("s.csv"), place.read("q.csv"), false));
  said(place, kTlLlp + "--target t.csv --source s.csv --source-proportions q.csv -o m.json");
  said(place,
       kTlLlp + "--target-sums parts/*.sums --source-sums s.sums --source-proportions q.csv -o sums.json");
  said(place, kTlLlp + "--target t.csv --source-means s-means.csv --source-proportions q.csv -o means.json");
  check_same_model(model_in(place), model_in(place, "sums.json"), 1e-12);
  check_same_model(model_in(place), model_in(place, "means.json"), 1e-9);
}

TEST_CASE("train: means of bags give the model of the rows", "[cli][train][means]") {
  const SplitTarget place;
  const std::string rows = place.read("t.csv"), shares = place.read("p.csv");
  place.write("means.csv", means_of(rows, shares, false));
  place.write("shares.csv", means_of(rows, shares, true));
  said(place, kInvCal + "--target t.csv -o m.json");
  said(place, kInvCal + "--bag-means means.csv -o means.json");
  said(place, "train --method inv-cal --bag-means shares.csv -o shares.json --quiet");
  check_same_model(model_in(place), model_in(place, "means.json"), 1e-9);
  check_same_model(model_in(place), model_in(place, "shares.json"), 1e-9);
  CHECK(model_in(place, "shares.json")["training"]["instances"] == 96);
  CHECK_THAT(refused(place, kInvCal + "--bag-means t.csv -o m.json"),
             Contains("t.csv:1") && Contains("size"));
}

TEST_CASE("rows: streaming them again for every pass changes nothing", "[cli][train][rows]") {
  const SplitTarget place;
  for (const std::string method : {"mean-map", "tl-llp --uncertainty literal"}) {
    const std::string train = fmt::format("train --method {} --target-proportions p.csv --quiet ", method);
    said(place, train + "--target t.csv --rows memory -o memory.json");
    said(place, train + "--target t.csv --rows stream -o stream.json");
    said(place, train + "--target parts/*.csv --rows stream -o parts.json");
    check_same_model(model_in(place, "memory.json"), model_in(place, "stream.json"), 1e-9, 1e-7);
    check_same_model(model_in(place, "memory.json"), model_in(place, "parts.json"), 1e-9, 1e-7);
  }
}

}  // namespace bagwise::test

namespace bagwise::test {

TEST_CASE("train: scaling without moments is refused, with sources as well", "[cli][train][sums]") {
  const SplitTarget place;
  place.write("means.csv", means_of(place.read("t.csv"), place.read("p.csv"), true));
  said(place, "reduce t.csv -o none.sums --moments off --quiet");
  const std::string train =
      "train --method tl-llp --scale standard --quiet -o m.json --target-proportions p.csv ";
  for (const char* tasks :
       {"--target t.csv --source-means means.csv", "--target t.csv --source-sums none.sums",
        "--target-sums none.sums --source t.csv --source-proportions p.csv"}) {
    CAPTURE(tasks);
    const std::string shares =
        std::string(tasks).find("source-sums") != std::string::npos ? " --source-proportions p.csv" : "";
    CHECK_THAT(refused(place, train + tasks + shares), Contains("scaling needs the moments"));
  }
  CHECK_FALSE(place.has("m.json"));
}

TEST_CASE("train: features are chosen from sums as from rows", "[cli][train][sums]") {
  const SplitTarget place;
  said(place, "reduce t.csv -o t.sums --quiet");
  const auto names = split(split(place.read("t.csv"), '\n')[0], ',');
  const std::string first = names[1], last = names.back();
  const std::string sums = kInvCal + "--scale standard --target-sums t.sums -o s.json ";
  const std::string rows = kInvCal + "--scale standard --target t.csv -o m.json ";
  for (const std::string& choice : {"--exclude " + first, "--features " + last + "," + first}) {
    said(place, rows + choice);
    said(place, sums + choice);
    check_same_model(model_in(place), model_in(place, "s.json"), 1e-12);
  }
  CHECK_THAT(refused(place, sums + "--exclude nothing"), Contains("t.sums") && Contains("\"nothing\""));
  CHECK_THAT(refused(place, sums + "--features nothing"), Contains("t.sums") && Contains("\"nothing\""));
  for (const char* about_rows : {"--one-hot x", "--delta-column x", "--missing zero"})
    CHECK_THAT(refused(place, sums + about_rows), Contains("bagwise reduce takes it"));
  CHECK_THAT(refused(place, sums + "--missing mean"), Contains("--missing mean"));
}

TEST_CASE("train: how empty cells and texts were summed goes into the model", "[cli][train][sums]") {
  const SplitTarget place;
  place.write("e.csv", "bag,x,c\na,1,u\na,,v\nb,3,u\nb,5,v\n");
  place.write("q.csv", "bag,proportion\na,0.25\nb,1\n");
  said(place, "reduce e.csv --missing zero --one-hot c -o e.sums --quiet");
  said(place, "train --method inv-cal --target-sums e.sums --target-proportions q.csv -o m.json --quiet");
  CHECK(model_in(place)["missing"] == "zero");
  CHECK_THAT(said(place, "predict --model m.json --input e.csv --quiet"), Contains("4,"));
}

TEST_CASE("train: bags of more rows than can be counted are refused", "[cli][train][sums]") {
  const SplitTarget place;
  place.write("means.csv",
              "bag,size,x,proportion\na,9007199254740992,1,0\na,9007199254740992,1,0\nb,2,2,0.5\n");
  CHECK_THAT(refused(place, "train --method inv-cal --bag-means means.csv -o m.json"),
             Contains("means.csv:3: column 2 (size): the sizes add up"));
}

TEST_CASE("predict: ids in some files only are refused", "[cli][predict][files]") {
  const SplitTarget place;
  place.write("train.csv", "bag,x,proportion\na,1,0\na,2,0\nb,3,0.5\nb,4,0.5\n");
  said(place, "train --method inv-cal --target train.csv -o m.json --quiet");
  place.write("plain.csv", "x\n1\n2\n");
  place.write("named.csv", "id,x\nq,1\nr,2\n");
  const std::string predict = "predict --model m.json ";
  CHECK_THAT(refused(place, predict + "--input plain.csv --input named.csv"), Contains("named.csv: has ids"));
  CHECK_THAT(refused(place, predict + "--input named.csv --input plain.csv"),
             Contains("plain.csv: has no ids"));
  CHECK_THAT(refused(place, predict + "--input plain.csv named.csv"), Contains("a pattern is in quotes"));
}

}  // namespace bagwise::test
