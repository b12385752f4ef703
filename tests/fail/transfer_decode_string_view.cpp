// SPDX-License-Identifier: BSL-1.0
// expect-error: plait: a view .*cannot travel
#include <plait/wire/codec.hpp>

#include <string_view>

int main() {
  plait::wire::reader in({});
  static_cast<void>(plait::wire::decode<std::string_view>(in));
}
