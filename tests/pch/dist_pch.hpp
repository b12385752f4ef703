// SPDX-License-Identifier: BSL-1.0
// What each test of dist starts with, compiled once for all of them.
#include <doctest/doctest.h>

#include <plait/plait.hpp>
