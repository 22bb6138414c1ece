! SPDX-License-Identifier: Apache-2.0
! Lets a rod that is hot at one end reach its final temperatures. Logs how much they change.
program main
  use steptape
  implicit none
  integer, parameter :: cells = 100
  double precision :: rod(cells), change(cells - 2)
  type(steptape_writer) :: writer
  character(1000) :: run
  integer :: step

  run = "runs/first"
  if (command_argument_count() > 0) call get_command_argument(1, run)
  call writer%open(run)
  rod = 0
  rod(1) = 1
  do step = 0, 999
    change = 0.4d0 * (rod(:cells - 2) - 2 * rod(2:cells - 1) + rod(3:))
    rod(2:cells - 1) = rod(2:cells - 1) + change
    call writer%add_scalar("change", maxval(abs(change)), step)
    call writer%add_scalar("temperature/middle", rod(cells / 2), step)
  end do
  call writer%close()
end program
