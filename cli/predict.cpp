// bagwise predict: a score, a probability and a label for every row of a table.
#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <iterator>

#include "bagwise/core/parallel.h"
#include "bagwise/data/write_table.h"
#include "bagwise/evaluate/matched_labels.h"
#include "bagwise/report/model_file.h"
#include "bagwise/report/table.h"
#include "bagwise/report/training_json.h"
#include "cli/bag_ledger.h"
#include "cli/interrupt.h"
#include "cli/output.h"
#include "cli/progress.h"
#include "cli/scoring.h"
#include "cli/table_arguments.h"

namespace bagwise::cli {
namespace {

struct Totals {
  std::uint64_t rows = 0, positives = 0;
};

// What prediction needs of a model, and where its labels come from.
struct Predictor {
  Scorer scorer;
  std::optional<double> threshold;  // on the probability; none: a score > 0 is positive

  [[nodiscard]] bool positive(double score) const {
    return threshold ? scorer.probability(score) > *threshold : score > 0;
  }
};

constexpr std::string_view kHeader = "id,score,probability,label\n";

void write_row(std::string& out, std::string_view id, double score, double probability, bool positive) {
  fmt::format_to(std::back_inserter(out), "{},{},{},{}\n", id, score, probability, positive ? 1 : 0);
}

std::string id_of(const Dataset& rows, std::size_t i, std::uint64_t first_row) {
  return rows.ids.empty() ? fmt::format("{}", first_row + i + 1) : csv_cell(rows.ids[i]);
}

// Writes the rows of one block, whose scores are `f`, as text: in fixed pieces on all threads.
std::string block_text(const TableBlock& block, const std::vector<double>& f, const Predictor& predictor,
                       unsigned threads, Totals& totals) {
  constexpr std::size_t kPiece = 4096;
  struct Piece {
    std::string text;
    std::uint64_t positives = 0;
  };
  std::vector<Piece> pieces((f.size() + kPiece - 1) / kPiece);
  parallel_for(pieces.size(), threads, [&](std::size_t p) {
    for (std::size_t i = p * kPiece; i < std::min((p + 1) * kPiece, f.size()); ++i) {
      const bool positive = predictor.positive(f[i]);
      write_row(pieces[p].text, id_of(block.rows, i, block.first_row), f[i],
                predictor.scorer.probability(f[i]), positive);
      pieces[p].positives += positive ? 1 : 0;
    }
  });
  std::string text;
  for (const Piece& piece : pieces) {
    text += piece.text;
    totals.positives += piece.positives;
  }
  totals.rows += f.size();
  return text;
}

// Block by block, in constant memory.
Result<Totals> predict_streaming(const std::string& input, const TableOptions& table,
                                 const Predictor& predictor, UnknownValues& unknown, Sink& sink,
                                 const Observer& observer) {
  Totals totals;
  const auto consume = [&](TableBlock&& block) -> Result<void> {
    const auto f = finite_scores(predictor.scorer, block, table.threads, input);
    if (!f) return f.error();
    unknown.count(block);
    // The heading goes out with the first rows: a table that cannot be read leaves nothing on standard
    // output.
    const std::string heading(totals.rows == 0 ? kHeader : "");
    return sink.write(heading + block_text(block, *f, predictor, table.threads, totals));
  };
  if (auto done = stream_table(input, table, consume, observer); !done) return done.error();
  return totals;
}

// Scores, names and bags of all rows are held until the last one is known; the features are not.
Result<Totals> predict_by_bag(const std::string& input, TableOptions table, const Predictor& predictor,
                              ProportionTable proportions, UnknownValues& unknown, Sink& sink,
                              const Observer& observer) {
  BagLedger ledger(std::move(proportions));
  std::vector<double> f;
  std::vector<std::uint32_t> bag_of_row;
  std::vector<std::string> ids;
  table.want_groups = true;
  const auto consume = [&](TableBlock&& block) -> Result<void> {
    auto bags = ledger.enter(block, input);
    if (!bags) return bags.error();
    bag_of_row.insert(bag_of_row.end(), bags->begin(), bags->end());
    const auto more = finite_scores(predictor.scorer, block, table.threads, input);
    if (!more) return more.error();
    unknown.count(block);
    f.insert(f.end(), more->begin(), more->end());
    std::move(block.rows.ids.begin(), block.rows.ids.end(), std::back_inserter(ids));
    return {};
  };
  if (auto done = stream_table(input, table, consume, observer); !done) return done.error();
  if (auto checked = ledger.check(input); !checked) return checked.error();

  const auto labels = matched_labels(f, bag_of_row, ledger.shares());
  std::string text(kHeader);
  for (std::size_t i = 0; i < f.size(); ++i) {
    write_row(text, ids.empty() ? fmt::format("{}", i + 1) : csv_cell(ids[i]), f[i],
              predictor.scorer.probability(f[i]), labels[i]);
    if (text.size() < (1 << 16) && i + 1 < f.size()) continue;
    if (auto written = sink.write(text); !written) return written.error();
    text.clear();
  }
  return Totals{f.size(), static_cast<std::uint64_t>(std::count(labels.begin(), labels.end(), true))};
}

Result<Totals> predict(const Arguments& arguments, const Model& model, const Predictor& predictor,
                       UnknownValues& unknown, Sink& sink) {
  TableOptions table = table_options(arguments, model);
  table.want_ids = true;
  // A bar would run through rows that go to the same terminal.
  ProgressBar bar(arguments.flag("quiet") || sink.is_standard_output());
  const std::string input = arguments.text("input");
  if (!arguments.has("proportions"))
    return predict_streaming(input, table, predictor, unknown, sink, bar.observer());
  auto proportions = read_proportions(arguments.text("proportions"), bar.observer());
  if (!proportions) return proportions.error();
  return predict_by_bag(input, table, predictor, std::move(*proportions), unknown, sink, bar.observer());
}

Result<int> run_predict(const Arguments& arguments) {
  const std::string output = arguments.text("output");
  const bool to_file = !is_standard_output(output);
  if (auto checked = check_json_output(arguments.flag("json"), output, "-o"); !checked)
    return checked.error();
  if (arguments.has("threshold") && arguments.has("proportions")) {
    return Error{"--threshold and --proportions both decide the labels; expected one of the two"};
  }
  const auto model = load_model(arguments.text("model"));
  if (!model) return model.error();
  const auto task = model->find_task(arguments.text("task"));
  if (!task) return Error{"--task: " + task.error().message};
  if (to_file) {
    auto checked = check_outputs(
        {output}, {arguments.text("model"), arguments.text("input"), arguments.text("proportions")});
    if (!checked) return checked.error();
  }
  auto sink = Sink::open(to_file ? output : "-");
  if (!sink) return sink.error();

  Predictor predictor{Scorer(*model, *task), {}};
  if (arguments.has("threshold")) predictor.threshold = arguments.number("threshold");
  UnknownValues unknown(*model);
  const auto totals = predict(arguments, *model, predictor, unknown, *sink);
  if (!totals) return at_prediction(totals.error());
  if (interrupted() != 0) return 0;
  if (auto closed = sink->close(); !closed) return closed.error();
  const auto remarks = unknown.remarks();
  if (!arguments.flag("json") && !arguments.flag("quiet")) {
    for (const std::string& remark : remarks)
      std::fputs(fmt::format("bagwise: {}\n", printable(remark)).c_str(), stderr);
  }
  if (arguments.flag("json")) {
    print(to_text(Json{{"rows", totals->rows},
                       {"positives", totals->positives},
                       {"output", output},
                       {"warnings", remarks}},
                  2) +
          "\n");
  } else if (!arguments.flag("quiet") && leaves_room_for_report(output)) {
    print(fmt::format("{}: {}, {} of them positive\n", printable(output),
                      count_of(totals->rows, "row", "rows"), totals->positives));
  }
  return 0;
}

}  // namespace

Command predict_command() {
  std::vector<Option> options = {
      {.name = "model", .value = "FILE", .help = "a model that bagwise train wrote", .required = true},
      {.name = "input",
       .value = "FILE",
       .help = "the table of rows; it needs the model's features, more columns do no harm",
       .required = true},
      {.name = "output",
       .value = "FILE",
       .help = "where the predictions go; - is standard output, .gz and .zst compress",
       .fallback = "-",
       .shown = "standard output",
       .letter = 'o'},
      {.name = "task",
       .value = "TASK",
       .help = "whose plane: target, source, a task's name, or its number from 1",
       .fallback = "target"},
      {.name = "align-features",
       .help = "take a feature of the model that the table lacks as 0 in every row",
       .kind = Kind::kFlag},
      {.name = "threshold",
       .value = "T",
       .help = "label 1 where the probability is above T",
       .shown = "label 1 where the score is above 0",
       .kind = Kind::kNumber,
       .least = 0,
       .most = 1},
      {.name = "proportions",
       .value = "FILE",
       .help = "the known share of positives of each bag: in a bag of n rows the round(share * n) highest "
               "scores get label 1, of equal scores the earlier rows. Scores and row names are then held in "
               "memory until the last row is read",
       .shown = "none"},
  };
  append(options, {threads_option(), quiet_option(), json_option()});
  append(options, column_options());
  return {"predict",
          "score and label the rows of a table",
          "--model model.json --input X.csv [-o out.csv] [OPTION]...",
          "Writes id,score,probability,label (label 0 or 1), one line per row in the order of the input, in "
          "constant\n"
          "memory. The file appears when it is complete.",
          std::move(options),
          run_predict};
}

}  // namespace bagwise::cli
