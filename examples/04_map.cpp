// SPDX-License-Identifier: BSL-1.0
// map applies a function to each element of a range, on all workers of all ranks, and gives the results in the order of
// the inputs. A chunk size sends many small tasks in one message; several ranges are taken element by element.
//
//   mpirun -n 4 ./04_map
//
// expect: 1229 primes below 10000
// expect: first words: one 1, two 2, three 3
// expect: dot product = 328350
#include <plait/plait.hpp>

#include <cstdio>
#include <numeric>
#include <string>
#include <vector>

bool is_prime(int n) {
  if (n < 2) return false;
  for (int d = 2; d * d <= n; ++d) {
    if (n % d == 0) return false;
  }
  return true;
}

std::string label(const std::string& word, int number) { return word + ' ' + std::to_string(number); }

/// A task may be a coroutine as well.
plait::task<long> product(long a, long b) { co_return a* b; }

plait::task<int> program() {
  std::vector<int> numbers(10'000);
  std::iota(numbers.begin(), numbers.end(), 0);
  const auto prime = co_await plait::map<is_prime>(numbers, {.chunk = 250});  // 40 tasks of 250 calls each
  long primes = 0;
  for (const bool p : prime) primes += p;
  std::printf("%ld primes below 10000\n", primes);

  const std::vector<std::string> words = {"one", "two", "three"};
  const std::vector<int> values = {1, 2, 3};
  const std::vector<std::string> labels = co_await plait::map<label>(plait::map_options{}, words, values);
  std::printf("first words: %s, %s, %s\n", labels[0].c_str(), labels[1].c_str(), labels[2].c_str());

  std::vector<long> a(100);
  std::iota(a.begin(), a.end(), 0);
  const std::vector<long> products = co_await plait::map<product>(plait::map_options{.chunk = 8}, a, a);
  const long dot = std::accumulate(products.begin(), products.end(), 0L);
  std::printf("dot product = %ld\n", dot);

  if (primes == 1229 && labels[2] == "three 3" && dot == 328'350) co_return 0;
  std::fprintf(stderr, "wrong: see the values above\n");
  co_return 1;
}

int main(int argc, char** argv) { return plait::launch<program>(argc, argv); }
