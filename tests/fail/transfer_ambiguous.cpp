// SPDX-License-Identifier: BSL-1.0
// expect-error: plait: cereal finds more than one way
#include <plait/wire/codec.hpp>

struct twice {
  std::string text;
  template <class Archive>
  void serialize(Archive& archive) {
    archive(text);
  }
  template <class Archive>
  void save(Archive& archive) const {
    archive(text);
  }
  template <class Archive>
  void load(Archive& archive) {
    archive(text);
  }
};

int main() { plait::check_transferable<twice>(); }
