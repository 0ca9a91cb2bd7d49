// Tar archives made by hand for tests, odd members included.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <string>

namespace bagwise::test {

// One member: a header of 512 bytes (POSIX ustar) and its contents, padded. `type` is '0' for a plain file,
// '1' and '2' for hard and symbolic links, '5' for a folder. `size` is what the header claims.
inline std::string tar_member(const std::string& name, const std::string& bytes, char type = '0',
                              const std::string& link = {}, std::size_t size = std::string::npos) {
  constexpr std::size_t kBlock = 512, kChecksum = 148;
  std::string header(kBlock, '\0');
  const auto put = [&](std::size_t at, const std::string& text) {
    std::copy(text.begin(), text.end(), header.begin() + static_cast<std::ptrdiff_t>(at));
  };
  put(0, name);
  put(100, "0000644");
  put(108, "0000000");
  put(116, "0000000");
  put(124, fmt::format("{:011o}", size == std::string::npos ? bytes.size() : size));
  put(136, "00000000000");
  put(kChecksum, "        ");
  header[156] = type;
  put(157, link);
  put(257, "ustar");
  put(263, "00");
  unsigned sum = 0;
  for (const char c : header) sum += static_cast<unsigned char>(c);
  put(kChecksum, fmt::format("{:06o}", sum));
  header[kChecksum + 6] = '\0';
  std::string padded = bytes;
  padded.resize((bytes.size() + kBlock - 1) / kBlock * kBlock, '\0');
  return header + padded;
}

inline std::string tar_end() { return std::string(1024, '\0'); }

// All files of a map from names to bytes, below `folder`.
template <class Files>
std::string tar_of(const Files& files, const std::string& folder) {
  std::string out = tar_member(folder + "/", "", '5');
  for (const auto& [name, bytes] : files) out += tar_member(folder + "/" + name, bytes);
  return out + tar_end();
}

}  // namespace bagwise::test
