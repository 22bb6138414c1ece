! SPDX-License-Identifier: Apache-2.0
! The Fortran one of the programs that log the same: see languages_test.py.
program twin
  use, intrinsic :: iso_fortran_env, only: real32, real64
  use steptape
  implicit none
  type(steptape_writer) :: writer
  real(real64) :: weights(100)
  real(real32) :: field(8, 6)
  character(4096) :: run, mirror
  integer :: step, i
  call get_command_argument(1, run)
  call get_command_argument(2, mirror)
  call writer%open(run, mirror=mirror)
  do step = 0, 199
    call writer%add_scalar("loss", 100.0_real64 / (step + 1), step)
  end do
  weights = [(0.25_real64 * (i - 50), i = 0, 99)]
  field = reshape([(real(i, real32) / 64, i = 0, 47)], shape(field))
  do step = 0, 2
    call writer%add_histogram("weights", weights, step)
    call writer%add_image("field", field, step)
  end do
  call writer%add_text("notes", "Logged by *four* languages.", 0)
  call writer%add_hparams(["lr    ", "layers"], [0.25_real64, 3.0_real64])
  call writer%close()
end program
