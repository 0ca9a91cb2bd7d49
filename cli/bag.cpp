// bagwise bag: make bags and their proportions from labelled rows.
#include <fmt/format.h>

#include "bagwise/bags/deal.h"
#include "bagwise/bags/proportions.h"
#include "bagwise/bags/put_noise.h"
#include "bagwise/core/random.h"
#include "bagwise/data/read_table.h"
#include "bagwise/data/write_table.h"
#include "bagwise/report/table.h"
#include "bagwise/report/training_json.h"
#include "cli/command.h"
#include "cli/interrupt.h"
#include "cli/output.h"
#include "cli/progress.h"
#include "cli/table_arguments.h"

namespace bagwise::cli {
namespace {

Result<Dataset> read_labelled(const Arguments& arguments) {
  TableOptions table = table_options(arguments, true);
  table.want_labels = true;
  table.want_ids = true;
  const std::string input = arguments.text("input");
  ProgressBar bar(arguments.flag("quiet"));
  auto rows = read_table(input, table, bar.observer());
  if (!rows) return rows.error();
  if (rows->labels.empty()) {
    return Error{fmt::format("has no column \"{}\"; expected labels, 0/1 or -1/1", table.label_column),
                 input};
  }
  return rows;
}

Result<int> run_bag(const Arguments& arguments) {
  const std::string instances = arguments.text("out-instances"),
                    proportions = arguments.text("out-proportions");
  if (auto checked = check_outputs({instances, proportions}, {arguments.text("input")}); !checked) {
    return checked.error();
  }
  if (arguments.has("noise") && arguments.has("epsilon-dp"))
    return Error{"--noise and --epsilon-dp both put noise on the proportions; expected one of the two"};
  for (const char* option : {"out-instances", "out-proportions"}) {
    auto checked =
        check_json_output(arguments.flag("json"), arguments.text(option), fmt::format("--{}", option));
    if (!checked) return checked.error();
  }
  auto rows = read_labelled(arguments);
  if (!rows) return rows.error();
  Rng rng(arguments.whole("seed"));
  auto dealt = deal_bags(std::move(*rows), arguments.whole("size"), rng);
  if (!dealt) {
    Error error = dealt.error();
    if (error.file.empty()) error.file = arguments.text("input");
    return error;
  }
  Rng noise(arguments.whole("seed"), 1);  // the bags are the same with noise and without
  if (arguments.has("noise")) put_normal_noise(dealt->proportions, arguments.number("noise"), noise);
  if (arguments.has("epsilon-dp"))
    put_private_noise(dealt->proportions, arguments.number("epsilon-dp"), noise);
  dealt->instances.labels.clear();  // whatever happens, no label goes out beside its features
  if (interrupted() != 0) return 0;

  FileGroup files;
  if (auto written = write_table(instances, dealt->instances, &files); !written) return written.error();
  if (auto written = write_proportions(proportions, dealt->proportions, &files); !written)
    return written.error();
  if (auto published = files.publish(); !published) return published.error();
  const std::size_t count = dealt->instances.rows(), bags = dealt->proportions.bags.size();
  if (arguments.flag("json")) {
    print(to_text(Json{{"rows", count},
                       {"bags", bags},
                       {"size", arguments.whole("size")},
                       {"seed", arguments.whole("seed")},
                       {"instances", instances},
                       {"proportions", proportions}},
                  2) +
          "\n");
  } else if (!arguments.flag("quiet") && leaves_room_for_report(instances) &&
             leaves_room_for_report(proportions)) {
    print(fmt::format("{}: {} in {}, no labels\n{}: the share of positives of each bag\n",
                      printable(instances), count_of(count, "row", "rows"), count_of(bags, "bag", "bags"),
                      printable(proportions)));
  }
  return 0;
}

}  // namespace

Command bag_command() {
  std::vector<Option> options = {
      {.name = "input", .value = "FILE", .help = "the table of labelled rows", .required = true},
      {.name = "size",
       .value = "N",
       .help = "rows per bag; a last, smaller bag takes the rest",

       .kind = Kind::kWhole,
       .required = true,
       .least = 1},
      {.name = "out-instances",
       .value = "FILE",
       .help = "where the rows go, with a bag column and without labels",
       .required = true},
      {.name = "out-proportions",
       .value = "FILE",
       .help = "where the proportions go: bag,proportion,size, and stderr or epsilon_dp of noisy ones",
       .required = true},
      {.name = "noise",
       .value = "S",
       .help = "put a normal error of this standard deviation on each proportion, told in a column stderr",
       .shown = "none",
       .kind = Kind::kNumber},
      {.name = "epsilon-dp",
       .value = "E",
       .help = "make the counts E-differentially private (Laplace noise), told in a column epsilon_dp",
       .shown = "none",
       .kind = Kind::kNumber,
       .least = 1e-9},
      seed_option(),
      threads_option(),
      quiet_option(),
      json_option(),
  };
  append(options, feature_options());
  append(options, column_options());
  return {"bag",
          "make bags and their proportions from labelled rows",
          "--input labelled.csv --size 8 --out-instances I.csv --out-proportions P.csv [OPTION]...",
          "Deals the rows at random into bags. The rows stay in their order; the labels are left out. With "
          "noise the\n"
          "proportions may leave [0, 1]; training clips them.",
          std::move(options),
          run_bag};
}

}  // namespace bagwise::cli
