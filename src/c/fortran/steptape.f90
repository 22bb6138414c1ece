! SPDX-License-Identifier: Apache-2.0
!> Steptape for Fortran 2008: writes runs for TensorBoard.
!>
!>     use steptape
!>     type(steptape_writer) :: writer
!>     call writer%open("runs/heat")
!>     do step = 1, 1000
!>       call writer%add_scalar("residual", residual, step)
!>     end do
!>     call writer%close()
!>
!> Blanks at the ends of character arguments are ignored. Arrays of any rank and any section are
!> read where they are, without a copy. Every call has `stat` and `errmsg`, as statements of the
!> language have them: `stat` is 0 or one of the constants below. Without `stat`, a wrong argument
!> and a run that cannot be opened end the program; what may pass, such as a full disk, is written
!> to error_unit, and the program goes on.
!>
!> A writer that goes out of scope is closed. One of the main program, which has no such end, is
!> flushed when the program ends. A writer must not be copied: `call b%open(...)` anew.
!>
!> Compile this file with your program: `.mod` files fit one compiler. It calls libsteptape_c; see
!> steptape/c/steptape.h for guarantees, costs and threads.
module steptape
  use, intrinsic :: iso_c_binding
  use, intrinsic :: iso_fortran_env, only: error_unit, int32, int64, real32, real64
  implicit none
  private

  public :: steptape_writer, steptape_series, steptape_communicator, steptape_zone_begin, steptape_zone_end
  public :: steptape_version

  integer, parameter, public :: steptape_ok = 0
  integer, parameter, public :: steptape_invalid_argument = 1
  integer, parameter, public :: steptape_io_error = 2
  integer, parameter, public :: steptape_data_loss = 3
  integer, parameter, public :: steptape_deadline_exceeded = 4
  integer, parameter, public :: steptape_resource_exhausted = 5
  integer, parameter, public :: steptape_rank_mismatch = 6
  integer, parameter, public :: steptape_failed_precondition = 7
  integer, parameter, public :: steptape_internal = 8

  !> Which processes of a job write; see `ranks` of open().
  integer, parameter, public :: steptape_ranks_root = 0
  integer, parameter, public :: steptape_ranks_each = 1
  integer, parameter, public :: steptape_ranks_all = 2

  !> A scalar series of one writer, for the fastest add_scalar().
  type :: steptape_series
    private
    integer(c_int32_t) :: id = 0
  end type

  !> An open run.
  type :: steptape_writer
    private
    type(c_ptr) :: handle = c_null_ptr
  contains
    procedure :: open => writer_open
    procedure :: open_job => writer_open_job
    procedure :: is_open => writer_is_open
    procedure :: series => writer_series
    procedure :: add_text => writer_add_text
    procedure :: add_hparams => writer_add_hparams
    procedure :: add_reduced => writer_add_reduced
    procedure :: reduce => writer_reduce
    procedure :: flush => writer_flush
    procedure :: close => writer_close
    procedure :: resume => writer_resume
    generic :: add_scalar => add_tag_real32_int32, add_tag_real32_int64, add_tag_real64_int32, &
      add_tag_real64_int64, add_tag_int32_int32, add_tag_int32_int64, add_tag_int64_int32, &
      add_tag_int64_int64, add_series_real32_int32, add_series_real32_int64, &
      add_series_real64_int32, add_series_real64_int64, add_series_int32_int32, &
      add_series_int32_int64, add_series_int64_int32, add_series_int64_int64
    generic :: add_histogram => add_histogram_real32_1, add_histogram_real32_2, &
      add_histogram_real32_3, add_histogram_real32_4, add_histogram_real32_5, &
      add_histogram_real32_6, add_histogram_real32_7, add_histogram_real64_1, &
      add_histogram_real64_2, add_histogram_real64_3, add_histogram_real64_4, &
      add_histogram_real64_5, add_histogram_real64_6, add_histogram_real64_7, &
      add_histogram_int32_1, add_histogram_int32_2, add_histogram_int32_3, &
      add_histogram_int32_4, add_histogram_int32_5, add_histogram_int32_6, &
      add_histogram_int32_7, add_histogram_int64_1, add_histogram_int64_2, &
      add_histogram_int64_3, add_histogram_int64_4, add_histogram_int64_5, &
      add_histogram_int64_6, add_histogram_int64_7
    generic :: add_image => add_image_real32_2, add_image_real32_3, add_image_real64_2, &
      add_image_real64_3
    procedure, private :: add_tag_real32_int32, add_tag_real32_int64, add_tag_real64_int32, &
      add_tag_real64_int64, add_tag_int32_int32, add_tag_int32_int64, add_tag_int64_int32, &
      add_tag_int64_int64, add_series_real32_int32, add_series_real32_int64, &
      add_series_real64_int32, add_series_real64_int64, add_series_int32_int32, &
      add_series_int32_int64, add_series_int64_int32, add_series_int64_int64, &
      add_histogram_real32_1, add_histogram_real32_2, add_histogram_real32_3, &
      add_histogram_real32_4, add_histogram_real32_5, add_histogram_real32_6, &
      add_histogram_real32_7, add_histogram_real64_1, add_histogram_real64_2, &
      add_histogram_real64_3, add_histogram_real64_4, add_histogram_real64_5, &
      add_histogram_real64_6, add_histogram_real64_7, add_histogram_int32_1, &
      add_histogram_int32_2, add_histogram_int32_3, add_histogram_int32_4, &
      add_histogram_int32_5, add_histogram_int32_6, add_histogram_int32_7, &
      add_histogram_int64_1, add_histogram_int64_2, add_histogram_int64_3, &
      add_histogram_int64_4, add_histogram_int64_5, add_histogram_int64_6, &
      add_histogram_int64_7, add_image_real32_2, add_image_real32_3, add_image_real64_2, &
      add_image_real64_3
    final :: writer_finalize
  end type

  type, bind(c) :: c_open_options
    integer(c_size_t) :: size
    integer(c_int) :: ranks = 0
    integer(c_int) :: overflow = 0
    integer(c_int) :: occupied = 0
    integer(c_int) :: value_form = 0
    type(c_ptr) :: comment = c_null_ptr
    type(c_ptr) :: filename_suffix = c_null_ptr
    integer(c_int) :: has_purge_step = 0
    integer(c_int64_t) :: purge_step = 0
    integer(c_int64_t) :: flush_milliseconds = 0
    integer(c_int64_t) :: queue_bytes = 0
    integer(c_int) :: disabled = 0
    type(c_funptr) :: on_error = c_null_funptr
    type(c_ptr) :: on_error_context = c_null_ptr
  end type

  !> How the ranks of a job reach each other: see steptape_communicator in steptape/c/steptape.h. The
  !> module steptape_mpi makes one.
  type, bind(c) :: steptape_communicator
    integer(c_size_t) :: size = 0
    integer(c_int) :: rank = 0
    integer(c_int) :: ranks = 1
    type(c_ptr) :: context = c_null_ptr
    type(c_funptr) :: start_gather = c_null_funptr
    type(c_funptr) :: test = c_null_funptr
    type(c_funptr) :: is_usable = c_null_funptr
    type(c_funptr) :: release = c_null_funptr
    type(c_funptr) :: start_send = c_null_funptr
    type(c_funptr) :: receive = c_null_funptr
  end type

  type, bind(c) :: c_reduced_options
    integer(c_size_t) :: size
    integer(c_int) :: has_weight = 0
    real(c_double) :: weight = 1
    integer(c_int) :: minimum = 0
    integer(c_int) :: maximum = 0
    integer(c_int) :: deviation = 0
    integer(c_int) :: slowest = 0
    integer(c_int) :: sum = 0
    integer(c_int) :: histogram = 0
    integer(c_int) :: band = 0
  end type

  type, bind(c) :: c_value_options
    integer(c_size_t) :: size
    real(c_double) :: wall_time = 0
    type(c_ptr) :: display_name = c_null_ptr
    type(c_ptr) :: description = c_null_ptr
  end type

  type, bind(c) :: c_histogram_options
    integer(c_size_t) :: size
    real(c_double) :: wall_time = 0
    type(c_ptr) :: display_name = c_null_ptr
    type(c_ptr) :: description = c_null_ptr
    type(c_ptr) :: rule = c_null_ptr
    integer(c_int) :: bins = 0
    type(c_ptr) :: edges = c_null_ptr
    integer(c_size_t) :: edge_count = 0
    integer(c_int64_t) :: max_bins = 0
  end type

  type, bind(c) :: c_image_options
    integer(c_size_t) :: size
    real(c_double) :: wall_time = 0
    type(c_ptr) :: display_name = c_null_ptr
    type(c_ptr) :: description = c_null_ptr
    type(c_ptr) :: data_format = c_null_ptr
  end type

  type, bind(c) :: c_array
    type(c_ptr) :: data
    integer(c_int) :: dtype
    integer(c_int) :: rank
    type(c_ptr) :: shape
    type(c_ptr) :: strides
  end type

  type, bind(c) :: c_hparam
    type(c_ptr) :: name
    integer(c_int) :: kind
    real(c_double) :: number
    type(c_ptr) :: text
  end type

  integer(c_int), parameter :: c_int32_type = 6, c_int64_type = 8
  integer(c_int), parameter :: c_float32_type = 11, c_float64_type = 12

  interface
    function c_open(run, options, writer) bind(c, name="steptape_open") result(status)
      import :: c_char, c_int, c_open_options, c_ptr
      character(kind=c_char), intent(in) :: run(*)
      type(c_open_options), intent(in) :: options
      type(c_ptr), intent(out) :: writer
      integer(c_int) :: status
    end function
    function c_open_job(run, options, communicator, writer) bind(c, name="steptape_open_job") &
      result(status)
      import :: c_char, c_int, c_open_options, c_ptr, steptape_communicator
      character(kind=c_char), intent(in) :: run(*)
      type(c_open_options), intent(in) :: options
      type(steptape_communicator), intent(in) :: communicator
      type(c_ptr), intent(out) :: writer
      integer(c_int) :: status
    end function
    function c_add_reduced(writer, tag, value, step, options) &
      bind(c, name="steptape_add_reduced") result(status)
      import :: c_char, c_double, c_int, c_int64_t, c_ptr, c_reduced_options
      type(c_ptr), value :: writer
      character(kind=c_char), intent(in) :: tag(*)
      real(c_double), value :: value
      integer(c_int64_t), value :: step
      type(c_reduced_options), intent(in) :: options
      integer(c_int) :: status
    end function
    function c_reduce(writer, step) bind(c, name="steptape_reduce") result(status)
      import :: c_int, c_int64_t, c_ptr
      type(c_ptr), value :: writer
      integer(c_int64_t), value :: step
      integer(c_int) :: status
    end function
    function c_flush(writer) bind(c, name="steptape_flush") result(status)
      import :: c_int, c_ptr
      type(c_ptr), value :: writer
      integer(c_int) :: status
    end function
    function c_close(writer) bind(c, name="steptape_close") result(status)
      import :: c_int, c_ptr
      type(c_ptr), value :: writer
      integer(c_int) :: status
    end function
    function c_resume(writer, step) bind(c, name="steptape_resume") result(status)
      import :: c_int, c_int64_t, c_ptr
      type(c_ptr), value :: writer
      integer(c_int64_t), value :: step
      integer(c_int) :: status
    end function
    function c_get_series(writer, tag, options, series) bind(c, name="steptape_get_series") &
      result(status)
      import :: c_char, c_int, c_int32_t, c_ptr, c_value_options
      type(c_ptr), value :: writer
      character(kind=c_char), intent(in) :: tag(*)
      type(c_value_options), intent(in) :: options
      integer(c_int32_t), intent(out) :: series
      integer(c_int) :: status
    end function
    function c_add(writer, series, value, step) bind(c, name="steptape_add") result(status)
      import :: c_double, c_int, c_int32_t, c_int64_t, c_ptr
      type(c_ptr), value :: writer
      integer(c_int32_t), value :: series
      real(c_double), value :: value
      integer(c_int64_t), value :: step
      integer(c_int) :: status
    end function
    function c_add_scalar_n(writer, tag, length, value, step) &
      bind(c, name="steptape_add_scalar_n") result(status)
      import :: c_char, c_double, c_int, c_int64_t, c_ptr, c_size_t
      type(c_ptr), value :: writer
      character(kind=c_char), intent(in) :: tag(*)
      integer(c_size_t), value :: length
      real(c_double), value :: value
      integer(c_int64_t), value :: step
      integer(c_int) :: status
    end function
    function c_add_text(writer, tag, markdown, step, options) bind(c, name="steptape_add_text") &
      result(status)
      import :: c_char, c_int, c_int64_t, c_ptr
      type(c_ptr), value :: writer
      character(kind=c_char), intent(in) :: tag(*), markdown(*)
      integer(c_int64_t), value :: step
      type(c_ptr), value :: options
      integer(c_int) :: status
    end function
    function c_add_hparams(writer, hparams, hparam_count, metrics, metric_count) &
      bind(c, name="steptape_add_hparams") result(status)
      import :: c_hparam, c_int, c_ptr, c_size_t
      type(c_ptr), value :: writer
      type(c_hparam), intent(in) :: hparams(*)
      integer(c_size_t), value :: hparam_count
      type(c_ptr), value :: metrics
      integer(c_size_t), value :: metric_count
      integer(c_int) :: status
    end function
    function c_add_histogram(writer, tag, values, step, options) &
      bind(c, name="steptape_add_histogram") result(status)
      import :: c_array, c_char, c_histogram_options, c_int, c_int64_t, c_ptr
      type(c_ptr), value :: writer
      character(kind=c_char), intent(in) :: tag(*)
      type(c_array), intent(in) :: values
      integer(c_int64_t), value :: step
      type(c_histogram_options), intent(in) :: options
      integer(c_int) :: status
    end function
    function c_add_image(writer, tag, pixels, step, options) bind(c, name="steptape_add_image") &
      result(status)
      import :: c_array, c_char, c_image_options, c_int, c_int64_t, c_ptr
      type(c_ptr), value :: writer
      character(kind=c_char), intent(in) :: tag(*)
      type(c_array), intent(in) :: pixels
      integer(c_int64_t), value :: step
      type(c_image_options), intent(in) :: options
      integer(c_int) :: status
    end function
    function c_zone_begin_n(name, length) bind(c, name="steptape_zone_begin_n") result(status)
      import :: c_char, c_int, c_size_t
      character(kind=c_char), intent(in) :: name(*)
      integer(c_size_t), value :: length
      integer(c_int) :: status
    end function
    function c_zone_end() bind(c, name="steptape_zone_end") result(status)
      import :: c_int
      integer(c_int) :: status
    end function
    function c_error_message() bind(c, name="steptape_error_message") result(text)
      import :: c_ptr
      type(c_ptr) :: text
    end function
    function c_version() bind(c, name="steptape_version") result(text)
      import :: c_ptr
      type(c_ptr) :: text
    end function
    pure function c_strlen(text) bind(c, name="strlen") result(length)
      import :: c_ptr, c_size_t
      type(c_ptr), value :: text
      integer(c_size_t) :: length
    end function
  end interface

contains

  !> Returns the version of the library.
  function steptape_version() result(version)
    character(:), allocatable :: version
    version = text_of(c_version())
  end function

  !> Opens a run for writing; closes the one that was open before.
  !>
  !> @param run          Its directory, which is made if needed.
  !> @param ranks        steptape_ranks_root (default): rank 0 of the job writes, and the calls of
  !>                     the others do nothing. steptape_ranks_each: each rank into a sub-run.
  !>                     steptape_ranks_all: this process, whatever its rank.
  !> @param purge_step   The run resumes at this step: TensorBoard discards later points.
  !> @param enabled      False: calls do nothing, and no file is made.
  subroutine writer_open(self, run, ranks, purge_step, filename_suffix, enabled, stat, errmsg)
    class(steptape_writer), intent(inout) :: self
    character(*), intent(in) :: run
    integer, intent(in), optional :: ranks
    integer, intent(in), optional :: purge_step
    character(*), intent(in), optional :: filename_suffix
    logical, intent(in), optional :: enabled
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(c_open_options) :: options
    character(len=:, kind=c_char), allocatable, target :: suffix
    integer(c_int) :: status
    if (c_associated(self%handle)) then
      status = c_close(self%handle)
      self%handle = c_null_ptr
    end if
    options%size = c_sizeof(options)
    if (present(ranks)) options%ranks = int(ranks, c_int)
    if (present(purge_step)) then
      options%has_purge_step = 1
      options%purge_step = purge_step
    end if
    if (present(filename_suffix)) then
      suffix = trim(filename_suffix)//c_null_char
      options%filename_suffix = c_loc(suffix)
    end if
    if (present(enabled)) options%disabled = merge(0, 1, enabled)
    status = c_open(trim(run)//c_null_char, options, self%handle)
    call finish(status, .true., stat, errmsg)
  end subroutine

  !> Opens the run of a job, on all its ranks; see steptape_open_mpi() of the module steptape_mpi.
  subroutine writer_open_job(self, run, communicator, ranks, stat, errmsg)
    class(steptape_writer), intent(inout) :: self
    character(*), intent(in) :: run
    type(steptape_communicator), intent(in) :: communicator
    integer, intent(in), optional :: ranks
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(c_open_options) :: options
    type(steptape_communicator) :: sized
    integer(c_int) :: status
    if (c_associated(self%handle)) then
      status = c_close(self%handle)
      self%handle = c_null_ptr
    end if
    options%size = c_sizeof(options)
    if (present(ranks)) options%ranks = int(ranks, c_int)
    sized = communicator
    sized%size = c_sizeof(sized)
    status = c_open_job(trim(run)//c_null_char, options, sized, self%handle)
    call finish(status, .true., stat, errmsg)
  end subroutine

  !> Queues this rank's value of a metric for reduce().
  !>
  !> @param weight  Of this value in the mean, 1 by default; 0: this rank has no value, and still
  !>                makes the call.
  !> @param minimum, maximum, deviation, total, histogram, band  Also written; equal on all ranks.
  !> @param slowest Also writes the rank with the largest value, as `<tag>/argmax_rank`.
  subroutine writer_add_reduced(self, tag, value, step, weight, minimum, maximum, deviation, &
                                slowest, total, histogram, band, stat, errmsg)
    class(steptape_writer), intent(in) :: self
    character(*), intent(in) :: tag
    real(real64), intent(in) :: value
    integer, intent(in) :: step
    real(real64), intent(in), optional :: weight
    logical, intent(in), optional :: minimum, maximum, deviation, slowest, total, histogram, band
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(c_reduced_options) :: options
    options%size = c_sizeof(options)
    if (present(weight)) then
      options%has_weight = 1
      options%weight = weight
    end if
    if (present(minimum)) options%minimum = merge(1, 0, minimum)
    if (present(maximum)) options%maximum = merge(1, 0, maximum)
    if (present(deviation)) options%deviation = merge(1, 0, deviation)
    if (present(slowest)) options%slowest = merge(1, 0, slowest)
    if (present(total)) options%sum = merge(1, 0, total)
    if (present(histogram)) options%histogram = merge(1, 0, histogram)
    if (present(band)) options%band = merge(1, 0, band)
    call finish(c_add_reduced(self%handle, trim(tag)//c_null_char, value, int(step, c_int64_t), &
                              options), .true., stat, errmsg)
  end subroutine

  !> Averages what all ranks have queued for a step; the root writes it. Collective.
  subroutine writer_reduce(self, step, stat, errmsg)
    class(steptape_writer), intent(in) :: self
    integer, intent(in) :: step
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    call finish(c_reduce(self%handle, int(step, c_int64_t)), .true., stat, errmsg)
  end subroutine

  pure function writer_is_open(self) result(is_open)
    class(steptape_writer), intent(in) :: self
    logical :: is_open
    is_open = c_associated(self%handle)
  end function

  !> Returns the series of a tag. The first call for a tag sets its name and description.
  function writer_series(self, tag, display_name, description, stat, errmsg) result(series)
    class(steptape_writer), intent(in) :: self
    character(*), intent(in) :: tag
    character(*), intent(in), optional :: display_name, description
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(steptape_series) :: series
    type(c_value_options) :: options
    character(len=:, kind=c_char), allocatable, target :: name, markdown
    options%size = c_sizeof(options)
    if (present(display_name)) then
      name = trim(display_name)//c_null_char
      options%display_name = c_loc(name)
    end if
    if (present(description)) then
      markdown = trim(description)//c_null_char
      options%description = c_loc(markdown)
    end if
    call finish(c_get_series(self%handle, trim(tag)//c_null_char, options, series%id), .true., &
                stat, errmsg)
  end function

  !> Records a text, which TensorBoard shows as Markdown.
  subroutine writer_add_text(self, tag, markdown, step, stat, errmsg)
    class(steptape_writer), intent(in) :: self
    character(*), intent(in) :: tag, markdown
    integer, intent(in) :: step
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    call finish(c_add_text(self%handle, trim(tag)//c_null_char, trim(markdown)//c_null_char, &
                           int(step, c_int64_t), c_null_ptr), .true., stat, errmsg)
  end subroutine

  !> Records hyperparameters of the run, by their names.
  subroutine writer_add_hparams(self, names, values, stat, errmsg)
    class(steptape_writer), intent(in) :: self
    character(*), intent(in) :: names(:)
    real(real64), intent(in) :: values(:)
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(c_hparam) :: hparams(size(names))
    character(len=len(names) + 1, kind=c_char), target :: texts(size(names))
    integer :: i
    if (size(names) /= size(values)) then
      call finish(steptape_invalid_argument, .true., stat, errmsg, &
                  "steptape: add_hparams: expected a value for each name")
      return
    end if
    do i = 1, size(names)
      texts(i) = trim(names(i))//c_null_char
      hparams(i) = c_hparam(c_loc(texts(i)), 0_c_int, values(i), c_null_ptr)
    end do
    call finish(c_add_hparams(self%handle, hparams, int(size(names), c_size_t), c_null_ptr, &
                              0_c_size_t), .true., stat, errmsg)
  end subroutine

  !> Waits until the data of all earlier calls is in its file.
  subroutine writer_flush(self, stat, errmsg)
    class(steptape_writer), intent(in) :: self
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    call finish(c_flush(self%handle), .false., stat, errmsg)
  end subroutine

  !> Flushes, and closes the run. Does nothing if it is not open.
  subroutine writer_close(self, stat, errmsg)
    class(steptape_writer), intent(inout) :: self
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(c_ptr) :: handle
    handle = self%handle
    self%handle = c_null_ptr
    call finish(c_close(handle), .false., stat, errmsg)
  end subroutine

  !> Resumes the run at a step: TensorBoard discards points at or after it.
  subroutine writer_resume(self, step, stat, errmsg)
    class(steptape_writer), intent(in) :: self
    integer, intent(in) :: step
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    call finish(c_resume(self%handle, int(step, c_int64_t)), .true., stat, errmsg)
  end subroutine

  impure elemental subroutine writer_finalize(self)
    type(steptape_writer), intent(inout) :: self
    integer(c_int) :: status
    if (.not. c_associated(self%handle)) return
    status = c_close(self%handle)
    self%handle = c_null_ptr
    if (status /= steptape_ok) write (error_unit, "(2a)") "steptape: ", text_of(c_error_message())
  end subroutine

  !> Begins a zone, which steptape_zone_end() of the same thread ends; zones nest.
  subroutine steptape_zone_begin(name)
    character(*), intent(in) :: name
    integer(c_int) :: status
    status = c_zone_begin_n(name, len_trim(name, c_size_t))
    if (status /= steptape_ok) call finish(status, .true.)
  end subroutine

  subroutine steptape_zone_end()
    integer(c_int) :: status
    status = c_zone_end()
    if (status /= steptape_ok) call finish(status, .true.)
  end subroutine

  !> Reports how a call ended, as statements of the language do.
  !> @param must_succeed Whether a failure ends a program that does not ask for it.
  subroutine finish(status, must_succeed, stat, errmsg, message)
    integer(c_int), intent(in) :: status
    logical, intent(in) :: must_succeed
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    character(*), intent(in), optional :: message
    character(:), allocatable :: text
    if (present(stat)) stat = int(status)
    if (status == steptape_ok) return
    if (present(message)) then
      text = message
    else
      text = text_of(c_error_message())
    end if
    if (present(errmsg)) errmsg = text
    if (present(stat)) return
    write (error_unit, "(2a)") "steptape: ", text
    if (must_succeed) error stop 1
  end subroutine

  function text_of(pointer) result(text)
    type(c_ptr), intent(in) :: pointer
    character(:), allocatable :: text
    character(kind=c_char), pointer :: chars(:)
    integer :: i
    call c_f_pointer(pointer, chars, [c_strlen(pointer)])
    allocate (character(size(chars)) :: text)
    do i = 1, size(chars)
      text(i:i) = chars(i)
    end do
  end function

  !> Fills in how an array lies in memory.
  !> @param first The address of its first element; null if there is none.
  !> @param next  For each dimension, the address of the element behind the first one.
  subroutine describe(first, next, extents, dtype, bytes, extent, stride, array)
    type(c_ptr), intent(in) :: first, next(:)
    integer, intent(in) :: extents(:)
    integer(c_int), intent(in) :: dtype
    integer, intent(in) :: bytes
    integer(c_int64_t), intent(out), target :: extent(:), stride(:)
    type(c_array), intent(out) :: array
    integer :: i
    do i = 1, size(extents)
      extent(i) = extents(i)
      stride(i) = (transfer(next(i), 0_c_intptr_t) - transfer(first, 0_c_intptr_t))/bytes
    end do
    array = c_array(first, dtype, size(extents, kind=c_int), c_loc(extent), c_loc(stride))
  end subroutine

  ! The procedures below differ in kinds and ranks alone: Fortran 2008 has neither templates nor
  ! arrays of assumed rank.

  subroutine pass_histogram(self, tag, array, step, bins, rule, stat, errmsg)
    class(steptape_writer), intent(in) :: self
    character(*), intent(in) :: tag
    type(c_array), intent(in) :: array
    integer, intent(in) :: step
    integer, intent(in), optional :: bins
    character(*), intent(in), optional :: rule
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(c_histogram_options) :: options
    character(len=:, kind=c_char), allocatable, target :: name
    options%size = c_sizeof(options)
    if (present(bins)) options%bins = int(bins, c_int)
    if (present(rule)) then
      name = trim(rule)//c_null_char
      options%rule = c_loc(name)
    end if
    call finish(c_add_histogram(self%handle, trim(tag)//c_null_char, array, &
                                int(step, c_int64_t), options), .true., stat, errmsg)
  end subroutine

  subroutine pass_image(self, tag, array, step, default_format, data_format, stat, errmsg)
    class(steptape_writer), intent(in) :: self
    character(*), intent(in) :: tag
    type(c_array), intent(in) :: array
    integer, intent(in) :: step
    character(*), intent(in) :: default_format
    character(*), intent(in), optional :: data_format
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(c_image_options) :: options
    character(len=:, kind=c_char), allocatable, target :: format
    options%size = c_sizeof(options)
    format = default_format
    if (present(data_format)) format = trim(data_format)
    format = format//c_null_char
    options%data_format = c_loc(format)
    call finish(c_add_image(self%handle, trim(tag)//c_null_char, array, int(step, c_int64_t), &
                            options), .true., stat, errmsg)
  end subroutine

  subroutine add_tag_real32_int32(self, tag, value, step, stat, errmsg)
    class(steptape_writer), intent(in) :: self
    character(*), intent(in) :: tag
    real(real32), intent(in) :: value
    integer(int32), intent(in) :: step
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    integer(c_int) :: status
    status = c_add_scalar_n(self%handle, tag, len_trim(tag, c_size_t), &
                            real(value, c_double), int(step, c_int64_t))
    if (present(stat)) stat = steptape_ok
    if (status /= steptape_ok) call finish(status, .true., stat, errmsg)
  end subroutine

  subroutine add_tag_real32_int64(self, tag, value, step, stat, errmsg)
    class(steptape_writer), intent(in) :: self
    character(*), intent(in) :: tag
    real(real32), intent(in) :: value
    integer(int64), intent(in) :: step
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    integer(c_int) :: status
    status = c_add_scalar_n(self%handle, tag, len_trim(tag, c_size_t), &
                            real(value, c_double), step)
    if (present(stat)) stat = steptape_ok
    if (status /= steptape_ok) call finish(status, .true., stat, errmsg)
  end subroutine

  subroutine add_tag_real64_int32(self, tag, value, step, stat, errmsg)
    class(steptape_writer), intent(in) :: self
    character(*), intent(in) :: tag
    real(real64), intent(in) :: value
    integer(int32), intent(in) :: step
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    integer(c_int) :: status
    status = c_add_scalar_n(self%handle, tag, len_trim(tag, c_size_t), &
                            value, int(step, c_int64_t))
    if (present(stat)) stat = steptape_ok
    if (status /= steptape_ok) call finish(status, .true., stat, errmsg)
  end subroutine

  subroutine add_tag_real64_int64(self, tag, value, step, stat, errmsg)
    class(steptape_writer), intent(in) :: self
    character(*), intent(in) :: tag
    real(real64), intent(in) :: value
    integer(int64), intent(in) :: step
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    integer(c_int) :: status
    status = c_add_scalar_n(self%handle, tag, len_trim(tag, c_size_t), &
                            value, step)
    if (present(stat)) stat = steptape_ok
    if (status /= steptape_ok) call finish(status, .true., stat, errmsg)
  end subroutine

  subroutine add_tag_int32_int32(self, tag, value, step, stat, errmsg)
    class(steptape_writer), intent(in) :: self
    character(*), intent(in) :: tag
    integer(int32), intent(in) :: value
    integer(int32), intent(in) :: step
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    integer(c_int) :: status
    status = c_add_scalar_n(self%handle, tag, len_trim(tag, c_size_t), &
                            real(value, c_double), int(step, c_int64_t))
    if (present(stat)) stat = steptape_ok
    if (status /= steptape_ok) call finish(status, .true., stat, errmsg)
  end subroutine

  subroutine add_tag_int32_int64(self, tag, value, step, stat, errmsg)
    class(steptape_writer), intent(in) :: self
    character(*), intent(in) :: tag
    integer(int32), intent(in) :: value
    integer(int64), intent(in) :: step
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    integer(c_int) :: status
    status = c_add_scalar_n(self%handle, tag, len_trim(tag, c_size_t), &
                            real(value, c_double), step)
    if (present(stat)) stat = steptape_ok
    if (status /= steptape_ok) call finish(status, .true., stat, errmsg)
  end subroutine

  subroutine add_tag_int64_int32(self, tag, value, step, stat, errmsg)
    class(steptape_writer), intent(in) :: self
    character(*), intent(in) :: tag
    integer(int64), intent(in) :: value
    integer(int32), intent(in) :: step
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    integer(c_int) :: status
    status = c_add_scalar_n(self%handle, tag, len_trim(tag, c_size_t), &
                            real(value, c_double), int(step, c_int64_t))
    if (present(stat)) stat = steptape_ok
    if (status /= steptape_ok) call finish(status, .true., stat, errmsg)
  end subroutine

  subroutine add_tag_int64_int64(self, tag, value, step, stat, errmsg)
    class(steptape_writer), intent(in) :: self
    character(*), intent(in) :: tag
    integer(int64), intent(in) :: value
    integer(int64), intent(in) :: step
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    integer(c_int) :: status
    status = c_add_scalar_n(self%handle, tag, len_trim(tag, c_size_t), &
                            real(value, c_double), step)
    if (present(stat)) stat = steptape_ok
    if (status /= steptape_ok) call finish(status, .true., stat, errmsg)
  end subroutine

  subroutine add_series_real32_int32(self, series, value, step, stat, errmsg)
    class(steptape_writer), intent(in) :: self
    type(steptape_series), intent(in) :: series
    real(real32), intent(in) :: value
    integer(int32), intent(in) :: step
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    integer(c_int) :: status
    status = c_add(self%handle, series%id, real(value, c_double), &
                   int(step, c_int64_t))
    if (present(stat)) stat = steptape_ok
    if (status /= steptape_ok) call finish(status, .true., stat, errmsg)
  end subroutine

  subroutine add_series_real32_int64(self, series, value, step, stat, errmsg)
    class(steptape_writer), intent(in) :: self
    type(steptape_series), intent(in) :: series
    real(real32), intent(in) :: value
    integer(int64), intent(in) :: step
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    integer(c_int) :: status
    status = c_add(self%handle, series%id, real(value, c_double), &
                   step)
    if (present(stat)) stat = steptape_ok
    if (status /= steptape_ok) call finish(status, .true., stat, errmsg)
  end subroutine

  subroutine add_series_real64_int32(self, series, value, step, stat, errmsg)
    class(steptape_writer), intent(in) :: self
    type(steptape_series), intent(in) :: series
    real(real64), intent(in) :: value
    integer(int32), intent(in) :: step
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    integer(c_int) :: status
    status = c_add(self%handle, series%id, value, &
                   int(step, c_int64_t))
    if (present(stat)) stat = steptape_ok
    if (status /= steptape_ok) call finish(status, .true., stat, errmsg)
  end subroutine

  subroutine add_series_real64_int64(self, series, value, step, stat, errmsg)
    class(steptape_writer), intent(in) :: self
    type(steptape_series), intent(in) :: series
    real(real64), intent(in) :: value
    integer(int64), intent(in) :: step
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    integer(c_int) :: status
    status = c_add(self%handle, series%id, value, &
                   step)
    if (present(stat)) stat = steptape_ok
    if (status /= steptape_ok) call finish(status, .true., stat, errmsg)
  end subroutine

  subroutine add_series_int32_int32(self, series, value, step, stat, errmsg)
    class(steptape_writer), intent(in) :: self
    type(steptape_series), intent(in) :: series
    integer(int32), intent(in) :: value
    integer(int32), intent(in) :: step
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    integer(c_int) :: status
    status = c_add(self%handle, series%id, real(value, c_double), &
                   int(step, c_int64_t))
    if (present(stat)) stat = steptape_ok
    if (status /= steptape_ok) call finish(status, .true., stat, errmsg)
  end subroutine

  subroutine add_series_int32_int64(self, series, value, step, stat, errmsg)
    class(steptape_writer), intent(in) :: self
    type(steptape_series), intent(in) :: series
    integer(int32), intent(in) :: value
    integer(int64), intent(in) :: step
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    integer(c_int) :: status
    status = c_add(self%handle, series%id, real(value, c_double), &
                   step)
    if (present(stat)) stat = steptape_ok
    if (status /= steptape_ok) call finish(status, .true., stat, errmsg)
  end subroutine

  subroutine add_series_int64_int32(self, series, value, step, stat, errmsg)
    class(steptape_writer), intent(in) :: self
    type(steptape_series), intent(in) :: series
    integer(int64), intent(in) :: value
    integer(int32), intent(in) :: step
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    integer(c_int) :: status
    status = c_add(self%handle, series%id, real(value, c_double), &
                   int(step, c_int64_t))
    if (present(stat)) stat = steptape_ok
    if (status /= steptape_ok) call finish(status, .true., stat, errmsg)
  end subroutine

  subroutine add_series_int64_int64(self, series, value, step, stat, errmsg)
    class(steptape_writer), intent(in) :: self
    type(steptape_series), intent(in) :: series
    integer(int64), intent(in) :: value
    integer(int64), intent(in) :: step
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    integer(c_int) :: status
    status = c_add(self%handle, series%id, real(value, c_double), &
                   step)
    if (present(stat)) stat = steptape_ok
    if (status /= steptape_ok) call finish(status, .true., stat, errmsg)
  end subroutine

  subroutine add_histogram_real32_1(self, tag, a, step, bins, rule, stat, errmsg)
    class(steptape_writer), intent(in) :: self
    character(*), intent(in) :: tag
    real(real32), intent(in), target :: a(:)
    integer, intent(in) :: step
    integer, intent(in), optional :: bins
    character(*), intent(in), optional :: rule
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(c_ptr) :: first, next(1)
    type(c_array) :: array
    integer(c_int64_t), target :: extent(1), stride(1)
    first = c_null_ptr
    next = c_null_ptr
    if (size(a) > 0) then
      first = c_loc(a(1))
      next(1) = c_loc(a(min(2, size(a, 1))))
    end if
    call describe(first, next, shape(a), c_float32_type, storage_size(a)/8, extent, stride, array)
    call pass_histogram(self, tag, array, step, bins, rule, stat, errmsg)
  end subroutine

  subroutine add_histogram_real32_2(self, tag, a, step, bins, rule, stat, errmsg)
    class(steptape_writer), intent(in) :: self
    character(*), intent(in) :: tag
    real(real32), intent(in), target :: a(:,:)
    integer, intent(in) :: step
    integer, intent(in), optional :: bins
    character(*), intent(in), optional :: rule
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(c_ptr) :: first, next(2)
    type(c_array) :: array
    integer(c_int64_t), target :: extent(2), stride(2)
    first = c_null_ptr
    next = c_null_ptr
    if (size(a) > 0) then
      first = c_loc(a(1, 1))
      next(1) = c_loc(a(min(2, size(a, 1)), 1))
      next(2) = c_loc(a(1, min(2, size(a, 2))))
    end if
    call describe(first, next, shape(a), c_float32_type, storage_size(a)/8, extent, stride, array)
    call pass_histogram(self, tag, array, step, bins, rule, stat, errmsg)
  end subroutine

  subroutine add_histogram_real32_3(self, tag, a, step, bins, rule, stat, errmsg)
    class(steptape_writer), intent(in) :: self
    character(*), intent(in) :: tag
    real(real32), intent(in), target :: a(:,:,:)
    integer, intent(in) :: step
    integer, intent(in), optional :: bins
    character(*), intent(in), optional :: rule
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(c_ptr) :: first, next(3)
    type(c_array) :: array
    integer(c_int64_t), target :: extent(3), stride(3)
    first = c_null_ptr
    next = c_null_ptr
    if (size(a) > 0) then
      first = c_loc(a(1, 1, 1))
      next(1) = c_loc(a(min(2, size(a, 1)), 1, 1))
      next(2) = c_loc(a(1, min(2, size(a, 2)), 1))
      next(3) = c_loc(a(1, 1, min(2, size(a, 3))))
    end if
    call describe(first, next, shape(a), c_float32_type, storage_size(a)/8, extent, stride, array)
    call pass_histogram(self, tag, array, step, bins, rule, stat, errmsg)
  end subroutine

  subroutine add_histogram_real32_4(self, tag, a, step, bins, rule, stat, errmsg)
    class(steptape_writer), intent(in) :: self
    character(*), intent(in) :: tag
    real(real32), intent(in), target :: a(:,:,:,:)
    integer, intent(in) :: step
    integer, intent(in), optional :: bins
    character(*), intent(in), optional :: rule
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(c_ptr) :: first, next(4)
    type(c_array) :: array
    integer(c_int64_t), target :: extent(4), stride(4)
    first = c_null_ptr
    next = c_null_ptr
    if (size(a) > 0) then
      first = c_loc(a(1, 1, 1, 1))
      next(1) = c_loc(a(min(2, size(a, 1)), 1, 1, 1))
      next(2) = c_loc(a(1, min(2, size(a, 2)), 1, 1))
      next(3) = c_loc(a(1, 1, min(2, size(a, 3)), 1))
      next(4) = c_loc(a(1, 1, 1, min(2, size(a, 4))))
    end if
    call describe(first, next, shape(a), c_float32_type, storage_size(a)/8, extent, stride, array)
    call pass_histogram(self, tag, array, step, bins, rule, stat, errmsg)
  end subroutine

  subroutine add_histogram_real32_5(self, tag, a, step, bins, rule, stat, errmsg)
    class(steptape_writer), intent(in) :: self
    character(*), intent(in) :: tag
    real(real32), intent(in), target :: a(:,:,:,:,:)
    integer, intent(in) :: step
    integer, intent(in), optional :: bins
    character(*), intent(in), optional :: rule
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(c_ptr) :: first, next(5)
    type(c_array) :: array
    integer(c_int64_t), target :: extent(5), stride(5)
    first = c_null_ptr
    next = c_null_ptr
    if (size(a) > 0) then
      first = c_loc(a(1, 1, 1, 1, 1))
      next(1) = c_loc(a(min(2, size(a, 1)), 1, 1, 1, 1))
      next(2) = c_loc(a(1, min(2, size(a, 2)), 1, 1, 1))
      next(3) = c_loc(a(1, 1, min(2, size(a, 3)), 1, 1))
      next(4) = c_loc(a(1, 1, 1, min(2, size(a, 4)), 1))
      next(5) = c_loc(a(1, 1, 1, 1, min(2, size(a, 5))))
    end if
    call describe(first, next, shape(a), c_float32_type, storage_size(a)/8, extent, stride, array)
    call pass_histogram(self, tag, array, step, bins, rule, stat, errmsg)
  end subroutine

  subroutine add_histogram_real32_6(self, tag, a, step, bins, rule, stat, errmsg)
    class(steptape_writer), intent(in) :: self
    character(*), intent(in) :: tag
    real(real32), intent(in), target :: a(:,:,:,:,:,:)
    integer, intent(in) :: step
    integer, intent(in), optional :: bins
    character(*), intent(in), optional :: rule
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(c_ptr) :: first, next(6)
    type(c_array) :: array
    integer(c_int64_t), target :: extent(6), stride(6)
    first = c_null_ptr
    next = c_null_ptr
    if (size(a) > 0) then
      first = c_loc(a(1, 1, 1, 1, 1, 1))
      next(1) = c_loc(a(min(2, size(a, 1)), 1, 1, 1, 1, 1))
      next(2) = c_loc(a(1, min(2, size(a, 2)), 1, 1, 1, 1))
      next(3) = c_loc(a(1, 1, min(2, size(a, 3)), 1, 1, 1))
      next(4) = c_loc(a(1, 1, 1, min(2, size(a, 4)), 1, 1))
      next(5) = c_loc(a(1, 1, 1, 1, min(2, size(a, 5)), 1))
      next(6) = c_loc(a(1, 1, 1, 1, 1, min(2, size(a, 6))))
    end if
    call describe(first, next, shape(a), c_float32_type, storage_size(a)/8, extent, stride, array)
    call pass_histogram(self, tag, array, step, bins, rule, stat, errmsg)
  end subroutine

  subroutine add_histogram_real32_7(self, tag, a, step, bins, rule, stat, errmsg)
    class(steptape_writer), intent(in) :: self
    character(*), intent(in) :: tag
    real(real32), intent(in), target :: a(:,:,:,:,:,:,:)
    integer, intent(in) :: step
    integer, intent(in), optional :: bins
    character(*), intent(in), optional :: rule
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(c_ptr) :: first, next(7)
    type(c_array) :: array
    integer(c_int64_t), target :: extent(7), stride(7)
    first = c_null_ptr
    next = c_null_ptr
    if (size(a) > 0) then
      first = c_loc(a(1, 1, 1, 1, 1, 1, 1))
      next(1) = c_loc(a(min(2, size(a, 1)), 1, 1, 1, 1, 1, 1))
      next(2) = c_loc(a(1, min(2, size(a, 2)), 1, 1, 1, 1, 1))
      next(3) = c_loc(a(1, 1, min(2, size(a, 3)), 1, 1, 1, 1))
      next(4) = c_loc(a(1, 1, 1, min(2, size(a, 4)), 1, 1, 1))
      next(5) = c_loc(a(1, 1, 1, 1, min(2, size(a, 5)), 1, 1))
      next(6) = c_loc(a(1, 1, 1, 1, 1, min(2, size(a, 6)), 1))
      next(7) = c_loc(a(1, 1, 1, 1, 1, 1, min(2, size(a, 7))))
    end if
    call describe(first, next, shape(a), c_float32_type, storage_size(a)/8, extent, stride, array)
    call pass_histogram(self, tag, array, step, bins, rule, stat, errmsg)
  end subroutine

  subroutine add_histogram_real64_1(self, tag, a, step, bins, rule, stat, errmsg)
    class(steptape_writer), intent(in) :: self
    character(*), intent(in) :: tag
    real(real64), intent(in), target :: a(:)
    integer, intent(in) :: step
    integer, intent(in), optional :: bins
    character(*), intent(in), optional :: rule
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(c_ptr) :: first, next(1)
    type(c_array) :: array
    integer(c_int64_t), target :: extent(1), stride(1)
    first = c_null_ptr
    next = c_null_ptr
    if (size(a) > 0) then
      first = c_loc(a(1))
      next(1) = c_loc(a(min(2, size(a, 1))))
    end if
    call describe(first, next, shape(a), c_float64_type, storage_size(a)/8, extent, stride, array)
    call pass_histogram(self, tag, array, step, bins, rule, stat, errmsg)
  end subroutine

  subroutine add_histogram_real64_2(self, tag, a, step, bins, rule, stat, errmsg)
    class(steptape_writer), intent(in) :: self
    character(*), intent(in) :: tag
    real(real64), intent(in), target :: a(:,:)
    integer, intent(in) :: step
    integer, intent(in), optional :: bins
    character(*), intent(in), optional :: rule
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(c_ptr) :: first, next(2)
    type(c_array) :: array
    integer(c_int64_t), target :: extent(2), stride(2)
    first = c_null_ptr
    next = c_null_ptr
    if (size(a) > 0) then
      first = c_loc(a(1, 1))
      next(1) = c_loc(a(min(2, size(a, 1)), 1))
      next(2) = c_loc(a(1, min(2, size(a, 2))))
    end if
    call describe(first, next, shape(a), c_float64_type, storage_size(a)/8, extent, stride, array)
    call pass_histogram(self, tag, array, step, bins, rule, stat, errmsg)
  end subroutine

  subroutine add_histogram_real64_3(self, tag, a, step, bins, rule, stat, errmsg)
    class(steptape_writer), intent(in) :: self
    character(*), intent(in) :: tag
    real(real64), intent(in), target :: a(:,:,:)
    integer, intent(in) :: step
    integer, intent(in), optional :: bins
    character(*), intent(in), optional :: rule
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(c_ptr) :: first, next(3)
    type(c_array) :: array
    integer(c_int64_t), target :: extent(3), stride(3)
    first = c_null_ptr
    next = c_null_ptr
    if (size(a) > 0) then
      first = c_loc(a(1, 1, 1))
      next(1) = c_loc(a(min(2, size(a, 1)), 1, 1))
      next(2) = c_loc(a(1, min(2, size(a, 2)), 1))
      next(3) = c_loc(a(1, 1, min(2, size(a, 3))))
    end if
    call describe(first, next, shape(a), c_float64_type, storage_size(a)/8, extent, stride, array)
    call pass_histogram(self, tag, array, step, bins, rule, stat, errmsg)
  end subroutine

  subroutine add_histogram_real64_4(self, tag, a, step, bins, rule, stat, errmsg)
    class(steptape_writer), intent(in) :: self
    character(*), intent(in) :: tag
    real(real64), intent(in), target :: a(:,:,:,:)
    integer, intent(in) :: step
    integer, intent(in), optional :: bins
    character(*), intent(in), optional :: rule
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(c_ptr) :: first, next(4)
    type(c_array) :: array
    integer(c_int64_t), target :: extent(4), stride(4)
    first = c_null_ptr
    next = c_null_ptr
    if (size(a) > 0) then
      first = c_loc(a(1, 1, 1, 1))
      next(1) = c_loc(a(min(2, size(a, 1)), 1, 1, 1))
      next(2) = c_loc(a(1, min(2, size(a, 2)), 1, 1))
      next(3) = c_loc(a(1, 1, min(2, size(a, 3)), 1))
      next(4) = c_loc(a(1, 1, 1, min(2, size(a, 4))))
    end if
    call describe(first, next, shape(a), c_float64_type, storage_size(a)/8, extent, stride, array)
    call pass_histogram(self, tag, array, step, bins, rule, stat, errmsg)
  end subroutine

  subroutine add_histogram_real64_5(self, tag, a, step, bins, rule, stat, errmsg)
    class(steptape_writer), intent(in) :: self
    character(*), intent(in) :: tag
    real(real64), intent(in), target :: a(:,:,:,:,:)
    integer, intent(in) :: step
    integer, intent(in), optional :: bins
    character(*), intent(in), optional :: rule
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(c_ptr) :: first, next(5)
    type(c_array) :: array
    integer(c_int64_t), target :: extent(5), stride(5)
    first = c_null_ptr
    next = c_null_ptr
    if (size(a) > 0) then
      first = c_loc(a(1, 1, 1, 1, 1))
      next(1) = c_loc(a(min(2, size(a, 1)), 1, 1, 1, 1))
      next(2) = c_loc(a(1, min(2, size(a, 2)), 1, 1, 1))
      next(3) = c_loc(a(1, 1, min(2, size(a, 3)), 1, 1))
      next(4) = c_loc(a(1, 1, 1, min(2, size(a, 4)), 1))
      next(5) = c_loc(a(1, 1, 1, 1, min(2, size(a, 5))))
    end if
    call describe(first, next, shape(a), c_float64_type, storage_size(a)/8, extent, stride, array)
    call pass_histogram(self, tag, array, step, bins, rule, stat, errmsg)
  end subroutine

  subroutine add_histogram_real64_6(self, tag, a, step, bins, rule, stat, errmsg)
    class(steptape_writer), intent(in) :: self
    character(*), intent(in) :: tag
    real(real64), intent(in), target :: a(:,:,:,:,:,:)
    integer, intent(in) :: step
    integer, intent(in), optional :: bins
    character(*), intent(in), optional :: rule
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(c_ptr) :: first, next(6)
    type(c_array) :: array
    integer(c_int64_t), target :: extent(6), stride(6)
    first = c_null_ptr
    next = c_null_ptr
    if (size(a) > 0) then
      first = c_loc(a(1, 1, 1, 1, 1, 1))
      next(1) = c_loc(a(min(2, size(a, 1)), 1, 1, 1, 1, 1))
      next(2) = c_loc(a(1, min(2, size(a, 2)), 1, 1, 1, 1))
      next(3) = c_loc(a(1, 1, min(2, size(a, 3)), 1, 1, 1))
      next(4) = c_loc(a(1, 1, 1, min(2, size(a, 4)), 1, 1))
      next(5) = c_loc(a(1, 1, 1, 1, min(2, size(a, 5)), 1))
      next(6) = c_loc(a(1, 1, 1, 1, 1, min(2, size(a, 6))))
    end if
    call describe(first, next, shape(a), c_float64_type, storage_size(a)/8, extent, stride, array)
    call pass_histogram(self, tag, array, step, bins, rule, stat, errmsg)
  end subroutine

  subroutine add_histogram_real64_7(self, tag, a, step, bins, rule, stat, errmsg)
    class(steptape_writer), intent(in) :: self
    character(*), intent(in) :: tag
    real(real64), intent(in), target :: a(:,:,:,:,:,:,:)
    integer, intent(in) :: step
    integer, intent(in), optional :: bins
    character(*), intent(in), optional :: rule
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(c_ptr) :: first, next(7)
    type(c_array) :: array
    integer(c_int64_t), target :: extent(7), stride(7)
    first = c_null_ptr
    next = c_null_ptr
    if (size(a) > 0) then
      first = c_loc(a(1, 1, 1, 1, 1, 1, 1))
      next(1) = c_loc(a(min(2, size(a, 1)), 1, 1, 1, 1, 1, 1))
      next(2) = c_loc(a(1, min(2, size(a, 2)), 1, 1, 1, 1, 1))
      next(3) = c_loc(a(1, 1, min(2, size(a, 3)), 1, 1, 1, 1))
      next(4) = c_loc(a(1, 1, 1, min(2, size(a, 4)), 1, 1, 1))
      next(5) = c_loc(a(1, 1, 1, 1, min(2, size(a, 5)), 1, 1))
      next(6) = c_loc(a(1, 1, 1, 1, 1, min(2, size(a, 6)), 1))
      next(7) = c_loc(a(1, 1, 1, 1, 1, 1, min(2, size(a, 7))))
    end if
    call describe(first, next, shape(a), c_float64_type, storage_size(a)/8, extent, stride, array)
    call pass_histogram(self, tag, array, step, bins, rule, stat, errmsg)
  end subroutine

  subroutine add_histogram_int32_1(self, tag, a, step, bins, rule, stat, errmsg)
    class(steptape_writer), intent(in) :: self
    character(*), intent(in) :: tag
    integer(int32), intent(in), target :: a(:)
    integer, intent(in) :: step
    integer, intent(in), optional :: bins
    character(*), intent(in), optional :: rule
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(c_ptr) :: first, next(1)
    type(c_array) :: array
    integer(c_int64_t), target :: extent(1), stride(1)
    first = c_null_ptr
    next = c_null_ptr
    if (size(a) > 0) then
      first = c_loc(a(1))
      next(1) = c_loc(a(min(2, size(a, 1))))
    end if
    call describe(first, next, shape(a), c_int32_type, storage_size(a)/8, extent, stride, array)
    call pass_histogram(self, tag, array, step, bins, rule, stat, errmsg)
  end subroutine

  subroutine add_histogram_int32_2(self, tag, a, step, bins, rule, stat, errmsg)
    class(steptape_writer), intent(in) :: self
    character(*), intent(in) :: tag
    integer(int32), intent(in), target :: a(:,:)
    integer, intent(in) :: step
    integer, intent(in), optional :: bins
    character(*), intent(in), optional :: rule
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(c_ptr) :: first, next(2)
    type(c_array) :: array
    integer(c_int64_t), target :: extent(2), stride(2)
    first = c_null_ptr
    next = c_null_ptr
    if (size(a) > 0) then
      first = c_loc(a(1, 1))
      next(1) = c_loc(a(min(2, size(a, 1)), 1))
      next(2) = c_loc(a(1, min(2, size(a, 2))))
    end if
    call describe(first, next, shape(a), c_int32_type, storage_size(a)/8, extent, stride, array)
    call pass_histogram(self, tag, array, step, bins, rule, stat, errmsg)
  end subroutine

  subroutine add_histogram_int32_3(self, tag, a, step, bins, rule, stat, errmsg)
    class(steptape_writer), intent(in) :: self
    character(*), intent(in) :: tag
    integer(int32), intent(in), target :: a(:,:,:)
    integer, intent(in) :: step
    integer, intent(in), optional :: bins
    character(*), intent(in), optional :: rule
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(c_ptr) :: first, next(3)
    type(c_array) :: array
    integer(c_int64_t), target :: extent(3), stride(3)
    first = c_null_ptr
    next = c_null_ptr
    if (size(a) > 0) then
      first = c_loc(a(1, 1, 1))
      next(1) = c_loc(a(min(2, size(a, 1)), 1, 1))
      next(2) = c_loc(a(1, min(2, size(a, 2)), 1))
      next(3) = c_loc(a(1, 1, min(2, size(a, 3))))
    end if
    call describe(first, next, shape(a), c_int32_type, storage_size(a)/8, extent, stride, array)
    call pass_histogram(self, tag, array, step, bins, rule, stat, errmsg)
  end subroutine

  subroutine add_histogram_int32_4(self, tag, a, step, bins, rule, stat, errmsg)
    class(steptape_writer), intent(in) :: self
    character(*), intent(in) :: tag
    integer(int32), intent(in), target :: a(:,:,:,:)
    integer, intent(in) :: step
    integer, intent(in), optional :: bins
    character(*), intent(in), optional :: rule
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(c_ptr) :: first, next(4)
    type(c_array) :: array
    integer(c_int64_t), target :: extent(4), stride(4)
    first = c_null_ptr
    next = c_null_ptr
    if (size(a) > 0) then
      first = c_loc(a(1, 1, 1, 1))
      next(1) = c_loc(a(min(2, size(a, 1)), 1, 1, 1))
      next(2) = c_loc(a(1, min(2, size(a, 2)), 1, 1))
      next(3) = c_loc(a(1, 1, min(2, size(a, 3)), 1))
      next(4) = c_loc(a(1, 1, 1, min(2, size(a, 4))))
    end if
    call describe(first, next, shape(a), c_int32_type, storage_size(a)/8, extent, stride, array)
    call pass_histogram(self, tag, array, step, bins, rule, stat, errmsg)
  end subroutine

  subroutine add_histogram_int32_5(self, tag, a, step, bins, rule, stat, errmsg)
    class(steptape_writer), intent(in) :: self
    character(*), intent(in) :: tag
    integer(int32), intent(in), target :: a(:,:,:,:,:)
    integer, intent(in) :: step
    integer, intent(in), optional :: bins
    character(*), intent(in), optional :: rule
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(c_ptr) :: first, next(5)
    type(c_array) :: array
    integer(c_int64_t), target :: extent(5), stride(5)
    first = c_null_ptr
    next = c_null_ptr
    if (size(a) > 0) then
      first = c_loc(a(1, 1, 1, 1, 1))
      next(1) = c_loc(a(min(2, size(a, 1)), 1, 1, 1, 1))
      next(2) = c_loc(a(1, min(2, size(a, 2)), 1, 1, 1))
      next(3) = c_loc(a(1, 1, min(2, size(a, 3)), 1, 1))
      next(4) = c_loc(a(1, 1, 1, min(2, size(a, 4)), 1))
      next(5) = c_loc(a(1, 1, 1, 1, min(2, size(a, 5))))
    end if
    call describe(first, next, shape(a), c_int32_type, storage_size(a)/8, extent, stride, array)
    call pass_histogram(self, tag, array, step, bins, rule, stat, errmsg)
  end subroutine

  subroutine add_histogram_int32_6(self, tag, a, step, bins, rule, stat, errmsg)
    class(steptape_writer), intent(in) :: self
    character(*), intent(in) :: tag
    integer(int32), intent(in), target :: a(:,:,:,:,:,:)
    integer, intent(in) :: step
    integer, intent(in), optional :: bins
    character(*), intent(in), optional :: rule
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(c_ptr) :: first, next(6)
    type(c_array) :: array
    integer(c_int64_t), target :: extent(6), stride(6)
    first = c_null_ptr
    next = c_null_ptr
    if (size(a) > 0) then
      first = c_loc(a(1, 1, 1, 1, 1, 1))
      next(1) = c_loc(a(min(2, size(a, 1)), 1, 1, 1, 1, 1))
      next(2) = c_loc(a(1, min(2, size(a, 2)), 1, 1, 1, 1))
      next(3) = c_loc(a(1, 1, min(2, size(a, 3)), 1, 1, 1))
      next(4) = c_loc(a(1, 1, 1, min(2, size(a, 4)), 1, 1))
      next(5) = c_loc(a(1, 1, 1, 1, min(2, size(a, 5)), 1))
      next(6) = c_loc(a(1, 1, 1, 1, 1, min(2, size(a, 6))))
    end if
    call describe(first, next, shape(a), c_int32_type, storage_size(a)/8, extent, stride, array)
    call pass_histogram(self, tag, array, step, bins, rule, stat, errmsg)
  end subroutine

  subroutine add_histogram_int32_7(self, tag, a, step, bins, rule, stat, errmsg)
    class(steptape_writer), intent(in) :: self
    character(*), intent(in) :: tag
    integer(int32), intent(in), target :: a(:,:,:,:,:,:,:)
    integer, intent(in) :: step
    integer, intent(in), optional :: bins
    character(*), intent(in), optional :: rule
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(c_ptr) :: first, next(7)
    type(c_array) :: array
    integer(c_int64_t), target :: extent(7), stride(7)
    first = c_null_ptr
    next = c_null_ptr
    if (size(a) > 0) then
      first = c_loc(a(1, 1, 1, 1, 1, 1, 1))
      next(1) = c_loc(a(min(2, size(a, 1)), 1, 1, 1, 1, 1, 1))
      next(2) = c_loc(a(1, min(2, size(a, 2)), 1, 1, 1, 1, 1))
      next(3) = c_loc(a(1, 1, min(2, size(a, 3)), 1, 1, 1, 1))
      next(4) = c_loc(a(1, 1, 1, min(2, size(a, 4)), 1, 1, 1))
      next(5) = c_loc(a(1, 1, 1, 1, min(2, size(a, 5)), 1, 1))
      next(6) = c_loc(a(1, 1, 1, 1, 1, min(2, size(a, 6)), 1))
      next(7) = c_loc(a(1, 1, 1, 1, 1, 1, min(2, size(a, 7))))
    end if
    call describe(first, next, shape(a), c_int32_type, storage_size(a)/8, extent, stride, array)
    call pass_histogram(self, tag, array, step, bins, rule, stat, errmsg)
  end subroutine

  subroutine add_histogram_int64_1(self, tag, a, step, bins, rule, stat, errmsg)
    class(steptape_writer), intent(in) :: self
    character(*), intent(in) :: tag
    integer(int64), intent(in), target :: a(:)
    integer, intent(in) :: step
    integer, intent(in), optional :: bins
    character(*), intent(in), optional :: rule
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(c_ptr) :: first, next(1)
    type(c_array) :: array
    integer(c_int64_t), target :: extent(1), stride(1)
    first = c_null_ptr
    next = c_null_ptr
    if (size(a) > 0) then
      first = c_loc(a(1))
      next(1) = c_loc(a(min(2, size(a, 1))))
    end if
    call describe(first, next, shape(a), c_int64_type, storage_size(a)/8, extent, stride, array)
    call pass_histogram(self, tag, array, step, bins, rule, stat, errmsg)
  end subroutine

  subroutine add_histogram_int64_2(self, tag, a, step, bins, rule, stat, errmsg)
    class(steptape_writer), intent(in) :: self
    character(*), intent(in) :: tag
    integer(int64), intent(in), target :: a(:,:)
    integer, intent(in) :: step
    integer, intent(in), optional :: bins
    character(*), intent(in), optional :: rule
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(c_ptr) :: first, next(2)
    type(c_array) :: array
    integer(c_int64_t), target :: extent(2), stride(2)
    first = c_null_ptr
    next = c_null_ptr
    if (size(a) > 0) then
      first = c_loc(a(1, 1))
      next(1) = c_loc(a(min(2, size(a, 1)), 1))
      next(2) = c_loc(a(1, min(2, size(a, 2))))
    end if
    call describe(first, next, shape(a), c_int64_type, storage_size(a)/8, extent, stride, array)
    call pass_histogram(self, tag, array, step, bins, rule, stat, errmsg)
  end subroutine

  subroutine add_histogram_int64_3(self, tag, a, step, bins, rule, stat, errmsg)
    class(steptape_writer), intent(in) :: self
    character(*), intent(in) :: tag
    integer(int64), intent(in), target :: a(:,:,:)
    integer, intent(in) :: step
    integer, intent(in), optional :: bins
    character(*), intent(in), optional :: rule
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(c_ptr) :: first, next(3)
    type(c_array) :: array
    integer(c_int64_t), target :: extent(3), stride(3)
    first = c_null_ptr
    next = c_null_ptr
    if (size(a) > 0) then
      first = c_loc(a(1, 1, 1))
      next(1) = c_loc(a(min(2, size(a, 1)), 1, 1))
      next(2) = c_loc(a(1, min(2, size(a, 2)), 1))
      next(3) = c_loc(a(1, 1, min(2, size(a, 3))))
    end if
    call describe(first, next, shape(a), c_int64_type, storage_size(a)/8, extent, stride, array)
    call pass_histogram(self, tag, array, step, bins, rule, stat, errmsg)
  end subroutine

  subroutine add_histogram_int64_4(self, tag, a, step, bins, rule, stat, errmsg)
    class(steptape_writer), intent(in) :: self
    character(*), intent(in) :: tag
    integer(int64), intent(in), target :: a(:,:,:,:)
    integer, intent(in) :: step
    integer, intent(in), optional :: bins
    character(*), intent(in), optional :: rule
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(c_ptr) :: first, next(4)
    type(c_array) :: array
    integer(c_int64_t), target :: extent(4), stride(4)
    first = c_null_ptr
    next = c_null_ptr
    if (size(a) > 0) then
      first = c_loc(a(1, 1, 1, 1))
      next(1) = c_loc(a(min(2, size(a, 1)), 1, 1, 1))
      next(2) = c_loc(a(1, min(2, size(a, 2)), 1, 1))
      next(3) = c_loc(a(1, 1, min(2, size(a, 3)), 1))
      next(4) = c_loc(a(1, 1, 1, min(2, size(a, 4))))
    end if
    call describe(first, next, shape(a), c_int64_type, storage_size(a)/8, extent, stride, array)
    call pass_histogram(self, tag, array, step, bins, rule, stat, errmsg)
  end subroutine

  subroutine add_histogram_int64_5(self, tag, a, step, bins, rule, stat, errmsg)
    class(steptape_writer), intent(in) :: self
    character(*), intent(in) :: tag
    integer(int64), intent(in), target :: a(:,:,:,:,:)
    integer, intent(in) :: step
    integer, intent(in), optional :: bins
    character(*), intent(in), optional :: rule
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(c_ptr) :: first, next(5)
    type(c_array) :: array
    integer(c_int64_t), target :: extent(5), stride(5)
    first = c_null_ptr
    next = c_null_ptr
    if (size(a) > 0) then
      first = c_loc(a(1, 1, 1, 1, 1))
      next(1) = c_loc(a(min(2, size(a, 1)), 1, 1, 1, 1))
      next(2) = c_loc(a(1, min(2, size(a, 2)), 1, 1, 1))
      next(3) = c_loc(a(1, 1, min(2, size(a, 3)), 1, 1))
      next(4) = c_loc(a(1, 1, 1, min(2, size(a, 4)), 1))
      next(5) = c_loc(a(1, 1, 1, 1, min(2, size(a, 5))))
    end if
    call describe(first, next, shape(a), c_int64_type, storage_size(a)/8, extent, stride, array)
    call pass_histogram(self, tag, array, step, bins, rule, stat, errmsg)
  end subroutine

  subroutine add_histogram_int64_6(self, tag, a, step, bins, rule, stat, errmsg)
    class(steptape_writer), intent(in) :: self
    character(*), intent(in) :: tag
    integer(int64), intent(in), target :: a(:,:,:,:,:,:)
    integer, intent(in) :: step
    integer, intent(in), optional :: bins
    character(*), intent(in), optional :: rule
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(c_ptr) :: first, next(6)
    type(c_array) :: array
    integer(c_int64_t), target :: extent(6), stride(6)
    first = c_null_ptr
    next = c_null_ptr
    if (size(a) > 0) then
      first = c_loc(a(1, 1, 1, 1, 1, 1))
      next(1) = c_loc(a(min(2, size(a, 1)), 1, 1, 1, 1, 1))
      next(2) = c_loc(a(1, min(2, size(a, 2)), 1, 1, 1, 1))
      next(3) = c_loc(a(1, 1, min(2, size(a, 3)), 1, 1, 1))
      next(4) = c_loc(a(1, 1, 1, min(2, size(a, 4)), 1, 1))
      next(5) = c_loc(a(1, 1, 1, 1, min(2, size(a, 5)), 1))
      next(6) = c_loc(a(1, 1, 1, 1, 1, min(2, size(a, 6))))
    end if
    call describe(first, next, shape(a), c_int64_type, storage_size(a)/8, extent, stride, array)
    call pass_histogram(self, tag, array, step, bins, rule, stat, errmsg)
  end subroutine

  subroutine add_histogram_int64_7(self, tag, a, step, bins, rule, stat, errmsg)
    class(steptape_writer), intent(in) :: self
    character(*), intent(in) :: tag
    integer(int64), intent(in), target :: a(:,:,:,:,:,:,:)
    integer, intent(in) :: step
    integer, intent(in), optional :: bins
    character(*), intent(in), optional :: rule
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(c_ptr) :: first, next(7)
    type(c_array) :: array
    integer(c_int64_t), target :: extent(7), stride(7)
    first = c_null_ptr
    next = c_null_ptr
    if (size(a) > 0) then
      first = c_loc(a(1, 1, 1, 1, 1, 1, 1))
      next(1) = c_loc(a(min(2, size(a, 1)), 1, 1, 1, 1, 1, 1))
      next(2) = c_loc(a(1, min(2, size(a, 2)), 1, 1, 1, 1, 1))
      next(3) = c_loc(a(1, 1, min(2, size(a, 3)), 1, 1, 1, 1))
      next(4) = c_loc(a(1, 1, 1, min(2, size(a, 4)), 1, 1, 1))
      next(5) = c_loc(a(1, 1, 1, 1, min(2, size(a, 5)), 1, 1))
      next(6) = c_loc(a(1, 1, 1, 1, 1, min(2, size(a, 6)), 1))
      next(7) = c_loc(a(1, 1, 1, 1, 1, 1, min(2, size(a, 7))))
    end if
    call describe(first, next, shape(a), c_int64_type, storage_size(a)/8, extent, stride, array)
    call pass_histogram(self, tag, array, step, bins, rule, stat, errmsg)
  end subroutine

  subroutine add_image_real32_2(self, tag, a, step, data_format, stat, errmsg)
    class(steptape_writer), intent(in) :: self
    character(*), intent(in) :: tag
    real(real32), intent(in), target :: a(:,:)
    integer, intent(in) :: step
    character(*), intent(in), optional :: data_format
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(c_ptr) :: first, next(2)
    type(c_array) :: array
    integer(c_int64_t), target :: extent(2), stride(2)
    first = c_null_ptr
    next = c_null_ptr
    if (size(a) > 0) then
      first = c_loc(a(1, 1))
      next(1) = c_loc(a(min(2, size(a, 1)), 1))
      next(2) = c_loc(a(1, min(2, size(a, 2))))
    end if
    call describe(first, next, shape(a), c_float32_type, storage_size(a)/8, extent, stride, array)
    call pass_image(self, tag, array, step, "WH", data_format, stat, errmsg)
  end subroutine

  subroutine add_image_real32_3(self, tag, a, step, data_format, stat, errmsg)
    class(steptape_writer), intent(in) :: self
    character(*), intent(in) :: tag
    real(real32), intent(in), target :: a(:,:,:)
    integer, intent(in) :: step
    character(*), intent(in), optional :: data_format
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(c_ptr) :: first, next(3)
    type(c_array) :: array
    integer(c_int64_t), target :: extent(3), stride(3)
    first = c_null_ptr
    next = c_null_ptr
    if (size(a) > 0) then
      first = c_loc(a(1, 1, 1))
      next(1) = c_loc(a(min(2, size(a, 1)), 1, 1))
      next(2) = c_loc(a(1, min(2, size(a, 2)), 1))
      next(3) = c_loc(a(1, 1, min(2, size(a, 3))))
    end if
    call describe(first, next, shape(a), c_float32_type, storage_size(a)/8, extent, stride, array)
    call pass_image(self, tag, array, step, "CWH", data_format, stat, errmsg)
  end subroutine

  subroutine add_image_real64_2(self, tag, a, step, data_format, stat, errmsg)
    class(steptape_writer), intent(in) :: self
    character(*), intent(in) :: tag
    real(real64), intent(in), target :: a(:,:)
    integer, intent(in) :: step
    character(*), intent(in), optional :: data_format
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(c_ptr) :: first, next(2)
    type(c_array) :: array
    integer(c_int64_t), target :: extent(2), stride(2)
    first = c_null_ptr
    next = c_null_ptr
    if (size(a) > 0) then
      first = c_loc(a(1, 1))
      next(1) = c_loc(a(min(2, size(a, 1)), 1))
      next(2) = c_loc(a(1, min(2, size(a, 2))))
    end if
    call describe(first, next, shape(a), c_float64_type, storage_size(a)/8, extent, stride, array)
    call pass_image(self, tag, array, step, "WH", data_format, stat, errmsg)
  end subroutine

  subroutine add_image_real64_3(self, tag, a, step, data_format, stat, errmsg)
    class(steptape_writer), intent(in) :: self
    character(*), intent(in) :: tag
    real(real64), intent(in), target :: a(:,:,:)
    integer, intent(in) :: step
    character(*), intent(in), optional :: data_format
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(c_ptr) :: first, next(3)
    type(c_array) :: array
    integer(c_int64_t), target :: extent(3), stride(3)
    first = c_null_ptr
    next = c_null_ptr
    if (size(a) > 0) then
      first = c_loc(a(1, 1, 1))
      next(1) = c_loc(a(min(2, size(a, 1)), 1, 1))
      next(2) = c_loc(a(1, min(2, size(a, 2)), 1))
      next(3) = c_loc(a(1, 1, min(2, size(a, 3))))
    end if
    call describe(first, next, shape(a), c_float64_type, storage_size(a)/8, extent, stride, array)
    call pass_image(self, tag, array, step, "CWH", data_format, stat, errmsg)
  end subroutine

end module steptape
