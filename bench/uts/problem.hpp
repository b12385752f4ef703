// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "../support/contest.hpp"
#include "tree.hpp"

/// Unbalanced Tree Search (Olivier, Huan, Liu, Prins, Dinan, Sadayappan, Tseng, LCPC 2006): counts the nodes of a tree
/// that is computed while it is walked. A task a node. What is to be done lies where nobody can tell before.
namespace uts {

/// tree: 1 or 3, for the published trees T1 and T3.
double run_serial(int tree, int workers);
double run_plait(int tree, int workers);
double run_onetbb(int tree, int workers);
double run_openmp(int tree, int workers);

}  // namespace uts
