// bagwise convert: a table as a binary one, for later runs.
#include <fmt/format.h>

#include "bagwise/data/binary_table.h"
#include "bagwise/data/table_source.h"
#include "bagwise/report/table.h"
#include "bagwise/report/training_json.h"
#include "cli/command.h"
#include "cli/output.h"
#include "cli/progress.h"
#include "cli/table_arguments.h"

namespace bagwise::cli {
namespace {

Result<int> run_convert(const Arguments& arguments) {
  const std::string out = arguments.text("out");
  auto source = find_tables(arguments.texts("table"));
  if (!source) return source.error();
  std::vector<std::string> inputs;
  for (const TablePart& part : source->parts) inputs.push_back(part.path);
  if (auto checked = check_outputs({out}, inputs); !checked) return checked.error();
  if (auto checked = check_json_output(arguments.flag("json"), out, "--out"); !checked)
    return checked.error();
  if (!out.ends_with(".bw")) {
    return Error{fmt::format("--out: \"{}\" does not end in .bw; expected the name of a binary table", out)};
  }
  ProgressBar bar(arguments.flag("quiet"));
  TableOptions table = table_options(arguments, true);
  table.block_bytes = kConvertBytes;
  auto done = convert_table(*source, out, table, bar.observer());
  if (!done) return done.error();
  const TableSchema& schema = done->schema;
  if (arguments.flag("json")) {
    print(to_text(Json{{"table", out},
                       {"rows", done->rows},
                       {"features", schema.feature_names.size()},
                       {"sparse", schema.sparse},
                       {"bags", schema.has_groups},
                       {"proportions", schema.has_shares},
                       {"deltas", schema.has_bounds},
                       {"labels", schema.has_labels},
                       {"ids", schema.has_ids},
                       {"blocks", done->blocks},
                       {"bytes", done->bytes}},
                  2) +
          "\n");
  } else if (!arguments.flag("quiet") && leaves_room_for_report(out)) {
    print(fmt::format("{}: {}, {}, {}\n", printable(out), count_of(done->rows, "row", "rows"),
                      count_of(schema.feature_names.size(), "feature", "features"),
                      count_of(done->blocks, "block", "blocks")));
  }
  return 0;
}

}  // namespace

Command convert_command() {
  std::vector<Option> options = {
      {.name = "table",
       .value = "TABLE",
       .help = "the files of the table; a pattern in quotes stands for all that match",
       .required = true,
       .repeatable = true,
       .positional = true},
      {.name = "out", .value = "FILE", .help = "the binary table, FILE.bw", .letter = 'o', .required = true},
      threads_option(),
      quiet_option(),
      json_option(),
  };
  append(options, feature_options());
  append(options, column_options());
  return {"convert",
          "make a binary table that later runs read at the speed of memory",
          "TABLE... -o table.bw [OPTION]...",
          "Columns get their meaning here: which are features, categories, bags and labels, and what empty "
          "cells\n"
          "are. Every command takes the binary table where it takes CSV. Each block of it has a checksum.",
          std::move(options),
          run_convert};
}

}  // namespace bagwise::cli
