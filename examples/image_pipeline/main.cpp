// SPDX-License-Identifier: BSL-1.0
// From a directory of photographs to one HDF5 file that a network can be trained on: all ranks first share the files as
// tasks, whoever is free takes the next, and then write their images side by side with native MPI-IO.
#include <plait/plait.hpp>

#include <chrono>
#include <cstdio>
#include <exception>
#include <filesystem>
#include <optional>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "catalogue.hpp"
#include "contact_sheet.hpp"
#include "file_task.hpp"
#include "file_walk.hpp"
#include "options.hpp"
#include "output_check.hpp"
#include "progress.hpp"
#include "report.hpp"
#include "result_writing.hpp"
#include "spmd_group.hpp"

namespace {

using namespace pipeline;

double seconds_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

void complain(const spmd_group& group, const std::string& text) {
  if (group.rank() == 0) std::fprintf(stderr, "image_pipeline: %s\n", text.c_str());
}

progress_meter* shown_meter = nullptr;  // map reports to a plain function

/// Runs on rank 0; its tasks run everywhere.
plait::task<std::vector<file_result>> process_files(const found_files& files, const options& wanted) {
  const std::filesystem::path root = std::filesystem::absolute(files.root);
  std::vector<file_job> jobs;
  for (std::size_t i = 0; i < files.names.size(); ++i) {
    const bool shown = !wanted.contact_sheet.empty() && contact_sheet::shows(i, files.names.size());
    jobs.push_back({i, (root / files.names[i]).string(), wanted.size, shown});
  }
  const auto report = [](std::size_t done, std::size_t) { shown_meter->update(done); };
  const plait::map_options how{.chunk = wanted.chunk, .progress = report};
  co_return co_await plait::map<process_file>(std::move(jobs), how);
}

/// One row for each worker of this rank.
std::vector<worker_row> own_workers(const plait::runtime& runtime) {
  std::vector<worker_row> rows;
  for (const plait::worker_statistics& worker : runtime.local_statistics()) {
    rows.push_back({runtime.rank(), worker.worker, worker.executed, worker.stolen, worker.imported});
  }
  return rows;
}

void write_contact_sheet(const options& wanted, const std::vector<file_result>& results) {
  std::size_t cells = 0;
  for (const file_result& result : results) cells += contact_sheet::shows(result.index, results.size()) ? 1 : 0;
  contact_sheet sheet(cells, contact_sheet::cell_size(wanted.size));
  for (const file_result& result : results) {
    if (contact_sheet::shows(result.index, results.size())) sheet.add(result.thumbnail);
  }
  sheet.write(wanted.contact_sheet);
}

/// What rank 0 says at the end. Returns the exit status.
int finish(const options& wanted, const found_files& files, const std::vector<file_result>& results, summary total,
           const std::vector<worker_row>& workers, const std::string& trouble) {
  print_failures(files, results);
  int status = total.failed == 0 && files.unreadable.empty() && trouble.empty() ? 0 : 1;
  if (!trouble.empty()) std::fprintf(stderr, "image_pipeline: no result: %s\n", trouble.c_str());
  std::error_code error;
  total.output_bytes = trouble.empty() ? std::filesystem::file_size(wanted.output, error) : 0;
  print_report(total, workers);
  if (trouble.empty()) std::printf("\nresult         %s\n", wanted.output.c_str());
  if (!wanted.contact_sheet.empty()) {
    try {
      write_contact_sheet(wanted, results);
      std::printf("contact sheet  %s\n", wanted.contact_sheet.c_str());
    } catch (const std::exception& failed) {
      std::fprintf(stderr, "image_pipeline: %s\n", failed.what());
      status = 1;
    }
  }
  std::fflush(stdout);
  return status;
}

/// The program after the start of MPI, the same on every rank. Returns the exit status.
int image_pipeline(plait::runtime& runtime, const spmd_group& group, const options& wanted) {
  // Rank 0 looks at the directory and the output; all ranks go on, or none.
  found_files files;
  std::string trouble;
  if (group.rank() == 0) {
    try {
      files = wanted.input.empty() ? find_default_files() : find_jpeg_files(wanted.input);
      check_writable(wanted.output, expected_bytes(files.names.size(), wanted.size));
      if (!wanted.contact_sheet.empty()) {
        check_writable(wanted.contact_sheet, 1);
        check_different(wanted.output, wanted.contact_sheet);
      }
    } catch (const std::exception& error) {  // of whatever type: the other ranks wait for the text
      trouble = error.what();
    }
  }
  trouble = group.first_text(trouble);
  if (!trouble.empty()) throw usage_error(trouble);

  // Tasks: rank 0 hands out the files, every rank serves.
  progress_meter meter(files.names.size(), group.rank() == 0 ? wanted.progress : progress_style::none);
  const auto start = std::chrono::steady_clock::now();
  shown_meter = &meter;
  const std::optional<std::vector<file_result>> results = runtime.run([&] { return process_files(files, wanted); });
  meter.finish();
  const double process_seconds = seconds_since(start);

  // SPMD again: native MPI, collective HDF5.
  catalogue table;
  if (results) table = make_catalogue(files, *results);
  table.broadcast(group);
  trouble = write_result(wanted.output, group, table, wanted.size, local_images.get(runtime).take());
  const std::vector<worker_row> workers = group.gather(own_workers(runtime));
  int status = 0;
  if (results) {
    summary total = summarise(*results);
    total.process_seconds = process_seconds;
    total.write_seconds = seconds_since(start) - process_seconds;
    status = finish(wanted, files, *results, total, workers, trouble);
  }
  return group.broadcast(status);
}

}  // namespace

int main(int argc, char** argv) {
  try {
    plait::runtime runtime{argc, argv};
    const spmd_group group;
    try {
      const options wanted = parse_options(argc, argv);
      if (wanted.help) {
        if (group.rank() == 0) std::fputs(usage_text.data(), stdout);
        return 0;
      }
      return image_pipeline(runtime, group, wanted);
    } catch (const usage_error& error) {  // the same on every rank
      complain(group, error.what());
      return 2;
    } catch (const std::exception& error) {
      complain(group, error.what());
      return 1;
    }
  } catch (const std::exception& error) {
    std::fprintf(stderr, "image_pipeline: %s\n", error.what());
    return 1;
  }
}
