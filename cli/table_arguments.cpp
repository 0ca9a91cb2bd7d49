#include "cli/table_arguments.h"

#include <iterator>

#include "cli/choice.h"

namespace bagwise::cli {
namespace {

constexpr const char* kColumns = "Columns of the tables (CSV, or SVMlight with qid:BAG; .gz and .zst too)";
constexpr const char* kFeatures = "Features";

}  // namespace

std::vector<Option> column_options() {
  return {
      {.name = "bag-column",
       .value = "NAME",
       .help =
           "the column that names each row's bag; in a file of proportions that column is always called bag",
       .fallback = "bag",
       .group = kColumns},
      {.name = "label-column",
       .value = "NAME",
       .help = "the column of labels, 0/1 or -1/1; only evaluate and bag read it, it is never a feature",
       .fallback = "label",
       .group = kColumns},
      {.name = "proportion-column",
       .value = "NAME",
       .help = "a column with the share of positives of the row's bag, in place of a proportions file",
       .fallback = "proportion",
       .group = kColumns},
      {.name = "delta-column",
       .value = "NAME",
       .help = "a column with the bound of each row's error, for methods that take uncertain rows",
       .fallback = "delta",
       .group = kColumns},
      {.name = "id-column",
       .value = "NAME",
       .help = "the column that names the rows; without it they are called 1, 2, 3, ...",
       .fallback = "id",
       .group = kColumns},
  };
}

std::vector<Option> feature_options() {
  return {
      {.name = "features",
       .value = "A,B,...",
       .help = "only these columns are features",
       .shown = "every other column",
       .group = kFeatures,
       .repeatable = true},
      {.name = "exclude",
       .value = "A,B,...",
       .help = "these columns are no features",
       .shown = "none",
       .group = kFeatures,
       .repeatable = true},
      {.name = "one-hot",
       .value = "COLUMN",
       .help = "spread this column of text into 0/1 features, one per value; may be given several times",
       .shown = "none",
       .group = kFeatures,
       .repeatable = true},
      {.name = "missing",
       .value = "error|mean|zero",
       .help = "what an empty cell of a feature means: a fault, the column's mean, or 0",
       .fallback = "error",
       .group = kFeatures,
       .kind = Kind::kChoice,
       .choices = {"error", "mean", "zero"}},
  };
}

Option threads_option() {
  return {
      .name = "threads",
      .value = "N",
      .help = "how many threads to use, 0: one per core; the results are the same bits whatever their number",
      .fallback = "0",
      .shown = "one per core",
      .kind = Kind::kWhole,
      .most = 4096};
}

Option quiet_option() {
  return {.name = "quiet", .help = "no progress and no report, only errors", .kind = Kind::kFlag};
}

Option json_option() {
  return {.name = "json", .help = "print one JSON object in place of the text", .kind = Kind::kFlag};
}

Option seed_option() {
  return {.name = "seed",
          .value = "N",
          .help = "where the random numbers start; the same seed gives the same bits",
          .fallback = "1",
          .kind = Kind::kWhole};
}

void append(std::vector<Option>& to, std::vector<Option> more) {
  to.insert(to.end(), std::make_move_iterator(more.begin()), std::make_move_iterator(more.end()));
}

std::vector<std::string> split_names(const std::vector<std::string>& texts) {
  std::vector<std::string> out;
  for (const std::string& text : texts) {
    std::string name;
    bool quoted = false;
    for (std::size_t i = 0; i < text.size(); ++i) {
      const char c = text[i];
      if (c == '"' && quoted && i + 1 < text.size() && text[i + 1] == '"') {
        name += text[++i];
      } else if (c == '"' && (quoted || name.empty())) {
        quoted = !quoted;
      } else if (c == ',' && !quoted) {
        out.push_back(std::exchange(name, {}));
      } else {
        name += c;
      }
    }
    out.push_back(name);
  }
  return out;
}

TableOptions table_options(const Arguments& arguments, bool with_features) {
  TableOptions out;
  out.group_column = arguments.text("bag-column");
  out.label_column = arguments.text("label-column");
  out.share_column = arguments.text("proportion-column");
  out.bound_column = arguments.text("delta-column");
  out.id_column = arguments.text("id-column");
  out.threads = static_cast<unsigned>(arguments.whole("threads"));
  if (with_features) {
    out.features = split_names(arguments.texts("features"));
    out.exclude = split_names(arguments.texts("exclude"));
    out.one_hot = split_names(arguments.texts("one-hot"));
    out.missing = choice<Missing>(arguments.text("missing"));
  }
  return out;
}

TableOptions table_options(const Arguments& arguments, const Model& model) {
  TableOptions out = table_options(arguments, false);
  out.expected_features = model.features;
  out.absent_as_zero = arguments.flag("align-features");
  out.one_hot = model.one_hot;
  out.missing = choice<Missing>(model.missing);
  out.fill = model.fill;
  return out;
}

}  // namespace bagwise::cli
