! SPDX-License-Identifier: Apache-2.0
!> Solves the heat equation on a plate, in blocks over all ranks of an MPI job, and logs it.
!>
!>     mpiexec -n 4 heat_equation --cells 512 --steps 8000
!>     tensorboard --logdir runs
!>
!> TensorBoard then shows:
!>
!> - `residual`, the mean change of a cell in a step over all ranks;
!> - `seconds` of a step, with its band over the ranks on the page Custom Scalars, and the slowest
!>   rank as `seconds/argmax_rank`;
!> - the temperature of the whole plate, as an image.
!>
!> With an installed Steptape, one line builds it:
!>
!>     mpifort -O2 $(pkg-config --variable=fortran steptape-c) \
!>       $(pkg-config --variable=fortran_mpi steptape-c) heat_equation.f90 \
!>       $(pkg-config --libs steptape-c) -o heat_equation
module plates
  use, intrinsic :: iso_fortran_env, only: real64
  use mpi_f08
  implicit none
  private
  public :: plate, make_plate, exchange_halo, relax, gather

  !> The block of a square plate that one rank owns. A disk in its middle is hot at the start, and its
  !> left edge always; the other edges stay cold.
  type :: plate
    type(MPI_Comm) :: ranks             !< Of the whole plate, in a grid.
    integer :: cells                    !< On each side of the whole plate.
    integer :: first(2), last(2)        !< The block, along x and y.
    integer :: before(2), after(2)      !< The neighbors; MPI_PROC_NULL at the edge of the plate.
    real(real64), allocatable :: temperature(:, :)  !< Of the block, and of one cell around it.
  end type

contains

  !> Returns the first and the last cell of the block at a place in the grid of ranks.
  pure subroutine block_of(place, places, cells, first, last)
    integer, intent(in) :: place(2), places(2), cells
    integer, intent(out) :: first(2), last(2)
    first = 1 + place*cells/places
    last = (place + 1)*cells/places
  end subroutine

  !> Divides a plate among the ranks of a communicator. Collective.
  function make_plate(comm, cells) result(this)
    type(MPI_Comm), intent(in) :: comm
    integer, intent(in) :: cells
    type(plate) :: this
    integer :: ranks, places(2), place(2), axis, x, y
    logical :: is_ring(2)
    call MPI_Comm_size(comm, ranks)
    places = 0
    call MPI_Dims_create(ranks, 2, places)
    call MPI_Cart_create(comm, 2, places, [.false., .false.], .false., this%ranks)
    call MPI_Cart_get(this%ranks, 2, places, is_ring, place)
    do axis = 1, 2
      call MPI_Cart_shift(this%ranks, axis - 1, 1, this%before(axis), this%after(axis))
    end do
    this%cells = cells
    call block_of(place, places, cells, this%first, this%last)
    allocate (this%temperature(this%first(1) - 1:this%last(1) + 1, &
                               this%first(2) - 1:this%last(2) + 1), source=0.0_real64)
    do y = this%first(2), this%last(2)
      do x = this%first(1), this%last(1)
        if ((2*x - cells)**2 + (2*y - cells)**2 < (cells/2)**2) this%temperature(x, y) = 1
      end do
    end do
    if (this%first(1) == 1) this%temperature(0, :) = 1
  end function

  !> Gets the cells around the block from its neighbors.
  subroutine exchange_halo(this)
    type(plate), intent(inout) :: this
    associate (t => this%temperature, first => this%first, last => this%last)
      call shift(size(t, 2), t(first(1), :), this%before(1), t(last(1) + 1, :), this%after(1))
      call shift(size(t, 2), t(last(1), :), this%after(1), t(first(1) - 1, :), this%before(1))
      call shift(size(t, 1), t(:, first(2)), this%before(2), t(:, last(2) + 1), this%after(2))
      call shift(size(t, 1), t(:, last(2)), this%after(2), t(:, first(2) - 1), this%before(2))
    end associate
  contains
    !> Sends cells to one neighbor and receives those of the other. The compiler packs them.
    subroutine shift(count, inner, to, outer, from)
      integer, intent(in) :: count, to, from
      real(real64), intent(in) :: inner(count)
      real(real64), intent(inout) :: outer(count)
      call MPI_Sendrecv(inner, count, MPI_DOUBLE_PRECISION, to, 0, outer, count, &
                        MPI_DOUBLE_PRECISION, from, 0, this%ranks, MPI_STATUS_IGNORE)
    end subroutine
  end subroutine

  !> Makes one step in time. Returns the mean change of the block's cells.
  function relax(this) result(change)
    type(plate), intent(inout) :: this
    real(real64) :: change
    real(real64), parameter :: rate = 0.2_real64
    real(real64), allocatable :: by(:, :)
    integer :: x, y
    allocate (by(this%first(1):this%last(1), this%first(2):this%last(2)))
    associate (t => this%temperature)
      do y = this%first(2), this%last(2)
        do x = this%first(1), this%last(1)
          by(x, y) = rate*(t(x - 1, y) + t(x + 1, y) + t(x, y - 1) + t(x, y + 1) - 4*t(x, y))
        end do
      end do
      t(this%first(1):this%last(1), this%first(2):this%last(2)) = &
        t(this%first(1):this%last(1), this%first(2):this%last(2)) + by
    end associate
    change = sum(abs(by))/size(by)
  end function

  !> Gets the temperature of the whole plate on rank 0, and nothing on the other ranks. Collective.
  subroutine gather(this, field)
    type(plate), intent(in) :: this
    real(real64), allocatable, intent(out) :: field(:, :)
    real(real64), allocatable :: cells(:, :)
    integer :: rank, ranks, sender, places(2), place(2), first(2), last(2)
    logical :: is_ring(2)
    call MPI_Comm_rank(this%ranks, rank)
    call MPI_Comm_size(this%ranks, ranks)
    allocate (cells, source=this%temperature(this%first(1):this%last(1), &
                                             this%first(2):this%last(2)))
    if (rank /= 0) then
      call MPI_Send(cells, size(cells), MPI_DOUBLE_PRECISION, 0, 1, this%ranks)
      allocate (field(0, 0))
      return
    end if
    allocate (field(this%cells, this%cells))
    field(this%first(1):this%last(1), this%first(2):this%last(2)) = cells
    call MPI_Cart_get(this%ranks, 2, places, is_ring, place)
    do sender = 1, ranks - 1
      call MPI_Cart_coords(this%ranks, sender, 2, place)
      call block_of(place, places, this%cells, first, last)
      deallocate (cells)
      allocate (cells(first(1):last(1), first(2):last(2)))
      call MPI_Recv(cells, size(cells), MPI_DOUBLE_PRECISION, sender, 1, this%ranks, &
                    MPI_STATUS_IGNORE)
      field(first(1):last(1), first(2):last(2)) = cells
    end do
  end subroutine
end module plates

program heat_equation
  use, intrinsic :: iso_fortran_env, only: error_unit, real32, real64
  use mpi_f08
  use plates
  use steptape
  use steptape_mpi
  implicit none
  type(steptape_writer) :: writer
  type(plate) :: own
  character(1000) :: log_dir
  integer :: cells, steps, log_every, step, rank, ranks
  real(real64) :: change, start, seconds

  call MPI_Init()
  call MPI_Comm_rank(MPI_COMM_WORLD, rank)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks)
  cells = 128
  steps = 4000
  log_every = 20
  log_dir = "runs/heat_equation"
  call read_options()

  own = make_plate(MPI_COMM_WORLD, cells)
  call steptape_open_mpi(writer, log_dir, MPI_COMM_WORLD)
  call log_field(0)
  do step = 1, steps
    call steptape_zone_begin("halo")
    call exchange_halo(own)
    call steptape_zone_end()
    call steptape_zone_begin("relax")
    start = MPI_Wtime()
    change = relax(own)
    seconds = MPI_Wtime() - start
    call steptape_zone_end()
    if (mod(step, log_every) == 0 .or. step == steps) then
      ! Ranks may have different numbers of cells.
      call writer%add_reduced("residual", change, step, &
                              weight=real(product(own%last - own%first + 1), real64))
      call writer%add_reduced("seconds", seconds, step, slowest=.true., band=.true.)
      call writer%reduce(step)
    end if
    if (mod(step, 20*log_every) == 0 .or. step == steps) call log_field(step)
  end do
  call writer%close()
  if (rank == 0) print "(a, i0, a, i0, 2a)", "ranks ", ranks, ", steps ", steps, &
    "; tensorboard --logdir ", trim(log_dir)
  call MPI_Finalize()

contains

  !> Logs the whole plate as an image from blue to red: (colors, x, y).
  subroutine log_field(step)
    integer, intent(in) :: step
    real(real64), allocatable :: field(:, :)
    real(real32), allocatable :: image(:, :, :)
    call gather(own, field)
    allocate (image(3, size(field, 1), size(field, 2)))
    image(1, :, :) = real(field, real32)
    image(2, :, :) = real(4*field*(1 - field), real32)*0.6_real32
    image(3, :, :) = real(1 - field, real32)
    if (rank == 0) call writer%add_image("temperature", image, step)
  end subroutine

  subroutine read_options()
    character(1000) :: name, value
    integer :: i, error
    i = 1
    do while (i <= command_argument_count())
      call get_command_argument(i, name)
      if (name == "--help") then
        call print_help()
        call MPI_Finalize()
        stop
      end if
      call get_command_argument(i + 1, value)
      error = 0
      select case (name)
      case ("--cells")
        read (value, *, iostat=error) cells
      case ("--steps")
        read (value, *, iostat=error) steps
      case ("--log-every")
        read (value, *, iostat=error) log_every
      case ("--log-dir")
        log_dir = value
      case default
        call refuse("unknown option "//trim(name)//"; see --help")
      end select
      if (error /= 0) call refuse(trim(name)//": got """//trim(value)//"""; expected a whole number")
      i = i + 2
    end do
    if (min(steps, log_every) < 1) call refuse("--steps, --log-every: expected at least 1")
    if (cells < ranks) call refuse("--cells: expected at least the number of ranks")
  end subroutine

  !> Ends the job, with a message of rank 0.
  subroutine refuse(message)
    character(*), intent(in) :: message
    if (rank == 0) write (error_unit, "(2a)") "heat_equation: ", message
    call MPI_Finalize()
    stop 2
  end subroutine

  subroutine print_help()
    if (rank /= 0) return
    print "(a)", "Solves the heat equation on all ranks of an MPI job and logs it, in Fortran."
    print "(a)", ""
    print "(a)", "  mpiexec -n 4 heat_equation [options]"
    print "(a)", ""
    print "(a)", "  --cells N               cells on each side of the plate  [128]"
    print "(a)", "  --steps N               steps in time  [4000]"
    print "(a)", "  --log-every N           steps between logged ones; every 20th of these has an image  [20]"
    print "(a)", "  --log-dir DIR           log directory for TensorBoard  [runs/heat_equation]"
    print "(a)", "  --help                  print this help"
  end subroutine
end program
