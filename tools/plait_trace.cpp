// SPDX-License-Identifier: BSL-1.0
// Makes one trace of the parts that a killed job has left:
//
//   g++ -std=c++20 -I include tools/plait_trace.cpp -o plait-trace
//   ./plait-trace run.json run.json.part*
#include <plait/report/trace_json.hpp>

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <string>
#include <vector>

namespace {

bool read_file(const char* name, std::vector<std::byte>& bytes) {
  std::FILE* in = std::fopen(name, "rb");
  if (in == nullptr) return false;
  std::byte buffer[65536];
  for (std::size_t n = 0; (n = std::fread(buffer, 1, sizeof buffer, in)) > 0;)
    bytes.insert(bytes.end(), buffer, buffer + n);
  const bool fine = std::ferror(in) == 0;
  std::fclose(in);
  return fine;
}

}  // namespace

int main(int argc, char** argv) try {
  if (argc < 3) {
    std::fprintf(stderr, "usage: plait-trace OUTPUT PART...\n");
    return 2;
  }
  std::string events;
  std::uint64_t dropped = 0;
  int used = 0;
  for (int i = 2; i < argc; ++i) {
    std::vector<std::byte> bytes;
    const bool there = read_file(argv[i], bytes);
    const plait::report::trace_part_view part(bytes.data(), bytes.size());
    if (!there || !part.is_sound()) {
      std::fprintf(stderr, "plait-trace: %s %s\n", argv[i],
                   there ? "is no part of a trace, or not whole" : "can't be read");
      continue;
    }
    events += plait::report::trace_renderer(part).events(dropped);
    ++used;
  }
  std::FILE* out = used > 0 ? std::fopen(argv[1], "w") : nullptr;
  if (used > 0) {
    const auto text = plait::report::whole_trace(events, dropped);
    const bool written = out != nullptr && std::fwrite(text.data(), 1, text.size(), out) == text.size();
    if (out == nullptr || std::fclose(out) != 0 || !written) {
      std::fprintf(stderr, "plait-trace: %s can't be written\n", argv[1]);
      return 1;
    }
  }
  return used == argc - 2 ? 0 : 1;
} catch (const std::exception& e) {
  std::fprintf(stderr, "plait-trace: %s\n", e.what());
  return 1;
}
