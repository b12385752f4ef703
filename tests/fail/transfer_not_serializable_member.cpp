// SPDX-License-Identifier: BSL-1.0
// expect-error: plait: this type cannot travel to another rank
#include <plait/wire/codec.hpp>

struct holder {
  std::string text;
};
struct outer {
  holder part;
  template <class Archive>
  void serialize(Archive& archive) {
    archive(part);
  }
};

int main() {
  std::vector<std::byte> bytes;
  plait::wire::writer out(bytes);
  plait::wire::encode(out, outer{});
}
