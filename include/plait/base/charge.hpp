// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <plait/base/clock.hpp>
#include <plait/base/simulator.hpp>

PLAIT_INTERFACE

namespace plait {

/// Says that the calling task computes for so long. In a simulation (net/simulated.hpp) the virtual time of its worker
/// goes on by that while others run; elsewhere it does nothing. Not while a mutex is held, and not in functions that
/// serialise. A coroutine may call it as well.
template <class Rep, class Period>
void charge(std::chrono::duration<Rep, Period> time) noexcept {
  if (auto* s = base::this_simulator()) s->nap(std::chrono::duration_cast<std::chrono::nanoseconds>(time).count());
}

}  // namespace plait
