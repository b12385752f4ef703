// SPDX-License-Identifier: BSL-1.0
// expect-error: static assertion failed.*plait: the runner sees the first line

// Proves that the runner notices an error and reads its text.
int main() { static_assert(sizeof(int) == 0, "plait: the runner sees the first line"); }
