// bagwise reduce: from rows to a file of sums per bag, which train merges with others of its kind.
#include <fmt/format.h>

#include "bagwise/bags/reduce_table.h"
#include "bagwise/bags/sums_file.h"
#include "bagwise/core/timing.h"
#include "bagwise/report/table.h"
#include "bagwise/report/training_json.h"
#include "cli/command.h"
#include "cli/interrupt.h"
#include "cli/output.h"
#include "cli/progress.h"
#include "cli/table_arguments.h"

namespace bagwise::cli {
namespace {

Result<int> run_reduce(const Arguments& arguments) {
  const Stopwatch watch;
  if (arguments.text("missing") == "mean") {
    return Error{
        "--missing mean: the mean over all shards is not known while one of them is reduced; expected error "
        "or zero, or train from the rows"};
  }
  const auto source = find_tables(arguments.texts("input"));
  if (!source) return source.error();
  std::vector<std::string> inputs;
  for (const TablePart& part : source->parts) inputs.push_back(part.path);
  const std::string output = arguments.text("output");
  if (output.ends_with(".gz") || output.ends_with(".zst")) {
    return Error{fmt::format(
        "-o: \"{}\" has the ending of a packed file; expected another, sums are not packed", output)};
  }
  if (auto checked = check_outputs({output}, inputs); !checked) return checked.error();
  if (auto checked = check_json_output(arguments.flag("json"), output, "-o"); !checked)
    return checked.error();
  TableOptions table = table_options(arguments, true);
  table.want_groups = true;
  auto sums = [&] {
    ProgressBar bar(arguments.flag("quiet"));
    return reduce_table(*source, table, {.moments = arguments.text("moments") == "on"}, bar.observer());
  }();
  if (!sums) return sums.error();
  if (interrupted() != 0) return 0;
  if (auto written = write_sums(output, *sums); !written) return written.error();
  if (arguments.flag("json")) {
    print(to_text(Json{{"rows", sums->rows},
                       {"bags", sums->names.size()},
                       {"features", sums->schema.feature_names.size()},
                       {"proportions", sums->schema.has_shares},
                       {"moments", !sums->moments.sum.empty()},
                       {"seconds", watch.seconds()},
                       {"peak_memory_bytes", peak_memory_bytes()},
                       {"output", output}},
                  2) +
          "\n");
  } else if (!arguments.flag("quiet") && leaves_room_for_report(output)) {
    print(fmt::format("{}: {} in {}, {}\n", printable(output), count_of(sums->rows, "row", "rows"),
                      count_of(sums->names.size(), "bag", "bags"),
                      count_of(sums->schema.feature_names.size(), "feature", "features")));
  }
  return 0;
}

}  // namespace

Command reduce_command() {
  std::vector<Option> options = {
      {.name = "input",
       .value = "FILE",
       .help = "the instances, one per row; several files or 'parts/*.csv.gz' are one table",
       .required = true,
       .repeatable = true,
       .positional = true},
      {.name = "output", .value = "FILE", .help = "where the sums go", .letter = 'o', .required = true},
      {.name = "moments",
       .value = "on|off",
       .help = "also sums of squares of every feature, which --scale of train needs",
       .fallback = "on",
       .kind = Kind::kChoice,
       .choices = {"on", "off"}},
      threads_option(),
      quiet_option(),
      json_option(),
  };
  append(options, feature_options());
  append(options, column_options());
  return {"reduce",
          "sum up the rows of each bag, for bagwise train --target-sums",
          "part.csv.gz -o part.sums [OPTION]...",
          "Reads the rows once, in blocks, on all cores, and keeps the sums per bag only. Files of sums are "
          "merged by\n"
          "train, any number of them in any order, and bags may be spread over them: so whatever can copy "
          "files can be\n"
          "the cluster. Labels are never read.",
          std::move(options),
          run_reduce};
}

}  // namespace bagwise::cli
