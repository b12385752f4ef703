// SPDX-License-Identifier: BSL-1.0
#pragma once

/// Numbers of workers that loops over ranges are tested with.
inline constexpr int worker_counts[] = {1, 2, 8};
