// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "file_walk.hpp"
#include "spmd_group.hpp"

namespace pipeline {

/// What is known about a file after its task. Travels between ranks through plait.
struct file_result {
  std::uint64_t index = 0;  ///< in the list of files
  std::int32_t rank = 0;    ///< where the resized image is stored
  std::uint32_t width = 0;  ///< of the photograph; 0 if it could not be read
  std::uint32_t height = 0;
  std::uint64_t bytes = 0;              ///< length of the file
  std::string reason;                   ///< why it could not be read; empty if it was
  std::vector<std::uint8_t> thumbnail;  ///< RGB, for the contact sheet; empty if not wanted

  bool failed() const noexcept { return !reason.empty(); }

  template <class Archive>
  void serialize(Archive& archive) {
    archive(index, rank, width, height, bytes, reason, thumbnail);
  }
};

/// A column of strings of one length, padded with zero bytes: variable lengths cannot be written in parallel, and have
/// no fixed bytes in a file.
struct string_column {
  std::uint64_t length = 1;
  std::vector<char> bytes;

  string_column() = default;
  explicit string_column(const std::vector<std::string>& texts) {
    for (const std::string& text : texts) length = std::max<std::uint64_t>(length, text.size());
    bytes.resize(texts.size() * length);
    for (std::size_t i = 0; i < texts.size(); ++i) {
      std::copy(texts[i].begin(), texts[i].end(), bytes.begin() + static_cast<std::ptrdiff_t>(i * length));
    }
  }

  void broadcast(const spmd_group& group) {
    length = group.broadcast(length);
    group.broadcast(bytes);
  }
};

/// The small columns of the result, one row an image; the same on every rank.
struct catalogue {
  std::vector<std::int32_t> owners;  ///< the rank that stores the image
  std::vector<std::int8_t> status;   ///< 0: read; 1: not
  std::vector<std::int32_t> sizes;   ///< width and height of the photograph
  std::vector<std::int32_t> label_ids;
  string_column names;
  string_column labels;
  string_column reasons;
  string_column class_names;  ///< by label id, sorted

  std::size_t count() const noexcept { return owners.size(); }
  std::size_t classes() const noexcept { return class_names.bytes.size() / class_names.length; }

  /// Gives every rank the catalogue of rank 0. Collective.
  void broadcast(const spmd_group& group) {
    group.broadcast(owners);
    group.broadcast(status);
    group.broadcast(sizes);
    group.broadcast(label_ids);
    names.broadcast(group);
    labels.broadcast(group);
    reasons.broadcast(group);
    class_names.broadcast(group);
  }
};

/// Makes the columns from the list of files and the result of each.
inline catalogue make_catalogue(const found_files& files, const std::vector<file_result>& results) {
  catalogue table;
  std::vector<std::string> labels;
  std::vector<std::string> reasons;
  for (const file_result& result : results) {
    table.owners.push_back(result.rank);
    table.status.push_back(result.failed() ? 1 : 0);
    table.sizes.push_back(static_cast<std::int32_t>(result.width));
    table.sizes.push_back(static_cast<std::int32_t>(result.height));
    labels.push_back(label_of(files.root, files.names[result.index]));
    reasons.push_back(result.reason);
  }
  std::vector<std::string> classes = labels;
  std::sort(classes.begin(), classes.end());
  classes.erase(std::unique(classes.begin(), classes.end()), classes.end());
  for (const std::string& label : labels) {
    const auto position = std::lower_bound(classes.begin(), classes.end(), label) - classes.begin();
    table.label_ids.push_back(static_cast<std::int32_t>(position));
  }
  table.names = string_column(files.names);
  table.labels = string_column(labels);
  table.reasons = string_column(reasons);
  table.class_names = string_column(classes);
  return table;
}

}  // namespace pipeline
