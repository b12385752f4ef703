// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <functional>
#include <vector>

/// Something that waits for work and is woken by it.
namespace wake_up {

/// Microseconds from just before the work is posted until it runs, a sample a post.
using samples = std::vector<double>;

/// Posts once and gives the time at which the work ran, by bench::seconds().
using post = std::function<double()>;

/// Each makes its party with so many workers, calls `use` with a function that posts to it, and ends it.
void with_plait(int workers, const std::function<void(const post&)>& use);
void with_condition_variable(int workers, const std::function<void(const post&)>& use);
void with_atomic_wait(int workers, const std::function<void(const post&)>& use);
void with_onetbb(int workers, const std::function<void(const post&)>& use);

}  // namespace wake_up
