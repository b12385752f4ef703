// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <plait/base/config.hpp>

// Functions of units that are built with and without MPI lie in different inline namespaces, so they do not link with
// each other. Units that share only tasks and futures would: so each unit defines a variable that is thread-local in
// one of the two settings, which linkers refuse to mix ("TLS definition mismatches non-TLS definition").

PLAIT_INTERFACE

extern "C" {
#if PLAIT_WITH_MPI
[[gnu::weak]] PLAIT_EXPORT constinit thread_local char plait_units_must_agree_on_PLAIT_WITH_MPI = 1;
#else
[[gnu::weak]] PLAIT_EXPORT constinit char plait_units_must_agree_on_PLAIT_WITH_MPI = 1;
#endif
}
