#include <regex>

#include <cstdio>
#include <string>

bool is_number(const std::string& text) {
  static const std::regex number("[+-]?[0-9]+");
  return std::regex_match(text, number);
}

int main(int argc, char** argv) {
  int numbers = 0;
  for (int i = 1; i < argc; ++i) numbers += is_number(argv[i]);
  std::printf("%d\n", numbers);
}
