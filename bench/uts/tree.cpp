// SPDX-License-Identifier: BSL-1.0
#include "tree.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstddef>
#include <stdexcept>
#include <string>

namespace {

using state = std::array<std::uint32_t, 5>;

/// SHA-1 (FIPS 180-4) of a message of less than 56 bytes: `words` in big-endian order, a whole number of them.
template <std::size_t N>
state sha1(const std::array<std::uint32_t, N>& words) {
  static_assert(N < 14, "one block");
  std::array<std::uint32_t, 16> w{};
  std::copy(words.begin(), words.end(), w.begin());
  w[N] = 0x80000000u;  // the bit that ends the message
  w[15] = 32 * N;      // its length in bits

  const state initial = {0x67452301u, 0xefcdab89u, 0x98badcfeu, 0x10325476u, 0xc3d2e1f0u};
  auto [a, b, c, d, e] = initial;
  const auto step = [&w](auto t, std::uint32_t mixed, auto v, auto& x, auto& z) {
    auto& word = w[t % 16];  // of the schedule, of which the last 16 are needed
    if (t >= 16) word = std::rotl(w[(t - 3) % 16] ^ w[(t - 8) % 16] ^ w[(t - 14) % 16] ^ word, 1);
    z += std::rotl(v, 5) + mixed + word;
    x = std::rotl(x, 30);
  };
  // Five steps, after which each variable has its old part again.
  const auto round = [&](std::size_t t, std::uint32_t constant, auto mix) {
    step(t, mix(b, c, d) + constant, a, b, e);
    step(t + 1, mix(a, b, c) + constant, e, a, d);
    step(t + 2, mix(e, a, b) + constant, d, e, c);
    step(t + 3, mix(d, e, a) + constant, c, d, b);
    step(t + 4, mix(c, d, e) + constant, b, c, a);
  };
  const auto choose = [](auto x, auto y, auto z) { return z ^ (x & (y ^ z)); };
  const auto parity = [](auto x, auto y, auto z) { return x ^ y ^ z; };
  const auto majority = [](auto x, auto y, auto z) { return (x & y) | (z & (x | y)); };
#pragma GCC unroll 4
  for (std::size_t t = 0; t < 20; t += 5) round(t, 0x5a827999u, choose);
#pragma GCC unroll 4
  for (std::size_t t = 20; t < 40; t += 5) round(t, 0x6ed9eba1u, parity);
#pragma GCC unroll 4
  for (std::size_t t = 40; t < 60; t += 5) round(t, 0x8f1bbcdcu, majority);
#pragma GCC unroll 4
  for (std::size_t t = 60; t < 80; t += 5) round(t, 0xca62c1d6u, parity);
  return {initial[0] + a, initial[1] + b, initial[2] + c, initial[3] + d, initial[4] + e};
}

}  // namespace

const uts::tree& uts::tree::number(int n) {
  static const tree t1{shape::geometric, 4, 10, 0, 0, 19, 4'130'071};
  static const tree t3{shape::binomial, 2000, 0, 0.124875, 8, 42, 4'112'897};
  if (n == 1) return t1;
  if (n == 3) return t3;
  throw std::runtime_error("the trees are 1 and 3, there is no " + std::to_string(n));
}

uts::node::node(const tree& t) : state_(sha1<5>({0, 0, 0, 0, t.seed})), height_(0) {}

uts::node::node(const node& parent, int index) : height_(parent.height_ + 1) {
  const auto& s = parent.state_;
  state_ = sha1<6>({s[0], s[1], s[2], s[3], s[4], static_cast<std::uint32_t>(index)});
}

double uts::node::uniform() const { return (state_[4] & 0x7fffffffu) / 2147483648.0; }

int uts::node::children(const tree& t) const {
  if (t.kind == tree::shape::binomial) {
    if (height_ == 0) return static_cast<int>(t.root_children);
    return uniform() < t.probability ? t.children : 0;
  }
  if (height_ >= t.depth) return 0;
  constexpr int most = 100;
  const double p = 1 / (1 + t.root_children);  // of no further child
  return std::min(most, static_cast<int>(std::floor(std::log(1 - uniform()) / std::log(1 - p))));
}
