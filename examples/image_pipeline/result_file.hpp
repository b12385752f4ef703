// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <initializer_list>
#include <map>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "catalogue.hpp"
#include "hdf5_handle.hpp"
#include "normalise.hpp"
#include "spmd_group.hpp"

namespace pipeline {

/// The HDF5 file, written by all ranks at once through MPI-IO; by one rank in the ordinary way where MPI is not in use.
///
/// Its bytes depend on the images only: datasets are created by all ranks in one order, strings have a fixed length,
/// and no times are stored. Datasets (one row an image): `images` count x N x N x 3 float32, a chunk an image; `names`,
/// `labels` and `reasons` strings; `label_ids` int32; `sizes` int32 width and height; `status` int8. And `class_names`.
class result_file {
 public:
  /// Creates the file and all datasets. Collective; throws hdf5_error on the ranks that meet the error.
  result_file(const std::filesystem::path& path, const spmd_group& group, const catalogue& table, std::size_t size)
      : size_(size) {
    H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr);  // errors are thrown, not printed
    open(path, group);
    create_images(table.count());
    const hsize_t count = table.count();
    create("names", string_type(table.names.length), {count});
    create("labels", string_type(table.labels.length), {count});
    create("label_ids", copy_of(H5T_STD_I32LE), {count});
    create("class_names", string_type(table.class_names.length), {table.classes()});
    create("sizes", copy_of(H5T_STD_I32LE), {count, 2});
    create("status", copy_of(H5T_STD_I8LE), {count});
    create("reasons", string_type(table.reasons.length), {count});
    describe("sizes", "columns", "width, height of the photograph in pixels");
    describe("status", "values", "0: read; 1: not read, the image is all zeros, see reasons");
    describe("label_ids", "values", "index into class_names");
  }

  /// Writes one image of size * size * 3 values. Any rank, any number of times: not collective.
  void write_image(std::size_t index, std::span<const float> values) {
    const std::array<hsize_t, 4> start = {index, 0, 0, 0};
    const std::array<hsize_t, 4> extent = {1, size_, size_, channels};
    if (values.size() != size_ * size_ * channels)
      throw hdf5_error("image " + std::to_string(index) + " is incomplete");
    const std::string purpose = "write image " + std::to_string(index);
    const hdf5_handle memory(H5Screate_simple(4, extent.data(), nullptr), H5Sclose, purpose);
    const hdf5_handle target(H5Dget_space(datasets_.at("images").get()), H5Sclose, purpose);
    hdf5_check(H5Sselect_hyperslab(target.get(), H5S_SELECT_SET, start.data(), nullptr, extent.data(), nullptr),
               purpose);
    hdf5_check(H5Dwrite(datasets_.at("images").get(), H5T_NATIVE_FLOAT, memory.get(), target.get(), H5P_DEFAULT,
                        values.data()),
               purpose);
  }

  /// Writes the small columns. One rank does it: not collective.
  void write_columns(const catalogue& table) {
    write("names", string_type(table.names.length), table.names.bytes.data());
    write("labels", string_type(table.labels.length), table.labels.bytes.data());
    write("label_ids", copy_of(H5T_NATIVE_INT32), table.label_ids.data());
    write("class_names", string_type(table.class_names.length), table.class_names.bytes.data());
    write("sizes", copy_of(H5T_NATIVE_INT32), table.sizes.data());
    write("status", copy_of(H5T_NATIVE_INT8), table.status.data());
    write("reasons", string_type(table.reasons.length), table.reasons.bytes.data());
  }

  /// Closes the file. Collective; call it also after an error in write_image. Throws hdf5_error.
  void close() {
    datasets_.clear();
    file_.close("finish the result file");
  }

 private:
  static hdf5_handle copy_of(hid_t type) { return {H5Tcopy(type), H5Tclose, "copy a type"}; }

  static hdf5_handle string_type(std::size_t length) {
    hdf5_handle type = copy_of(H5T_C_S1);
    hdf5_check(H5Tset_size(type.get(), length), "make a string type");
    hdf5_check(H5Tset_strpad(type.get(), H5T_STR_NULLPAD), "make a string type");
    hdf5_check(H5Tset_cset(type.get(), H5T_CSET_UTF8), "make a string type");
    return type;
  }

  void open(const std::filesystem::path& path, const spmd_group& group) {
    const hdf5_handle access(H5Pcreate(H5P_FILE_ACCESS), H5Pclose, "make file properties");
    if (group.parallel()) {
#if PLAIT_WITH_MPI && defined(H5_HAVE_PARALLEL)
      hdf5_check(H5Pset_fapl_mpio(access.get(), MPI_COMM_WORLD, MPI_INFO_NULL), "choose MPI-IO");
#else
      throw hdf5_error("cannot write from several ranks: this HDF5 was built without MPI");
#endif
    }
    file_ = hdf5_handle(H5Fcreate(path.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, access.get()), H5Fclose,
                        "create '" + path.string() + "'");
  }

  // A chunk is written whole, by one rank: no fill values before it, and no chunk that two ranks share.
  void create_images(std::size_t count) {
    const std::array<hsize_t, 4> chunk = {1, size_, size_, channels};
    hdf5_handle properties = creation_properties();
    hdf5_check(H5Pset_chunk(properties.get(), 4, chunk.data()), "choose chunks");
    create("images", copy_of(H5T_IEEE_F32LE), {count, size_, size_, channels}, std::move(properties));
    describe("images", "layout", "image, row, column, channel (red, green, blue)");
    describe("images", "filter", "mean over the area of the pixel, then (value / 255 - mean) / deviation");
    describe("images", "mean", channel_mean);
    describe("images", "deviation", channel_deviation);
  }

  static hdf5_handle creation_properties() {
    hdf5_handle properties(H5Pcreate(H5P_DATASET_CREATE), H5Pclose, "make dataset properties");
    hdf5_check(H5Pset_obj_track_times(properties.get(), false), "leave out times");
    hdf5_check(H5Pset_alloc_time(properties.get(), H5D_ALLOC_TIME_EARLY), "choose early allocation");
    hdf5_check(H5Pset_fill_time(properties.get(), H5D_FILL_TIME_NEVER), "leave out fill values");
    return properties;
  }

  void create(const std::string& name, const hdf5_handle& type, std::initializer_list<hsize_t> extent,
              hdf5_handle properties = creation_properties()) {
    const std::string purpose = "create the dataset " + name;
    const hdf5_handle space(H5Screate_simple(static_cast<int>(extent.size()), extent.begin(), nullptr), H5Sclose,
                            purpose);
    datasets_[name] = hdf5_handle(
        H5Dcreate2(file_.get(), name.c_str(), type.get(), space.get(), H5P_DEFAULT, properties.get(), H5P_DEFAULT),
        H5Dclose, purpose);
  }

  void attach(const std::string& dataset, const char* name, const hdf5_handle& type, const hdf5_handle& space,
              const void* data) {
    const std::string purpose = "describe the dataset " + dataset;
    const hdf5_handle attribute(
        H5Acreate2(datasets_.at(dataset).get(), name, type.get(), space.get(), H5P_DEFAULT, H5P_DEFAULT), H5Aclose,
        purpose);
    hdf5_check(H5Awrite(attribute.get(), type.get(), data), purpose);
  }

  void describe(const std::string& dataset, const char* name, const std::string& text) {
    attach(dataset, name, string_type(text.size()), {H5Screate(H5S_SCALAR), H5Sclose, "describe " + dataset},
           text.data());
  }

  void describe(const std::string& dataset, const char* name, const std::array<double, channels>& values) {
    const hsize_t extent = values.size();
    attach(dataset, name, copy_of(H5T_NATIVE_DOUBLE),
           {H5Screate_simple(1, &extent, nullptr), H5Sclose, "describe " + dataset}, values.data());
  }

  void write(const std::string& name, const hdf5_handle& type, const void* data) {
    hdf5_check(H5Dwrite(datasets_.at(name).get(), type.get(), H5S_ALL, H5S_ALL, H5P_DEFAULT, data), "write " + name);
  }

  std::size_t size_;
  hdf5_handle file_;
  std::map<std::string, hdf5_handle> datasets_;  // closed before the file
};

}  // namespace pipeline
