! SPDX-License-Identifier: Apache-2.0
module languages_fortran
  use, intrinsic :: iso_c_binding
  use, intrinsic :: iso_fortran_env, only: int64, real64
  use steptape
  implicit none
  private
  public :: fortran_open, fortran_by_handle, fortran_by_tag, fortran_by_step, fortran_close

  integer, parameter :: tag_count = 20
  type(steptape_writer) :: writer
  type(steptape_series) :: series(tag_count)
  character(14) :: tags(tag_count)

contains

  subroutine fortran_open(run, length) bind(c)
    integer(c_int), value :: length
    character(kind=c_char), intent(in) :: run(length)
    character(length) :: name
    integer :: i
    name = transfer(run, name)
    call writer%open(name)
    do i = 1, tag_count
      write (tags(i), "(a, i2.2)") "train/metric", i - 1
      series(i) = writer%series(tags(i))
    end do
  end subroutine

  subroutine fortran_by_handle(step) bind(c)
    integer(c_int64_t), value :: step
    integer :: i
    do i = 1, tag_count
      call writer%add_scalar(series(i), 0.5_real64, step)
    end do
  end subroutine

  subroutine fortran_by_tag(step) bind(c)
    integer(c_int64_t), value :: step
    integer :: i
    do i = 1, tag_count
      call writer%add_scalar(tags(i), 0.5_real64, step)
    end do
  end subroutine

  subroutine fortran_by_step(step) bind(c)
    integer(c_int64_t), value :: step
    real(real64) :: values(tag_count)
    values = 0.5
    call writer%add_step(series, values, step)
  end subroutine

  subroutine fortran_close() bind(c)
    call writer%close()
  end subroutine
end module
