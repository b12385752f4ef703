#include <plait/plait.hpp>

#include <cstdio>

double half(double x) { return x / 2; }

plait::task<> study() {
  plait::future<double> answer = plait::submit<half>(3.0);
  double result = co_await answer;
  std::printf("%g\n", result);
}

int main(int argc, char** argv) { return plait::launch<study>(argc, argv); }
