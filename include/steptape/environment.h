// SPDX-License-Identifier: Apache-2.0
#pragma once

// steptape::Environment and steptape::world(), with the components that the program links:
// steptape::mpi and steptape::c10d define these macros for it.

#include "steptape/ranks/environment.h"

#ifdef STEPTAPE_HAS_MPI
#include "steptape/ranks/mpi_job.h"
#endif
#ifdef STEPTAPE_HAS_C10D
#include "steptape/ranks/c10d_job.h"
#endif
