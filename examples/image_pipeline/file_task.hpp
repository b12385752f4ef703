// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <plait/plait.hpp>

#include <cstddef>
#include <cstdint>
#include <exception>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "catalogue.hpp"
#include "contact_sheet.hpp"
#include "image_processing.hpp"
#include "image_store.hpp"

namespace pipeline {

/// What a task must know. Travels between ranks through plait, which asks for serialize only.
struct file_job {
  std::uint64_t index = 0;  ///< in the list of files
  std::string path;         ///< as every rank can open it
  std::uint64_t size = 0;   ///< edge of the resized image
  bool thumbnail = false;   ///< whether the contact sheet shows it

  template <class Archive>
  void serialize(Archive& archive) {
    archive(index, path, size, thumbnail);
  }
};

/// The images that tasks made on this rank.
inline plait::rank_local<image_store> local_images;

/// The task: reads, decodes and resizes one file on whatever rank and worker it runs. The image stays there; what goes
/// back is small. A file that cannot be read is a result, not an exception: the others go on.
inline file_result process_file(const file_job& job) {
  file_result result;
  result.index = job.index;
  result.rank = plait::rank();
  try {
    const std::vector<unsigned char> file = read_file(job.path);
    result.bytes = file.size();
    processed_image image = process_image(file, job.size);
    if (job.thumbnail) result.thumbnail = resized_square(image.rgb, job.size, contact_sheet::cell_size(job.size));
    local_images->put(job.index, std::move(image.values));
    result.width = static_cast<std::uint32_t>(image.width);
    result.height = static_cast<std::uint32_t>(image.height);
  } catch (const std::exception& error) {
    result.reason = error.what();
  }
  return result;
}

}  // namespace pipeline
