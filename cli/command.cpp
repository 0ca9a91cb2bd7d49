#include "cli/command.h"

namespace bagwise::cli {

const std::vector<Command>& commands() {
  static const std::vector<Command> kAll = {
      diagnose_command(), train_command(),      tune_command(),   predict_command(), evaluate_command(),
      inspect_command(),  generate_command(),   corpus_command(), bag_command(),     reduce_command(),
      convert_command(),  experiment_command(), report_command(), methods_command()};
  return kAll;
}

}  // namespace bagwise::cli
