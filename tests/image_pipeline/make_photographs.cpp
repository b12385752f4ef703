// SPDX-License-Identifier: BSL-1.0
// make_photographs OUT [PHOTOGRAPH...]: fills a directory tree with small JPEG files of every kind that the example
// must read. The photographs are shrunk; without any, patterns take their place. One line a file: its name, and what
// test.py may expect of it: "read" (compare with its own decoder), "twin" (progressive: the same pixels as the next
// one), "fail".

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <string>
#include <vector>

#include <jpeglib.h>

namespace {

namespace fs = std::filesystem;

struct picture {
  unsigned width = 0;
  unsigned height = 0;
  std::vector<unsigned char> rgb;
};

enum class kind { colour, halved_colour, halved_width, grey, cmyk, ycck, progressive };

/// Decodes at one eighth and takes every k-th pixel, so that the longer side has 120 to 240.
picture shrunk_photograph(const fs::path& path) {
  std::FILE* file = std::fopen(path.c_str(), "rb");
  if (file == nullptr) throw std::runtime_error("cannot open " + path.string());
  jpeg_decompress_struct state = {};
  jpeg_error_mgr errors = {};
  state.err = jpeg_std_error(&errors);  // prints and exits on errors
  jpeg_create_decompress(&state);
  jpeg_stdio_src(&state, file);
  jpeg_read_header(&state, TRUE);
  state.scale_num = 1;
  state.scale_denom = 8;
  state.out_color_space = JCS_RGB;
  jpeg_start_decompress(&state);
  picture result{state.output_width, state.output_height, {}};
  result.rgb.resize(std::size_t{3} * result.width * result.height);
  while (state.output_scanline < state.output_height) {
    JSAMPROW row = &result.rgb[std::size_t{3} * result.width * state.output_scanline];
    jpeg_read_scanlines(&state, &row, 1);
  }
  jpeg_finish_decompress(&state);
  jpeg_destroy_decompress(&state);
  std::fclose(file);
  const unsigned step = std::max(1u, std::max(result.width, result.height) / 120);
  picture small{result.width / step, result.height / step, {}};
  for (unsigned y = 0; y < small.height; ++y) {
    for (unsigned x = 0; x < small.width; ++x) {
      const std::size_t at = std::size_t{3} * (std::size_t{y} * step * result.width + std::size_t{x} * step);
      for (std::size_t k = 0; k < 3; ++k) small.rgb.push_back(result.rgb[at + k]);
    }
  }
  return small;
}

picture pattern(unsigned width, unsigned height) {
  picture result{width, height, {}};
  for (unsigned y = 0; y < height; ++y) {
    for (unsigned x = 0; x < width; ++x) {
      const double wave = std::sin(0.11 * x) * std::cos(0.07 * y);
      result.rgb.push_back(static_cast<unsigned char>(128 + 100 * wave));
      result.rgb.push_back(static_cast<unsigned char>((255 * x) / width));
      result.rgb.push_back(static_cast<unsigned char>((x / 8 + y / 8) % 2 == 0 ? 60 : 190));
    }
  }
  return result;
}

void write_jpeg(const fs::path& path, const picture& source, kind how) {
  fs::create_directories(path.parent_path());
  std::FILE* file = std::fopen(path.c_str(), "wb");
  if (file == nullptr) throw std::runtime_error("cannot write " + path.string());
  jpeg_compress_struct state = {};
  jpeg_error_mgr errors = {};
  state.err = jpeg_std_error(&errors);
  jpeg_create_compress(&state);
  jpeg_stdio_dest(&state, file);
  const bool four = how == kind::cmyk || how == kind::ycck;
  state.image_width = source.width;
  state.image_height = source.height;
  state.input_components = four ? 4 : 3;
  state.in_color_space = four ? JCS_CMYK : JCS_RGB;
  jpeg_set_defaults(&state);
  if (how == kind::grey) jpeg_set_colorspace(&state, JCS_GRAYSCALE);
  if (how == kind::cmyk) jpeg_set_colorspace(&state, JCS_CMYK);
  if (how == kind::ycck) jpeg_set_colorspace(&state, JCS_YCCK);
  if (how == kind::progressive) jpeg_simple_progression(&state);
  state.comp_info[0].h_samp_factor = how == kind::halved_colour || how == kind::halved_width ? 2 : 1;
  state.comp_info[0].v_samp_factor = how == kind::halved_colour ? 2 : 1;
  if (four) state.comp_info[3].h_samp_factor = state.comp_info[3].v_samp_factor = 1;
  jpeg_set_quality(&state, 92, TRUE);
  jpeg_start_compress(&state, TRUE);
  std::vector<unsigned char> row;
  for (unsigned y = 0; y < source.height; ++y) {
    row.clear();
    for (unsigned x = 0; x < source.width; ++x) {
      const unsigned char* pixel = &source.rgb[std::size_t{3} * (std::size_t{y} * source.width + x)];
      row.insert(row.end(), pixel, pixel + 3);  // Adobe's inverted CMYK: 255 is no ink
      if (four) row.push_back(static_cast<unsigned char>(255 - (x + y) % 128));
    }
    JSAMPROW start = row.data();
    jpeg_write_scanlines(&state, &start, 1);
  }
  jpeg_finish_compress(&state);
  jpeg_destroy_compress(&state);
  std::fclose(file);
}

std::string content(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
}

void write_bytes(const fs::path& path, const std::string& bytes) { std::ofstream(path, std::ios::binary) << bytes; }

void make_all(const fs::path& out, const std::vector<picture>& sources) {
  const auto add = [&](const std::string& name, const picture& source, kind how, const char* expected) {
    write_jpeg(out / name, source, how);
    std::printf("%s %s\n", expected, name.c_str());
  };
  std::size_t next = 0;
  const auto source = [&]() -> const picture& { return sources[next++ % sources.size()]; };
  add("colour/full_a.jpg", source(), kind::colour, "read");
  add("colour/full_b.JPG", source(), kind::colour, "read");
  add("colour/halved.jpeg", source(), kind::halved_colour, "read");
  add("colour/wide.JpEg", source(), kind::halved_width, "read");
  add("colour/deep/progressive.jpg", sources.front(), kind::progressive, "twin");
  add("colour/deep/sequential.jpg", sources.front(), kind::colour, "read");
  add("other/grey.jpg", source(), kind::grey, "read");
  add("other/cmyk.jpg", source(), kind::cmyk, "read");
  add("other/ycck.jpg", source(), kind::ycck, "read");
  add("at_the_root.jpg", source(), kind::colour, "read");
  add("small/one_pixel.jpg", pattern(1, 1), kind::colour, "read");
  add("small/narrow.jpg", pattern(3, 50), kind::colour, "read");
  add("small/odd.jpg", pattern(33, 17), kind::halved_colour, "read");
  // Damaged: cut in the middle, overwritten in the middle, no JPEG at all, nothing.
  const std::string whole = content(out / "colour/full_a.jpg");
  std::string overwritten = whole;
  for (std::size_t i = whole.size() / 2; i < whole.size() / 2 + 200; ++i) overwritten[i] = static_cast<char>(i * 37);
  fs::create_directories(out / "damaged");
  write_bytes(out / "damaged/truncated.jpg", whole.substr(0, whole.size() / 2));
  write_bytes(out / "damaged/overwritten.jpg", overwritten);
  write_bytes(out / "damaged/text.jpg", "This is no photograph.\n");
  write_bytes(out / "damaged/empty.jpg", "");
  for (const char* name : {"truncated", "overwritten", "text", "empty"}) std::printf("fail damaged/%s.jpg\n", name);
  write_bytes(out / "colour/notes.txt", "Not a JPEG by its name.\n");
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) {
    std::fprintf(stderr, "usage: make_photographs OUT [PHOTOGRAPH...]\n");
    return 2;
  }
  try {
    std::vector<picture> sources;
    for (int i = 2; i < argc; ++i) sources.push_back(shrunk_photograph(argv[i]));
    if (sources.empty()) sources = {pattern(160, 100), pattern(100, 150), pattern(97, 61)};
    make_all(argv[1], sources);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "make_photographs: %s\n", error.what());
    return 1;
  }
  return 0;
}
