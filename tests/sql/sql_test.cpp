// Runs the SQL of the guide in real databases and compares the means with the sums of the rows.
#include <fmt/format.h>
#include <sys/wait.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <cstdlib>
#include <fstream>
#include <sstream>

#include "bagwise/bags/bag_means.h"
#include "bagwise/bags/reduce_table.h"
#include "bagwise/core/random.h"
#include "support/temp_dir.h"

namespace bagwise::test {
namespace {

std::string read_text(const std::string& path) {
  std::ostringstream out;
  out << std::ifstream(path).rdbuf();
  return out.str();
}

// The block of the guide that begins with ```sql NAME.
std::string sql_block(const std::string& name) {
  const std::string guide = read_text(BAGWISE_SQL_GUIDE), fence = "```sql " + name + "\n";
  const std::size_t from = guide.find(fence);
  REQUIRE(from != std::string::npos);
  const std::size_t start = from + fence.size();
  return guide.substr(start, guide.find("```", start) - start);
}

int run(const std::string& command) {
  const int status = std::system(command.c_str());
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128;
}

bool has(const std::string& program) { return run("command -v " + program + " >/dev/null 2>&1") == 0; }

// A table of rows as CSV, and the same as statements that put it into a database.
struct Rows {
  std::string csv = "bag,proportion,delta,age,income,colour\n", inserts;
};

Rows random_rows() {
  Rng rng(11);
  Rows out;
  for (int bag = 0; bag < 7; ++bag) {
    out.inserts += fmt::format("INSERT INTO proportions VALUES ('bag {}', {});\n", bag, bag / 8.0);
  }
  const std::string colours[] = {"red", "blue"};
  for (int i = 0; i < 700; ++i) {
    const auto bag = rng.below(7);
    const std::string& colour = colours[rng.below(2)];
    const double age = 1e6 + rng.normal(), delta = rng.uniform();
    const std::string income = rng.below(5) == 0 ? "" : fmt::format("{}", 1e4 * rng.normal());
    out.csv += fmt::format("bag {},{},{},{},{},{}\n", bag, static_cast<double>(bag) / 8.0, delta, age, income,
                           colour);
    out.inserts += fmt::format("INSERT INTO instances VALUES ('bag {}', {}, {}, '{}', {});\n", bag, age,
                               income.empty() ? "NULL" : income, colour, delta);
  }
  return out;
}

// means.csv in the folder against rows.csv there.
void check_means(const TempDir& dir) {
  const auto rows = reduce_table(dir.file("rows.csv"), {.one_hot = {"colour"}, .missing = Missing::kZero});
  if (!rows) FAIL(rows.error().text());
  auto read = read_bag_means(dir.file("means.csv"));
  if (!read) FAIL(read.error().text());
  auto means = std::move(*read).aligned(rows->schema.feature_names);
  if (!means) FAIL(means.error().text());
  CHECK(means->rows == rows->rows);
  REQUIRE(means->names.size() == rows->names.size());
  for (std::size_t k = 0; k < rows->names.size(); ++k) {
    const auto at = std::find(means->names.begin(), means->names.end(), rows->names[k]);
    REQUIRE(at != means->names.end());
    const auto i = static_cast<std::size_t>(at - means->names.begin());
    CHECK(means->sums.count(i) == rows->sums.count(k));
    CHECK(means->shares[i] == rows->shares[k]);
    CHECK(means->sums.bound_sum(i) == Approx(rows->sums.bound_sum(k)).epsilon(1e-12));
    for (std::size_t j = 0; j < rows->sums.features(); ++j) {
      INFO(rows->schema.feature_names[j]);
      // The sums of incomes nearly cancel: their error is relative to what was added.
      const double size = static_cast<double>(rows->sums.count(k)) * 1e4;
      CHECK(std::abs(means->sums.sum(i, j) - rows->sums.sum(k, j)) <=
            1e-12 * std::max(std::abs(rows->sums.sum(k, j)), size));
    }
  }
}

void write_files(const TempDir& dir) {
  const Rows rows = random_rows();
  std::ofstream(dir.file("rows.csv")) << rows.csv;
  std::ofstream(dir.file("fill.sql")) << sql_block("setup") << "BEGIN;\n" << rows.inserts << "COMMIT;\n";
  std::ofstream(dir.file("means.sql")) << sql_block("means");
}

TEST_CASE("sql: the query of the guide in SQLite gives the sums of the rows", "[sql]") {
  if (!has("sqlite3")) {
    WARN("left out: there is no sqlite3");
    return;
  }
  const TempDir dir;
  write_files(dir);
  REQUIRE(run(fmt::format("cd '{}' && sqlite3 rows.db < fill.sql && "
                          "sqlite3 -header -csv rows.db < means.sql > means.csv",
                          dir.file(""))) == 0);
  check_means(dir);
}

// A server of its own in the folder, reached by a socket in it. It refuses to run as root: then it is
// postgres'.
constexpr const char* kPostgres = R"sh(
set -u
cd "$1"
bin=$(ls -d /usr/lib/postgresql/*/bin 2>/dev/null | sort -V | tail -1)
[ -x "$bin/initdb" ] || exit 77
as() { "$@"; }
if [ "$(id -u)" = 0 ]; then
  id postgres >/dev/null 2>&1 && command -v runuser >/dev/null || exit 77
  as() { runuser -u postgres -- "$@"; }
  chmod 755 . && mkdir server && chown postgres server || exit 77
else
  mkdir server
fi
as "$bin/initdb" -D server/data -A trust -E UTF8 --locale C -N >log 2>&1 || exit 77
trap 'as "$bin/pg_ctl" -D server/data -m immediate stop >>log 2>&1' EXIT
as "$bin/pg_ctl" -D server/data -w -t 60 -l server/log \
  -o "-k $PWD/server -c listen_addresses='' -c fsync=off" start >>log 2>&1 || exit 77
sql() { as "$bin/psql" -h "$PWD/server" -v ON_ERROR_STOP=1 -X -q "$@" postgres; }
sql < fill.sql && sql --csv < means.sql > means.csv
)sh";

TEST_CASE("sql: the query of the guide in PostgreSQL gives the sums of the rows", "[sql]") {
  const TempDir dir;
  write_files(dir);
  std::ofstream(dir.file("run.sh")) << kPostgres;
  const int status = run(fmt::format("bash '{}' '{}'", dir.file("run.sh"), dir.file("")));
  if (status == 77) {
    WARN("left out: no PostgreSQL server can be started here");
    return;
  }
  REQUIRE(status == 0);
  check_means(dir);
}

}  // namespace
}  // namespace bagwise::test
