// bagwise predict: a score, a probability and a label for every row of a table.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <iterator>
#include <optional>

#include "bagwise/comm/agree.h"
#include "bagwise/comm/packed.h"
#include "bagwise/core/parallel.h"
#include "bagwise/data/write_table.h"
#include "bagwise/evaluate/matched_labels.h"
#include "bagwise/report/model_file.h"
#include "bagwise/report/table.h"
#include "bagwise/report/training_json.h"
#include "cli/bag_ledger.h"
#include "cli/interrupt.h"
#include "cli/output.h"
#include "cli/part_file.h"
#include "cli/peek.h"
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

// Writes the rows of one block, whose scores are `f`, as text: in fixed pieces on all threads. Rows that have
// no names get their numbers, unless these are not known yet: then nothing.
std::string block_text(const TableBlock& block, const std::vector<double>& f, const Predictor& predictor,
                       unsigned threads, bool numbered, Totals& totals) {
  constexpr std::size_t kPiece = 4096;
  struct Piece {
    std::string text;
    std::uint64_t positives = 0;
  };
  std::vector<Piece> pieces((f.size() + kPiece - 1) / kPiece);
  parallel_for(pieces.size(), threads, [&](std::size_t p) {
    for (std::size_t i = p * kPiece; i < std::min((p + 1) * kPiece, f.size()); ++i) {
      const bool positive = predictor.positive(f[i]);
      const bool nameless = !numbered && block.rows.ids.empty();
      write_row(pieces[p].text, nameless ? "" : id_of(block.rows, i, block.first_row), f[i],
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
Result<Totals> predict_streaming(const TableSource& input, const TableOptions& table,
                                 const Predictor& predictor, UnknownValues& unknown, Sink& sink,
                                 const Observer& observer) {
  Totals totals;
  const auto consume = [&](TableBlock&& block) -> Result<void> {
    const auto f = finite_scores(predictor.scorer, block, table.threads, input.name());
    if (!f) return f.error();
    unknown.count(block);
    // The heading goes out with the first rows: a table that cannot be read leaves nothing on standard
    // output.
    const std::string heading(totals.rows == 0 ? kHeader : "");
    return sink.write(heading + block_text(block, *f, predictor, table.threads, true, totals));
  };
  if (auto done = stream_table(input, table, consume, observer); !done) return done.error();
  return totals;
}

// The share of the rows that is for this rank: rank 0's goes out at once, that of others to a file in wait.
struct RankPart {
  Totals totals;
  bool named = true;  // whether the rows bring their names
};

Result<RankPart> predict_share(const TableSource& input, const TableOptions& table,
                               const Predictor& predictor, Communicator& ranks, UnknownValues& unknown,
                               Sink* sink, PartFile* part, const Observer& observer) {
  RankPart out;
  const auto share = share_of(input, ranks.rank(), ranks.size());
  if (!share) return share.error();
  const auto consume = [&](TableBlock&& block) -> Result<void> {
    const auto f = finite_scores(predictor.scorer, block, table.threads, input.name());
    if (!f) return f.error();
    unknown.count(block);
    if (block.rows.ids.empty()) out.named = false;
    const bool first = sink != nullptr && out.totals.rows == 0;
    const std::string heading(first ? kHeader : "");
    const std::string text = block_text(block, *f, predictor, table.threads, sink != nullptr, out.totals);
    return sink != nullptr ? sink->write(heading + text) : part->write(text);
  };
  // Before the place is told: hints end a message.
  if (auto done = stream_table(*share, table, consume, observer); !done) return at_prediction(done.error());
  return out;
}

constexpr std::size_t kMessageBytes = 4 << 20;

// Before every line its number.
std::string with_numbers(const std::string& lines, std::uint64_t& before) {
  std::string out;
  out.reserve(lines.size() + lines.size() / 4);
  for (std::size_t from = 0; from < lines.size();) {
    const std::size_t end = lines.find('\n', from) + 1;
    fmt::format_to(std::back_inserter(out), "{}", ++before);
    out.append(lines, from, end - from);
    from = end;
  }
  return out;
}

std::string next_message(Communicator& ranks) {
  for (;;) {
    if (auto message = ranks.receive(std::chrono::milliseconds(1000))) return std::move(message->bytes);
  }
}

// The parts of all ranks, one behind the other, through rank 0, which asks for one message at a time: "" is
// the end of a part, and what a rank could not read is an error of its own.
Result<void> hand_over(Communicator& ranks, Sink* sink, PartFile* part, bool named, std::uint64_t before) {
  if (ranks.rank() != 0) {
    Result<void> read;
    while (next_message(ranks) == "more") {
      auto lines = read ? part->next_lines(kMessageBytes) : Result<std::string>("");
      if (!lines) read = lines.error();
      if (!lines || lines->empty())
        ranks.send(0, "");
      else
        ranks.send(0, named ? std::move(*lines) : with_numbers(*lines, before));
    }
    return read;
  }
  Result<void> written;
  for (int r = 1; r < ranks.size(); ++r) {
    while (written) {
      ranks.send(r, "more");
      const std::string lines = next_message(ranks);
      if (lines.empty()) break;
      written = sink->write(lines);
    }
    ranks.send(r, "enough");
  }
  return written;
}

Result<Totals> predict_over_ranks(const TableSource& input, const TableOptions& table,
                                  const Predictor& predictor, Communicator& ranks, UnknownValues& unknown,
                                  Sink* sink, const Observer& observer) {
  std::optional<PartFile> part;
  Result<void> ready;
  if (sink == nullptr) {
    auto created = PartFile::create();
    if (created)
      part.emplace(std::move(*created));
    else
      ready = created.error();
  }
  if (ready = agree(ranks, ready); !ready) return ready.error();
  PartFile* const own = part ? &*part : nullptr;
  const auto mine = agree(ranks, predict_share(input, table, predictor, ranks, unknown, sink, own, observer));
  if (!mine) return mine.error();
  unknown.add_up(ranks);
  Packing counts;
  counts.count(mine->totals.rows).count(mine->totals.positives).count(mine->named ? 1 : 0);
  Totals totals;
  std::uint64_t before = 0;
  bool named = true;
  int r = 0;
  for (const std::string& bytes : ranks.gather(counts.bytes())) {
    Unpacking in(bytes);
    if (r++ == ranks.rank()) before = totals.rows;
    totals.rows += in.count();
    totals.positives += in.count();
    named = in.count() == 1 && named;
  }
  if (totals.rows == 0) return Error{"has no rows; expected at least one", input.name()};
  // A first share without rows has written no heading.
  Result<void> begun;
  if (sink != nullptr && mine->totals.rows == 0 && totals.rows > 0) begun = sink->write(kHeader);
  if (begun = agree(ranks, begun); !begun) return begun.error();
  if (auto handed = agree(ranks, hand_over(ranks, sink, own, named, before)); !handed) return handed.error();
  return totals;
}

// Scores, names and bags of all rows are held until the last one is known; the features are not.
Result<Totals> predict_by_bag(const TableSource& input, TableOptions table, const Predictor& predictor,
                              ProportionTable proportions, UnknownValues& unknown, Sink& sink,
                              const Observer& observer) {
  BagLedger ledger(std::move(proportions));
  std::vector<double> f;
  std::vector<std::uint32_t> bag_of_row;
  std::vector<std::string> ids;
  table.want_groups = true;
  const auto consume = [&](TableBlock&& block) -> Result<void> {
    auto bags = ledger.enter(block, input.name());
    if (!bags) return bags.error();
    bag_of_row.insert(bag_of_row.end(), bags->begin(), bags->end());
    const auto more = finite_scores(predictor.scorer, block, table.threads, input.name());
    if (!more) return more.error();
    unknown.count(block);
    f.insert(f.end(), more->begin(), more->end());
    std::move(block.rows.ids.begin(), block.rows.ids.end(), std::back_inserter(ids));
    return {};
  };
  if (auto done = stream_table(input, table, consume, observer); !done) return done.error();
  if (auto checked = ledger.check(input.name()); !checked) return checked.error();

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

// Rows get their ids, or their numbers, but not some these and some those.
Result<void> check_ids(const TableSource& input, const TableOptions& table) {
  std::optional<bool> first;
  for (std::size_t i = 0; i < input.parts.size() && input.parts.size() > 1; ++i) {
    const auto schema = peek_schema(input.parts[i].path, table);
    if (!schema || schema->sparse) continue;
    if (!first) first = schema->has_ids;
    if (*first == schema->has_ids) continue;
    return Error{fmt::format("{} ids, but files before it {}; expected ids in all files or in none",
                             *first ? "has no" : "has", *first ? "have" : "have none"),
                 input.parts[i].path};
  }
  return {};
}

// `sink`: null on ranks other than 0.
Result<Totals> predict(const Arguments& arguments, const TableSource& input, const Model& model,
                       const Predictor& predictor, UnknownValues& unknown, Sink* sink) {
  TableOptions table = table_options(arguments, model);
  table.want_ids = true;
  if (auto checked = check_ids(input, table); !checked) return checked.error();
  // A bar would run through rows that go to the same terminal.
  ProgressBar bar(arguments.flag("quiet") || silent() || sink == nullptr || sink->is_standard_output());
  if (Communicator* const ranks = arguments.comm(); ranks != nullptr && !arguments.has("proportions"))
    return predict_over_ranks(input, table, predictor, *ranks, unknown, sink, bar.observer());
  if (!arguments.has("proportions"))
    return predict_streaming(input, table, predictor, unknown, *sink, bar.observer());
  auto proportions = read_proportions(arguments.text("proportions"), bar.observer());
  if (!proportions) return proportions.error();
  return predict_by_bag(input, table, predictor, std::move(*proportions), unknown, *sink, bar.observer());
}

Result<int> run_predict(const Arguments& arguments) {
  Communicator* const ranks = arguments.comm();
  const bool writes = ranks == nullptr || ranks->rank() == 0;
  // Labels by proportions need all scores of a bag in one place: rank 0 works alone.
  if (!writes && arguments.has("proportions")) return 0;
  const auto agreed_on = [&](const Result<void>& mine) {
    return ranks != nullptr && !arguments.has("proportions") ? agree(*ranks, mine) : mine;
  };
  const std::string output = arguments.text("output");
  const bool to_file = !is_standard_output(output);
  if (auto checked = check_json_output(arguments.flag("json"), output, "-o"); !checked)
    return checked.error();
  if (arguments.has("threshold") && arguments.has("proportions")) {
    return Error{"--threshold and --proportions both decide the labels; expected one of the two"};
  }
  const auto model = load_model(arguments.text("model"));
  if (auto loaded = agreed_on(model ? Result<void>() : Result<void>(model.error())); !loaded)
    return loaded.error();
  const auto input = find_tables(arguments.texts("input"));
  if (auto found = agreed_on(input ? Result<void>() : Result<void>(input.error())); !found)
    return found.error();
  const auto task = model->find_task(arguments.text("task"));
  if (!task) return Error{"--task: " + task.error().message};
  std::optional<Sink> sink;
  const auto open_sink = [&]() -> Result<void> {
    if (to_file) {
      std::vector<std::string> inputs = {arguments.text("model"), arguments.text("proportions")};
      for (const TablePart& part : input->parts) inputs.push_back(part.path);
      if (auto checked = check_outputs({output}, inputs); !checked) return checked;
    }
    auto opened = Sink::open(to_file ? output : "-");
    if (!opened) return opened.error();
    sink.emplace(std::move(*opened));
    return {};
  };
  if (auto opened = agreed_on(writes ? open_sink() : Result<void>()); !opened) return opened.error();

  Predictor predictor{Scorer(*model, *task), {}};
  if (arguments.has("threshold")) predictor.threshold = arguments.number("threshold");
  UnknownValues unknown(*model);
  const auto totals = predict(arguments, *input, *model, predictor, unknown, sink ? &*sink : nullptr);
  if (!totals) return at_prediction(totals.error());
  if (interrupted() != 0) return 0;
  if (auto closed = agreed_on(sink ? sink->close() : Result<void>()); !closed) return closed.error();
  const auto remarks = unknown.remarks();
  if (!arguments.flag("json") && !arguments.flag("quiet")) {
    for (const std::string& text : remarks) remark(fmt::format("bagwise: {}\n", printable(text)));
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
       .help = "the rows; they need the model's features, more columns do no harm; several files or "
               "'parts/*.csv' are one table",
       .required = true,
       .repeatable = true},
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
          run_predict,
          true};
}

}  // namespace bagwise::cli
