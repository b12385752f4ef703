// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cstddef>
#include <cstdio>
#include <exception>
#include <filesystem>
#include <map>
#include <stdexcept>
#include <string>
#include <system_error>
#include <vector>

#include "catalogue.hpp"
#include "output_check.hpp"
#include "result_file.hpp"
#include "spmd_group.hpp"

namespace pipeline {

namespace detail {

/// Runs one rank's part of a step. Returns what went wrong, or an empty text.
template <class Step>
std::string attempt(Step&& step) {
  try {
    step();
    return {};
  } catch (const std::exception& error) {
    return error.what();
  }
}

/// The images that belong to this rank, and the zeros for those that nobody has.
inline void write_own_images(result_file& file, const spmd_group& group, const catalogue& table, std::size_t size,
                             const std::map<std::size_t, std::vector<float>>& images) {
  const std::vector<float> zeros(size * size * channels);
  for (std::size_t i = 0; i < table.count(); ++i) {
    if (table.owners[i] != group.rank()) continue;
    const auto found = images.find(i);
    if (table.status[i] == 0 && found == images.end()) {
      throw std::runtime_error("image " + std::to_string(i) + " is not on rank " + std::to_string(group.rank()));
    }
    file.write_image(i, table.status[i] == 0 ? found->second : zeros);
  }
}

/// After a file that could not be closed HDF5 (1.10) crashes in its clean-up at the end of MPI, so the job ends here.
[[noreturn]] inline void give_up(const spmd_group& group, const std::filesystem::path& part, const std::string& why) {
  std::error_code error;
  std::filesystem::remove(part, error);
  std::fprintf(stderr, "image_pipeline: no result: %s\n", why.c_str());
  group.abort(1);
}

}  // namespace detail

/// Writes the result with all ranks, each the images that it has. Collective. Returns an empty text, or on every rank
/// what went wrong on one of them; the result is not there then.
inline std::string write_result(const std::filesystem::path& path, const spmd_group& group, const catalogue& table,
                                std::size_t size, const std::map<std::size_t, std::vector<float>>& images) {
  const std::filesystem::path part = unfinished(path);
  std::string trouble = detail::attempt([&] {
    if (group.rank() == 0) check_writable(path, expected_bytes(table.count(), size));
  });
  trouble = group.first_text(trouble);
  if (!trouble.empty()) return trouble;
  trouble = detail::attempt([&] {
    result_file file(part, group, table, size);
    const std::string in_writing = detail::attempt([&] {
      detail::write_own_images(file, group, table, size, images);
      if (group.rank() == 0) file.write_columns(table);
    });
    const std::string in_closing = detail::attempt([&] { file.close(); });  // by all, whatever happened before
    if (!in_closing.empty()) detail::give_up(group, part, in_writing.empty() ? in_closing : in_writing);
    if (!in_writing.empty()) throw hdf5_error(in_writing);
  });
  trouble = group.first_text(trouble);
  if (group.rank() == 0) {
    std::error_code error;
    if (!trouble.empty()) {
      std::filesystem::remove(part, error);
    } else {
      std::filesystem::rename(part, path, error);
      if (error) trouble = "cannot rename '" + part.string() + "' to '" + path.string() + "': " + error.message();
    }
  }
  return group.first_text(trouble);
}

}  // namespace pipeline
