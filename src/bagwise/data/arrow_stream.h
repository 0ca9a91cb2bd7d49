// Reading tables in memory from any program that gives them by the Arrow C stream interface.
//
// The structures are the interface's own, as its specification lays them down, under the guards it asks for:
// they go beside those of Arrow's header, and no Arrow library is needed. Files are read in read_table.h.
#pragma once

#include <cstdint>
#include <string>

#include "bagwise/core/result.h"
#include "bagwise/data/dataset.h"

// NOLINTBEGIN(readability-identifier-naming)
#ifndef ARROW_C_DATA_INTERFACE
#define ARROW_C_DATA_INTERFACE

#define ARROW_FLAG_DICTIONARY_ORDERED 1
#define ARROW_FLAG_NULLABLE 2
#define ARROW_FLAG_MAP_KEYS_SORTED 4

extern "C" {

struct ArrowSchema {
  const char* format;
  const char* name;
  const char* metadata;
  int64_t flags;
  int64_t n_children;
  struct ArrowSchema** children;
  struct ArrowSchema* dictionary;
  void (*release)(struct ArrowSchema*);
  void* private_data;
};

struct ArrowArray {
  int64_t length;
  int64_t null_count;
  int64_t offset;
  int64_t n_buffers;
  int64_t n_children;
  const void** buffers;
  struct ArrowArray** children;
  struct ArrowArray* dictionary;
  void (*release)(struct ArrowArray*);
  void* private_data;
};

}  // extern "C"

#endif  // ARROW_C_DATA_INTERFACE

#ifndef ARROW_C_STREAM_INTERFACE
#define ARROW_C_STREAM_INTERFACE

extern "C" {

struct ArrowArrayStream {
  int (*get_schema)(struct ArrowArrayStream*, struct ArrowSchema* out);
  int (*get_next)(struct ArrowArrayStream*, struct ArrowArray* out);
  const char* (*get_last_error)(struct ArrowArrayStream*);
  void (*release)(struct ArrowArrayStream*);
  void* private_data;
};

}  // extern "C"

#endif  // ARROW_C_STREAM_INTERFACE
// NOLINTEND(readability-identifier-naming)

namespace bagwise {

// All rows of a stream of batches (structs whose fields are the columns), copied to dense rows of doubles;
// every column is a feature under its own name, x1, x2, ... (by its number) where it has none.
//
// Columns may hold integers of any width, float16, float32, float64 or booleans (0 and 1). Integers beyond
// 2^53 in size become the nearest double. Anything else (text, dictionaries, dates, lists, ...) is an error
// that names the column; so is a null, with its row, and a name that two columns have. Values that are not
// finite pass. No rows at all is no error here: what is too little is for others to say.
//
// The stream and all that came from it are released before this returns, whatever happens; the stream must
// not be used again. `what` is what messages call the table. The memory is that of the result and one batch.
Result<Dataset> read_arrow(ArrowArrayStream& stream, const std::string& what);

}  // namespace bagwise
