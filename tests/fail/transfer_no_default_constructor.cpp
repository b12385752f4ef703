// SPDX-License-Identifier: BSL-1.0
// expect-error: plait: this type has cereal.s serialize but no public default constructor
#include <plait/wire/codec.hpp>

class named {
 public:
  explicit named(std::string name) : name_(std::move(name)) {}
  template <class Archive>
  void serialize(Archive& archive) {
    archive(name_);
  }

 private:
  std::string name_;
};

int main() { plait::check_transferable<named>(); }
