// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cstdint>
#include <cstdio>
#include <string>
#include <vector>

#include "catalogue.hpp"
#include "file_walk.hpp"

namespace pipeline {

/// What one worker did. Trivially copyable, to be gathered by MPI.
struct worker_row {
  std::int32_t rank = 0;
  std::int32_t worker = 0;       ///< counted over all ranks
  std::uint64_t executed = 0;    ///< tasks that it ran; a task is a chunk of files
  std::uint64_t stolen = 0;      ///< jobs that it took from other workers of its rank
  std::uint64_t from_ranks = 0;  ///< of `executed`: tasks that came from another rank
};

/// The figures of the final table.
struct summary {
  std::uint64_t files = 0;
  std::uint64_t failed = 0;
  std::uint64_t input_bytes = 0;
  std::uint64_t output_bytes = 0;
  double process_seconds = 0;  ///< reading, decoding, resizing
  double write_seconds = 0;    ///< writing the HDF5 file
};

/// Counts files, failures and bytes.
inline summary summarise(const std::vector<file_result>& results) {
  summary total;
  for (const file_result& result : results) {
    ++total.files;
    total.failed += result.failed() ? 1 : 0;
    total.input_bytes += result.bytes;
  }
  return total;
}

/// The name with control characters as \n, \t, or \x1b, so that a line stays a line and no terminal obeys it.
inline std::string printable(const std::string& name) {
  static constexpr char digits[] = "0123456789abcdef";
  std::string text;
  for (const char letter : name) {
    const auto code = static_cast<unsigned char>(letter);
    if (letter == '\n') {
      text += "\\n";
    } else if (letter == '\t') {
      text += "\\t";
    } else if (code < 0x20 || code == 0x7f) {
      text += std::string("\\x") + digits[code >> 4] + digits[code & 15];
    } else {
      text += letter;
    }
  }
  return text;
}

/// Names each file that is not in the result, on stderr.
inline void print_failures(const found_files& files, const std::vector<file_result>& results) {
  for (const auto& [directory, reason] : files.unreadable) {
    std::fprintf(stderr, "image_pipeline: skipped directory %s: %s\n", printable(directory).c_str(), reason.c_str());
  }
  for (const file_result& result : results) {
    if (!result.failed()) continue;
    std::fprintf(stderr, "image_pipeline: skipped %s: %s\n", printable(files.names[result.index]).c_str(),
                 result.reason.c_str());
  }
}

/// Prints the final table on stdout.
inline void print_report(const summary& total, const std::vector<worker_row>& workers) {
  const double seconds = total.process_seconds + total.write_seconds;
  const double megabyte = 1e6;
  const auto rate = [](double amount, double time) { return time > 0 ? amount / time : 0.0; };
  std::printf("\n%-10s %12llu   (%llu read, %llu skipped)\n", "files", static_cast<unsigned long long>(total.files),
              static_cast<unsigned long long>(total.files - total.failed),
              static_cast<unsigned long long>(total.failed));
  std::printf("%-10s %12llu   (%.1f MB read, %.1f MB/s)\n", "bytes", static_cast<unsigned long long>(total.input_bytes),
              static_cast<double>(total.input_bytes) / megabyte,
              rate(static_cast<double>(total.input_bytes) / megabyte, total.process_seconds));
  std::printf("%-10s %12.3f   (%.3f in tasks, %.3f writing %.1f MB)\n", "seconds", seconds, total.process_seconds,
              total.write_seconds, static_cast<double>(total.output_bytes) / megabyte);
  std::printf("%-10s %12.2f   (%.2f without writing)\n", "images/s",
              rate(static_cast<double>(total.files - total.failed), seconds),
              rate(static_cast<double>(total.files - total.failed), total.process_seconds));
  std::printf("\n%6s %8s %10s %20s %18s\n", "rank", "worker", "executed", "stolen from workers", "from other ranks");
  for (const worker_row& row : workers) {
    std::printf("%6d %8d %10llu %20llu %18llu\n", row.rank, row.worker, static_cast<unsigned long long>(row.executed),
                static_cast<unsigned long long>(row.stolen), static_cast<unsigned long long>(row.from_ranks));
  }
}

}  // namespace pipeline
