// SPDX-License-Identifier: BSL-1.0
// Named options: an aggregate with default values as the argument of a task, so that a call names only what differs.
// A trivially copyable one travels as it is; one with strings or vectors lists its members in serialize.
//
//   mpirun -n 4 ./13_named_options
//
// expect: default: 64 cells of 0\.5
// expect: fine: 1024 cells of 0\.125
// expect: report: a, b and c with 3 digits
#include <plait/plait.hpp>

#include <cstdio>
#include <string>
#include <vector>

struct mesh_options {
  int cells = 64;
  double width = 0.5;
  bool periodic = false;
};

std::string describe(const std::string& name, mesh_options mesh) {
  char text[80];
  std::snprintf(text, sizeof text, "%s: %d cells of %g", name.c_str(), mesh.cells, mesh.width);
  return text;
}

struct report_options {
  std::string title = "report";
  std::vector<std::string> columns = {};
  int digits = 6;

  template <class Archive>
  void serialize(Archive& archive) {
    archive(title, columns, digits);
  }
};

std::string heading(const report_options& report) {
  std::string text = report.title + ':';
  for (std::size_t i = 0; i < report.columns.size(); ++i) {
    text += i == 0 ? " " : i + 1 == report.columns.size() ? " and " : ", ";
    text += report.columns[i];
  }
  return text + " with " + std::to_string(report.digits) + " digits";
}

plait::task<int> program() {
  plait::future<std::string> standard = plait::submit<describe>("default", mesh_options{});
  plait::future<std::string> fine = plait::submit<describe>("fine", mesh_options{.cells = 1024, .width = 0.125});

  // Options with strings or vectors get a name first: g++ 12 destroys such temporaries twice within a co_await.
  const report_options report{.columns = {"a", "b", "c"}, .digits = 3};
  const std::string line3 = co_await plait::submit<heading>(report);
  const std::string line1 = co_await standard;
  const std::string line2 = co_await fine;
  std::printf("%s\n%s\n%s\n", line1.c_str(), line2.c_str(), line3.c_str());

  if (line1 == "default: 64 cells of 0.5" && line2 == "fine: 1024 cells of 0.125" &&
      line3 == "report: a, b and c with 3 digits") {
    co_return 0;
  }
  std::fprintf(stderr, "wrong: see the lines above\n");
  co_return 1;
}

int main(int argc, char** argv) { return plait::launch<program>(argc, argv); }
