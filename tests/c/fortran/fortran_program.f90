! SPDX-License-Identifier: Apache-2.0
!> Logs every kind of value into the run that its first argument names. With a second argument it
!> makes the mistake of that name, or is killed. The third one names an ONNX file.
program fortran_program
  use, intrinsic :: iso_fortran_env, only: int32, int64, real32, real64
  use steptape
  implicit none
  interface
    function c_raise(signal) bind(c, name="raise") result(status)
      use, intrinsic :: iso_c_binding, only: c_int
      integer(c_int), value :: signal
      integer(c_int) :: status
    end function
    function c_mmap(address, length, protection, flags, descriptor, offset) bind(c, name="mmap") &
      result(memory)
      use, intrinsic :: iso_c_binding, only: c_int, c_long, c_ptr, c_size_t
      type(c_ptr), value :: address
      integer(c_size_t), value :: length
      integer(c_int), value :: protection, flags, descriptor
      integer(c_long), value :: offset
      type(c_ptr) :: memory
    end function
  end interface
  type(steptape_writer) :: writer
  type(steptape_series) :: loss
  character(1000) :: run, mode, message
  character(20) :: padded
  integer(int64) :: step
  integer :: status, i
  real(real64), allocatable :: field(:, :)
  real(real32) :: box(4, 5, 6), image(6, 4), batch(3, 6, 4, 2), tone(100, 2)
  type(steptape_series) :: pair(2)
  integer(int64), parameter :: late = 2_int64**40

  call get_command_argument(1, run)
  call get_command_argument(2, mode)
  call writer%open(run, ranks=steptape_ranks_all)
  if (mode == "counting") call log_until_killed()
  call steptape_zone_begin("training")
  loss = writer%series("loss  ", display_name="Loss", description="of a program in Fortran")
  padded = "accuracy"
  do step = 0, 99
    call writer%add_scalar(loss, 1/real(step + 1, real64), step)
    call writer%add_scalar(padded, 0.01_real32*real(step, real32), step)
  end do
  call steptape_zone_end()
  select case (mode)
  case ("killed")
    status = c_raise(9)
  case ("wrong")
    call writer%add_scalar("   ", 1.0, 1)
  case ("asked")
    message = "unchanged"
    call writer%add_scalar("   ", 1.0, 1, stat=status, errmsg=message)
    if (status /= steptape_invalid_argument) error stop "no status"
    if (index(message, "expected") == 0) error stop "no message"
    call writer%add_step([loss], [1.0, 2.0], 1, stat=status, errmsg=message)
    if (message /= "add_step: got series of size 1 and 2 values; expected as many of both") then
      error stop "no sizes"
    end if
    call writer%add_scalars("waves", ["a", "b"], [1.0], 1, stat=status)
    if (status /= steptape_invalid_argument) error stop "curves without values"
    call writer%add_onnx_graph("nowhere.onnx", stat=status)
    if (status == steptape_ok) error stop "a graph from nowhere"
    call writer%add_audio("tone", tone, 1, data_format="XY", stat=status)
    if (status /= steptape_invalid_argument) error stop "a format that does not exist"
    call writer%resume(late, stat=status)
    if (status /= steptape_ok) error stop "no resumption"
    call writer%add_scalar("fine", 1.0, 1, stat=status)
    if (status /= steptape_ok) error stop "a status"
    call writer%close(stat=status)
    call writer%add_scalar("late", 1.0, 1, stat=status)
    if (status /= steptape_invalid_argument) error stop "a closed writer"
    stop
  case ("forgotten")
    stop
  end select

  do i = 1, 3
    call writer%add_scalar("kinds/int32", 7_int32, i)
    call writer%add_scalar("kinds/int64", 8_int64, i)
  end do

  allocate (field(10, 8))
  field = reshape([(real(i, real64), i=1, 80)], [10, 8])
  call writer%add_histogram("whole", field, 1, bins=4)
  call writer%add_histogram("section", field(1:10:3, 8:2:-2), 1)
  call writer%add_histogram("empty", field(1:0, :), 1)
  box = 0.5
  call writer%add_histogram("box", box(:, 2:4, ::5), 1)
  image = 0
  image(2, 1) = 1
  call writer%add_image("image", image, 1)
  batch = 0
  batch(1, 6, 1, 2) = 1
  call writer%add_images("batch", batch, 1)
  call writer%add_images("gray", batch(1, :, ::2, :), late)
  tone(:, 1) = [(sin(0.1*i), i=1, 100)]
  tone(:, 2) = -tone(:, 1)
  call writer%add_audio("stereo", tone, 1, sample_rate=8000)
  call writer%add_audio("mono", real(tone(::2, 1), real64), late)
  pair = [writer%series("pair/a"), writer%series("pair/b")]
  call writer%add_step(pair, [1.5, 2.5], 7)
  call writer%add_step(pair(2:1:-1), [4.5_real64, 3.5_real64], late)
  call writer%add_scalars("waves", ["sin ", "cos "], [0.25_real64, 0.75_real64], 7)
  call writer%add_scalars("waves", ["sin ", "cos "], [0.5, 1.0], late)
  call get_command_argument(3, message)
  call writer%add_onnx_graph(message)
  call writer%add_histogram("late", box, late)
  call writer%add_image("late_image", image, late)
  call writer%add_text("late_note", "late", late)
  call writer%add_text("note", "# From Fortran  ", 0)
  call writer%add_hparams(["lr      ", "momentum"], [0.1_real64, 0.9_real64])
  call writer%flush()
  call in_a_scope()
  call writer%close()
contains
  !> See random_kills.h.
  subroutine log_until_killed()
    use, intrinsic :: iso_c_binding, only: c_f_pointer, c_int, c_int64_t, c_long, c_null_ptr, c_size_t
    integer(c_int64_t), pointer, volatile :: count
    integer(c_int) :: descriptor
    integer(int64) :: now
    call get_command_argument(3, message)
    read (message, *) descriptor
    call c_f_pointer(c_mmap(c_null_ptr, 8_c_size_t, 3_c_int, 1_c_int, descriptor, 0_c_long), count)
    loss = writer%series("loss")
    now = 0
    do
      now = now + 1
      call writer%add_scalar(loss, 0.5_real64*real(now, real64), now)
      call writer%add_scalar("accuracy", 0.25_real64*real(now, real64), now)
      count = now
    end do
  end subroutine
  subroutine in_a_scope()
    type(steptape_writer) :: other
    call other%open(trim(run)//"_scope", ranks=steptape_ranks_all)
    call other%add_scalar("a", 1.5, 1)
  end subroutine
end program
