// SPDX-License-Identifier: BSL-1.0
// expect-error: plait: a pointer to a class with virtual functions cannot travel
#include <plait/wire/codec.hpp>

struct shape {
  virtual ~shape() = default;
  template <class Archive>
  void serialize(Archive&) {}
};

int main() { plait::check_transferable<std::shared_ptr<shape>>(); }
