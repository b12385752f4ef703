// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <plait/base/atomic_word.hpp>

// The atomics of the scheduler and the tasks. The tests of interleavings put a header of their own in the place of this
// one (tests/interleavings), and so of mutex.hpp, pause.hpp, futex.hpp and others in this folder.

PLAIT_INTERFACE

namespace plait::base {

template <class T>
using atomic = atomic_word<T>;
template <class T>
using atomic_ref = atomic_word_ref<T>;

}  // namespace plait::base
