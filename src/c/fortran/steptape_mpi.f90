! SPDX-License-Identifier: Apache-2.0
!> Runs of jobs whose ranks are those of a communicator of MPI. Compile this file with your program,
!> after steptape.f90, by your MPI's mpifort: it alone knows MPI.
!>
!>     use steptape
!>     use steptape_mpi
!>     call steptape_open_mpi(writer, "runs/heat", MPI_COMM_WORLD)
!>     call writer%add_reduced("residual", residual, step)
!>     call writer%reduce(step)
module steptape_mpi
  use, intrinsic :: iso_c_binding
  use mpi
  use mpi_f08, only: f08_comm => MPI_Comm
  use steptape, only: steptape_communicator, steptape_writer
  implicit none
  private

  public :: steptape_open_mpi

  !> Opens the run of a job, on all ranks of a communicator, of the module mpi or mpi_f08. Collective.
  !>
  !> The root's values are written, and the averages over all ranks. Close the writer before
  !> MPI_Finalize, on all ranks.
  !>
  !> @param run   The root's counts.
  !> @param ranks steptape_ranks_each: each rank has a sub-run as well.
  !> @param mirror, mirror_seconds, mirror_timeout As for open() of the module steptape.
  interface steptape_open_mpi
    module procedure open_mpi, open_mpi_f08
  end interface

  !> What the library passes back to each function.
  type :: job
    integer :: lanes(0:2) = MPI_COMM_NULL
  end type

contains

  subroutine open_mpi_f08(writer, run, comm, ranks, mirror, mirror_seconds, mirror_timeout, stat, &
                          errmsg)
    type(steptape_writer), intent(inout) :: writer
    character(*), intent(in) :: run
    type(f08_comm), intent(in) :: comm
    integer, intent(in), optional :: ranks
    character(*), intent(in), optional :: mirror
    integer, intent(in), optional :: mirror_seconds, mirror_timeout
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    call open_mpi(writer, run, comm%mpi_val, ranks, mirror, mirror_seconds, mirror_timeout, stat, &
                  errmsg)
  end subroutine

  subroutine open_mpi(writer, run, comm, ranks, mirror, mirror_seconds, mirror_timeout, stat, errmsg)
    type(steptape_writer), intent(inout) :: writer
    character(*), intent(in) :: run
    integer, intent(in) :: comm
    integer, intent(in), optional :: ranks
    character(*), intent(in), optional :: mirror
    integer, intent(in), optional :: mirror_seconds, mirror_timeout
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(steptape_communicator) :: communicator
    type(job), pointer :: context
    integer :: lane, rank, size, error
    communicator%start_gather = c_funloc(start_gather)
    communicator%test = c_funloc(test)
    communicator%is_usable = c_funloc(is_usable)
    communicator%release = c_funloc(release)
    communicator%start_send = c_funloc(start_send)
    communicator%receive = c_funloc(receive)
    if (is_usable(c_null_ptr) /= 0) then
      allocate (context)
      do lane = 0, 2
        call MPI_Comm_dup(comm, context%lanes(lane), error)
        call MPI_Comm_set_errhandler(context%lanes(lane), MPI_ERRORS_RETURN, error)
      end do
      communicator%context = c_loc(context)
      call MPI_Comm_rank(comm, rank, error)
      call MPI_Comm_size(comm, size, error)
      communicator%rank = int(rank, c_int)
      communicator%ranks = int(size, c_int)
    end if
    call writer%open_job(run, communicator, ranks, mirror, mirror_seconds, mirror_timeout, stat, &
                         errmsg)
  end subroutine

  ! The functions that the library calls. They have no binding label, which another program could have.

  function is_usable(context) bind(c, name="") result(usable)
    type(c_ptr), value :: context
    integer(c_int) :: usable
    logical :: is_initialized, is_finalized
    integer :: error
    if (c_associated(context)) continue  ! not used
    call MPI_Initialized(is_initialized, error)
    call MPI_Finalized(is_finalized, error)
    usable = merge(1_c_int, 0_c_int, is_initialized .and. .not. is_finalized)
  end function

  function start_gather(context, lane, all, bytes, operation) bind(c, name="") result(failed)
    type(c_ptr), value :: context, all
    integer(c_int), value :: lane
    integer(c_size_t), value :: bytes
    type(c_ptr), intent(out) :: operation
    integer(c_int) :: failed
    type(job), pointer :: this
    character(kind=c_char), pointer, contiguous :: buffer(:)
    integer, pointer :: request
    integer :: size, error
    failed = 1
    operation = c_null_ptr
    if (bytes > huge(size)) return
    call c_f_pointer(context, this)
    call MPI_Comm_size(this%lanes(lane), size, error)
    call c_f_pointer(all, buffer, [bytes*int(size, c_size_t)])
    allocate (request)
    call MPI_Iallgather(MPI_IN_PLACE, 0, MPI_BYTE, buffer, int(bytes), MPI_BYTE, &
                        this%lanes(lane), request, error)
    if (error /= MPI_SUCCESS) then
      deallocate (request)
      return
    end if
    operation = c_loc(request)
    failed = 0
  end function

  function test(context, operation, done) bind(c, name="") result(failed)
    type(c_ptr), value :: context, operation
    integer(c_int), intent(out) :: done
    integer(c_int) :: failed
    integer, pointer :: request
    logical :: has_ended
    integer :: error
    if (c_associated(context)) continue  ! not used
    call c_f_pointer(operation, request)
    call MPI_Test(request, has_ended, MPI_STATUS_IGNORE, error)
    failed = merge(0_c_int, 1_c_int, error == MPI_SUCCESS)
    done = merge(1_c_int, 0_c_int, has_ended)
    if (has_ended .or. failed /= 0) deallocate (request)
  end function

  function start_send(context, rank, data, bytes, operation) bind(c, name="") result(failed)
    type(c_ptr), value :: context, data
    integer(c_int), value :: rank
    integer(c_size_t), value :: bytes
    type(c_ptr), intent(out) :: operation
    integer(c_int) :: failed
    type(job), pointer :: this
    character(kind=c_char), pointer, contiguous :: buffer(:)
    integer, pointer :: request
    integer :: error
    call c_f_pointer(context, this)
    call c_f_pointer(data, buffer, [bytes])
    allocate (request)
    call MPI_Isend(buffer, int(bytes), MPI_BYTE, int(rank), 0, this%lanes(2), request, error)
    operation = c_loc(request)
    failed = merge(0_c_int, 1_c_int, error == MPI_SUCCESS)
    if (failed /= 0) deallocate (request)
  end function

  function receive(context, data, bytes, rank) bind(c, name="") result(failed)
    type(c_ptr), value :: context, data
    integer(c_size_t), value :: bytes
    integer(c_int), intent(out) :: rank
    integer(c_int) :: failed
    type(job), pointer :: this
    character(kind=c_char), pointer, contiguous :: buffer(:)
    integer :: status(MPI_STATUS_SIZE), error
    logical :: is_there
    call c_f_pointer(context, this)
    rank = -1
    call MPI_Iprobe(MPI_ANY_SOURCE, 0, this%lanes(2), is_there, status, error)
    if (error == MPI_SUCCESS .and. is_there) then
      rank = int(status(MPI_SOURCE), c_int)
      call c_f_pointer(data, buffer, [bytes])
      call MPI_Recv(buffer, int(bytes), MPI_BYTE, status(MPI_SOURCE), 0, this%lanes(2), &
                    MPI_STATUS_IGNORE, error)
    end if
    failed = merge(0_c_int, 1_c_int, error == MPI_SUCCESS)
  end function

  subroutine release(context) bind(c, name="")
    type(c_ptr), value :: context
    type(job), pointer :: this
    integer :: lane, error
    if (.not. c_associated(context)) return
    call c_f_pointer(context, this)
    if (is_usable(context) /= 0) then
      do lane = 0, 2
        call MPI_Comm_free(this%lanes(lane), error)
      end do
    end if
    deallocate (this)
  end subroutine
end module steptape_mpi
