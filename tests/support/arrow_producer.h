// A program that gives a table by the Arrow C stream interface, as small as can be, for tests of who reads
// it.
//
// All that it lends is on the heap and gone once released, so that the address sanitizer sees what is used
// after that or never given back; `Ledger` counts as well.
#pragma once

#include <cerrno>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "bagwise/data/arrow_stream.h"

namespace bagwise::test {

struct Ledger {
  int schemas_lent = 0, schemas_back = 0, arrays_lent = 0, arrays_back = 0, streams_back = 0;

  [[nodiscard]] bool settled() const {
    return streams_back == 1 && schemas_lent == schemas_back && arrays_lent == arrays_back;
  }
};

struct ArrowField {
  std::string format;
  std::optional<std::string> name;        // none: a null pointer
  std::optional<std::string> dictionary;  // the format of its values
};

// One array as it lies in memory.
struct ArrowBuffers {
  std::int64_t length = 0, offset = 0, null_count = 0;
  std::optional<std::vector<std::uint8_t>> validity;  // none: a null pointer
  std::optional<std::vector<std::byte>> values;
  std::int64_t buffers = 2;
};

struct ArrowBatch {
  ArrowBuffers self;  // the struct: no values, one buffer
  std::vector<ArrowBuffers> columns;
};

struct ArrowTable {
  std::string format = "+s";
  std::vector<ArrowField> fields;
  std::vector<ArrowBatch> batches;
  int fail_at = -2;                  // the call that fails: -1 the schema, then the batch of that number
  std::optional<std::string> fault;  // what get_last_error says; none: a null pointer
};

namespace arrow_producer {

struct SchemaBox {
  std::vector<ArrowField> fields;
  std::string format;
  std::vector<ArrowSchema> children, dictionaries;
  std::vector<ArrowSchema*> pointers;
  Ledger* ledger = nullptr;
};

struct ArrayBox {
  ArrowBatch batch;
  std::vector<std::vector<const void*>> buffers;  // the last: of the struct
  std::vector<ArrowArray> children;
  std::vector<ArrowArray*> pointers;
  Ledger* ledger = nullptr;
};

struct StreamBox {
  ArrowTable table;
  Ledger* ledger = nullptr;
  int next = 0;
};

template <class Box, class T>
std::unique_ptr<Box> take_back(T* lent) {
  lent->release = nullptr;
  return std::unique_ptr<Box>(static_cast<Box*>(lent->private_data));
}

inline void release_part(ArrowSchema* part) { part->release = nullptr; }
inline void release_part(ArrowArray* part) { part->release = nullptr; }

inline ArrowSchema schema_part(const std::string& format, const std::optional<std::string>& name) {
  ArrowSchema out{};
  out.format = format.c_str();
  out.name = name ? name->c_str() : nullptr;
  out.release = release_part;
  return out;
}

inline int get_schema(ArrowArrayStream* stream, ArrowSchema* out) {
  const auto* from = static_cast<StreamBox*>(stream->private_data);
  if (from->table.fail_at == -1) return EIO;
  auto box = std::make_unique<SchemaBox>();
  box->fields = from->table.fields;
  box->format = from->table.format;
  box->ledger = from->ledger;
  box->dictionaries.reserve(box->fields.size());
  for (const ArrowField& field : box->fields) {
    box->children.push_back(schema_part(field.format, field.name));
    if (field.dictionary) {
      box->dictionaries.push_back(schema_part(*field.dictionary, std::nullopt));
      box->children.back().dictionary = &box->dictionaries.back();
    }
  }
  for (ArrowSchema& child : box->children) box->pointers.push_back(&child);
  *out = {};
  out->format = box->format.c_str();
  out->n_children = static_cast<std::int64_t>(box->fields.size());
  out->children = box->pointers.data();
  out->release = [](ArrowSchema* lent) { ++take_back<SchemaBox>(lent)->ledger->schemas_back; };
  ++box->ledger->schemas_lent;
  out->private_data = box.release();
  return 0;
}

inline ArrowArray array_part(const ArrowBuffers& from, std::vector<const void*>& buffers) {
  if (from.buffers > 0) buffers.push_back(from.validity ? from.validity->data() : nullptr);
  if (from.buffers > 1) buffers.push_back(from.values ? from.values->data() : nullptr);
  ArrowArray out{};
  out.length = from.length;
  out.offset = from.offset;
  out.null_count = from.null_count;
  out.n_buffers = from.buffers;
  out.buffers = buffers.data();
  out.release = release_part;
  return out;
}

inline int get_next(ArrowArrayStream* stream, ArrowArray* out) {
  auto* from = static_cast<StreamBox*>(stream->private_data);
  const int number = from->next++;
  if (from->table.fail_at == number) return EIO;
  *out = {};
  if (number >= static_cast<int>(from->table.batches.size())) return 0;
  auto box = std::make_unique<ArrayBox>();
  box->batch = from->table.batches[static_cast<std::size_t>(number)];
  box->ledger = from->ledger;
  const std::size_t columns = box->batch.columns.size();
  box->buffers.resize(columns + 1);
  for (std::size_t c = 0; c < columns; ++c) {
    box->children.push_back(array_part(box->batch.columns[c], box->buffers[c]));
  }
  for (ArrowArray& child : box->children) box->pointers.push_back(&child);
  *out = array_part(box->batch.self, box->buffers[columns]);
  out->n_children = static_cast<std::int64_t>(columns);
  out->children = box->pointers.data();
  out->release = [](ArrowArray* lent) { ++take_back<ArrayBox>(lent)->ledger->arrays_back; };
  ++box->ledger->arrays_lent;
  out->private_data = box.release();
  return 0;
}

inline const char* get_last_error(ArrowArrayStream* stream) {
  const auto* from = static_cast<StreamBox*>(stream->private_data);
  return from->table.fault ? from->table.fault->c_str() : nullptr;
}

}  // namespace arrow_producer

// The stream that gives `table`; whoever gets it must release it. The ledger must outlive it.
inline ArrowArrayStream make_stream(const ArrowTable& table, Ledger& ledger) {
  using namespace arrow_producer;
  auto box = std::make_unique<StreamBox>();
  box->table = table;
  box->ledger = &ledger;
  ArrowArrayStream out{};
  out.get_schema = get_schema;
  out.get_next = get_next;
  out.get_last_error = get_last_error;
  out.release = [](ArrowArrayStream* lent) { ++take_back<StreamBox>(lent)->ledger->streams_back; };
  out.private_data = box.release();
  return out;
}

template <class T>
void append_bytes(std::vector<std::byte>& to, T value) {
  to.resize(to.size() + sizeof(T));
  std::memcpy(to.data() + to.size() - sizeof(T), &value, sizeof(T));
}

// The binary16 of a whole number below 2048 in size.
inline std::uint16_t half_of(double value) {
  if (value == 0) return 0;
  const int exponent = std::ilogb(value);
  const auto fraction = static_cast<int>(std::ldexp(std::abs(value), 10 - exponent)) - 1024;
  return static_cast<std::uint16_t>((value < 0 ? 0x8000 : 0) | ((exponent + 15) << 10) | fraction);
}

// Values as an array of that format has them in its buffer.
inline std::vector<std::byte> arrow_values(const std::string& format, const std::vector<double>& values) {
  std::vector<std::byte> out;
  if (format == "b") {
    out.resize((values.size() + 7) / 8);
    for (std::size_t i = 0; i < values.size(); ++i) {
      if (values[i] != 0) out[i / 8] |= std::byte{1} << (i % 8);
    }
    return out;
  }
  for (const double v : values) {
    switch (format[0]) {
      case 'c':
        append_bytes(out, static_cast<std::int8_t>(v));
        break;
      case 'C':
        append_bytes(out, static_cast<std::uint8_t>(v));
        break;
      case 's':
        append_bytes(out, static_cast<std::int16_t>(v));
        break;
      case 'S':
        append_bytes(out, static_cast<std::uint16_t>(v));
        break;
      case 'i':
        append_bytes(out, static_cast<std::int32_t>(v));
        break;
      case 'I':
        append_bytes(out, static_cast<std::uint32_t>(v));
        break;
      case 'l':
        append_bytes(out, static_cast<std::int64_t>(v));
        break;
      case 'L':
        append_bytes(out, static_cast<std::uint64_t>(v));
        break;
      case 'e':
        append_bytes(out, half_of(v));
        break;
      case 'f':
        append_bytes(out, static_cast<float>(v));
        break;
      default:
        append_bytes(out, v);
    }
  }
  return out;
}

}  // namespace bagwise::test
