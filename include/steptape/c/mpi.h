/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * steptape_open_mpi(): the run of a job whose ranks are those of an MPI_Comm.
 *
 * This header alone knows MPI: it is compiled with your program, by your MPI, and libsteptape_c
 * works with every one.
 */

#include <limits.h>
#include <stdlib.h>

#include "steptape/c/steptape.h"

#include <mpi.h>

#ifdef __cplusplus
extern "C" {
#endif

/* NOLINTBEGIN: names of C. */

/* Those with an underscore at the end are for this header alone. */
typedef struct steptape_mpi_context_ {
  MPI_Comm lanes[3];
} steptape_mpi_context_;

static inline int steptape_mpi_is_usable_(void* context) {
  int is_initialized = 0;
  int is_finalized = 0;
  (void)context;
  MPI_Initialized(&is_initialized);
  MPI_Finalized(&is_finalized);
  return is_initialized && !is_finalized;
}

static inline int steptape_mpi_start_gather_(void* context, int lane, void* all, size_t bytes,
                                             void** operation) {
  MPI_Request* const request = (MPI_Request*)malloc(sizeof(MPI_Request));
  *operation = request;
  if (request == NULL || bytes > INT_MAX) {
    free(request);
    return 1;
  }
  const MPI_Comm comm = ((steptape_mpi_context_*)context)->lanes[lane];
  const int result =
      MPI_Iallgather(MPI_IN_PLACE, 0, MPI_BYTE, all, (int)bytes, MPI_BYTE, comm, request);
  if (result != MPI_SUCCESS) {
    free(request);
  }
  return result != MPI_SUCCESS;
}

static inline int steptape_mpi_test_(void* context, void* operation, int* done) {
  (void)context;
  const int result = MPI_Test((MPI_Request*)operation, done, MPI_STATUS_IGNORE);
  if (result != MPI_SUCCESS || *done) {
    free(operation);
  }
  return result != MPI_SUCCESS;
}

static inline int steptape_mpi_start_send_(void* context, int rank, const void* data, size_t bytes,
                                           void** operation) {
  MPI_Request* const request = (MPI_Request*)malloc(sizeof(MPI_Request));
  *operation = request;
  if (request == NULL ||
      MPI_Isend(data, (int)bytes, MPI_BYTE, rank, 0, ((steptape_mpi_context_*)context)->lanes[2],
                request) != MPI_SUCCESS) {
    free(request);
    return 1;
  }
  return 0;
}

static inline int steptape_mpi_receive_(void* context, void* data, size_t bytes, int* rank) {
  const MPI_Comm comm = ((steptape_mpi_context_*)context)->lanes[2];
  int is_there = 0;
  MPI_Status status;
  *rank = -1;
  if (MPI_Iprobe(MPI_ANY_SOURCE, 0, comm, &is_there, &status) != MPI_SUCCESS) {
    return 1;
  }
  if (is_there) {
    *rank = status.MPI_SOURCE;
    return MPI_Recv(data, (int)bytes, MPI_BYTE, *rank, 0, comm, MPI_STATUS_IGNORE) != MPI_SUCCESS;
  }
  return 0;
}

static inline void steptape_mpi_release_(void* context) {
  steptape_mpi_context_* const mine = (steptape_mpi_context_*)context;
  if (mine != NULL && steptape_mpi_is_usable_(context)) {
    for (int i = 0; i < 3; ++i) {
      if (mine->lanes[i] != MPI_COMM_NULL) {
        MPI_Comm_free(&mine->lanes[i]);
      }
    }
  }
  free(mine);
}

/* Returns functions over `comm`, for steptape_open_job(). Collective; unusable if MPI is not
   initialized, or was finalized. */
static inline steptape_communicator steptape_mpi_communicator(MPI_Comm comm) {
  steptape_communicator communicator = STEPTAPE_COMMUNICATOR_INIT;
  communicator.start_gather = &steptape_mpi_start_gather_;
  communicator.test = &steptape_mpi_test_;
  communicator.is_usable = &steptape_mpi_is_usable_;
  communicator.release = &steptape_mpi_release_;
  communicator.start_send = &steptape_mpi_start_send_;
  communicator.receive = &steptape_mpi_receive_;
  if (steptape_mpi_is_usable_(NULL)) {
    steptape_mpi_context_* const context =
        (steptape_mpi_context_*)malloc(sizeof(steptape_mpi_context_));
    communicator.context = context;
    for (int i = 0; i < 3 && context != NULL; ++i) {
      context->lanes[i] = MPI_COMM_NULL;
      if (MPI_Comm_dup(comm, &context->lanes[i]) == MPI_SUCCESS) {
        MPI_Comm_set_errhandler(context->lanes[i], MPI_ERRORS_RETURN);
      }
    }
    MPI_Comm_rank(comm, &communicator.rank);
    MPI_Comm_size(comm, &communicator.ranks);
  }
  return communicator;
}

/*
 * Opens the run of the job whose ranks are those of `comm`: see steptape_open_job(). Close it
 * before MPI_Finalize(), on all ranks.
 *
 * Collective.
 *
 * @return STEPTAPE_FAILED_PRECONDITION if MPI is not initialized, or was finalized.
 */
static inline steptape_status steptape_open_mpi(const char* run,
                                                const steptape_open_options* options, MPI_Comm comm,
                                                steptape_writer** writer) {
  const steptape_communicator communicator = steptape_mpi_communicator(comm);
  return steptape_open_job(run, options, &communicator, writer);
}

/* NOLINTEND */

#ifdef __cplusplus
}
#endif
