! SPDX-License-Identifier: Apache-2.0
program consumer
  use steptape
  implicit none
  type(steptape_writer) :: writer
  character(1000) :: run
  call get_command_argument(1, run)
  call writer%open(run)
  call writer%add_scalar("loss", 0.5, 1)
  call writer%close()
end program
