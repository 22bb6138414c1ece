// SPDX-License-Identifier: Apache-2.0
#pragma once

// steptape::Environment and steptape::world(), with the components that the program links:
// steptape::mpi and steptape::c10d define these macros for it.

#include "steptape/comm/environment.h"

#ifdef STEPTAPE_HAS_MPI
#include "steptape/mpi/environment.h"
#endif
#ifdef STEPTAPE_HAS_C10D
#include "steptape/c10d/environment.h"
#endif
