! SPDX-License-Identifier: Apache-2.0
!> A job that logs one metric of all its ranks, through both modules of MPI.
program fortran_mpi_program
  use mpi_f08
  use, intrinsic :: iso_fortran_env, only: real64
  use steptape
  use steptape_mpi
  implicit none
  type(steptape_writer) :: writer, second
  character(1000) :: run
  integer :: rank, step, status

  call MPI_Init()
  call MPI_Comm_rank(MPI_COMM_WORLD, rank)
  call get_command_argument(1, run)
  call steptape_open_mpi(writer, run, MPI_COMM_WORLD)
  do step = 1, 3
    call writer%add_scalar("own", rank, step)
    call writer%add_reduced("residual", real(step + rank, real64), step, slowest=.true.)
    call writer%reduce(step)
  end do
  call writer%close()

  call steptape_open_mpi(second, trim(run)//"_each", MPI_COMM_WORLD%mpi_val, &
                         ranks=steptape_ranks_each)
  call second%add_scalar("own", rank, 1)
  call second%close()

  call steptape_open_mpi(second, trim(run)//"_mirrored", MPI_COMM_WORLD, mirror="no URL", stat=status)
  if (status /= steptape_invalid_argument) error stop "a mirror that is no URL"
  call MPI_Finalize()

  call steptape_open_mpi(second, run, MPI_COMM_WORLD, stat=status)
  if (status /= steptape_failed_precondition) error stop "a run after MPI_Finalize()"
end program
