/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * Steptape for C11, and for every language that calls C.
 *
 *     steptape_writer* writer = NULL;
 *     steptape_open("runs/demo", NULL, &writer);
 *     for (int64_t step = 0; step < 1000; ++step) {
 *       steptape_add_scalar(writer, "loss/train", train(step), step);
 *     }
 *     steptape_close(writer);
 *
 * Every function returns a steptape_status. After a failure, steptape_error_message() of the same
 * thread tells what the call got, what it expected, and where. A program that ignores both still
 * trains: nothing is thrown, and nothing but the value of the call is missing. Failures in the
 * background, such as a full disk, are reported to `on_error` of the options, and by
 * steptape_flush() and steptape_close().
 *
 * Arguments. Texts are UTF-8 and end with a NUL within STEPTAPE_MAX_TEXT bytes. `options` may be
 * NULL: the defaults. A struct of options begins with its size; fields that an older header lacks
 * have their defaults, and a field that is 0 means its default. Every call has copied what it needs
 * when it returns.
 *
 * Handles. A writer that is closed is recognized, and a call with it fails; its number is never
 * given to another one.
 *
 * Threads. All functions are thread-safe, except steptape_close(), which must not run beside other
 * calls with its writer. In a child process after fork(), all calls with a writer of the parent do
 * nothing.
 *
 * ABI. Symbols have the version STEPTAPE_1. Functions and fields are added, and neither removed nor
 * changed.
 */

/* NOLINTBEGIN: C has neither namespaces nor `using`, and names of its own. */

#include <stddef.h>
#include <stdint.h>

#if defined(__GNUC__)
#define STEPTAPE_C_EXPORT __attribute__((visibility("default")))
#else
#define STEPTAPE_C_EXPORT
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* The most bytes of a text, of which the last one is its NUL. */
#define STEPTAPE_MAX_TEXT (1 << 24)

/* How a call ended. */
typedef enum steptape_status {
  STEPTAPE_OK = 0,
  STEPTAPE_INVALID_ARGUMENT = 1,    /* Such as an empty tag. Do not retry. */
  STEPTAPE_IO_ERROR = 2,            /* The operating system failed. May pass. */
  STEPTAPE_DATA_LOSS = 3,           /* Stored bytes are damaged. */
  STEPTAPE_DEADLINE_EXCEEDED = 4,   /* A wait timed out. The work may still be done later. */
  STEPTAPE_RESOURCE_EXHAUSTED = 5,  /* No memory, or a limit was reached. */
  STEPTAPE_RANK_MISMATCH = 6,       /* Ranks disagree; every rank gets this. */
  STEPTAPE_FAILED_PRECONDITION = 7, /* The state does not allow the call. */
  STEPTAPE_INTERNAL = 8             /* A fault of the library. */
} steptape_status;

/* Returns the name of a status, such as "InvalidArgument"; "OK" for STEPTAPE_OK. */
STEPTAPE_C_EXPORT const char* steptape_status_name(steptape_status status);

/* Returns why the last call of this thread that failed did so; "" before the first. Valid until the
   next call of the thread that fails. */
STEPTAPE_C_EXPORT const char* steptape_error_message(void);

/* Returns the version of the library, such as "0.1.0". */
STEPTAPE_C_EXPORT const char* steptape_version(void);

/* --- Runs ------------------------------------------------------------------------------------- */

/* An open run. */
typedef struct steptape_writer steptape_writer;

/* Which processes of a job write, by the variables that mpiexec, srun or torchrun set. */
typedef enum steptape_ranks {
  STEPTAPE_RANKS_ROOT = 0, /* Rank 0. Calls of the other ranks do nothing, and succeed. */
  STEPTAPE_RANKS_EACH = 1, /* Each rank into the sub-run rank_00000, rank_00001, ... */
  STEPTAPE_RANKS_ALL = 2   /* This process, whatever its rank: each must have its own run. */
} steptape_ranks;

/* What a call does if there is no room for its data: see OverflowPolicy in writer_options.h. */
typedef enum steptape_overflow {
  STEPTAPE_OVERFLOW_BLOCK = 0,
  STEPTAPE_OVERFLOW_DROP_NEWEST = 1,
  STEPTAPE_OVERFLOW_DROP_OLDEST = 2
} steptape_overflow;

/* What steptape_open() does if another process writes the run: see OccupiedRun. */
typedef enum steptape_occupied {
  STEPTAPE_OCCUPIED_REFUSE = 0,
  STEPTAPE_OCCUPIED_NEW_DIRECTORY = 1,
  STEPTAPE_OCCUPIED_SHARE = 2
} steptape_occupied;

/* The form of scalars, histograms, images and audio: see ValueForm. */
typedef enum steptape_value_form {
  STEPTAPE_FORM_COMPATIBLE = 0,
  STEPTAPE_FORM_TENSOR = 1
} steptape_value_form;

/* Gets problems of a writer, each once, on any thread. It must not call the writer. */
typedef void (*steptape_error_handler)(void* context, steptape_status status, const char* message);

typedef struct steptape_open_options {
  size_t size; /* sizeof(steptape_open_options) */
  steptape_ranks ranks;
  steptape_overflow overflow;
  steptape_occupied occupied;
  steptape_value_form value_form;
  const char* comment;         /* At the end of the name of the default directory. */
  const char* filename_suffix; /* At the end of the names of event files. */
  int has_purge_step;          /* Not 0: the run resumes at purge_step. */
  int64_t purge_step;
  int64_t flush_milliseconds; /* The longest time from a call to the file; 0: 1000. */
  int64_t queue_bytes;        /* For data that waits to be written; 0: 64 MiB. */
  int disabled;               /* Not 0: calls do nothing, and no file is made. */
  steptape_error_handler on_error;
  void* on_error_context;
  const char* mirror;          /* "s3://bucket/run", kept as the run's directory is; NULL: none. */
  int64_t mirror_milliseconds; /* The time between two looks of the mirror; 0: 30000. */
  int64_t mirror_timeout_milliseconds; /* How long steptape_close() waits for it; 0: 20000. */
} steptape_open_options;
#define STEPTAPE_OPEN_OPTIONS_INIT                                                                 \
  {                                                                                                \
    sizeof(steptape_open_options), STEPTAPE_RANKS_ROOT, STEPTAPE_OVERFLOW_BLOCK,                   \
        STEPTAPE_OCCUPIED_REFUSE, STEPTAPE_FORM_COMPATIBLE, NULL, NULL, 0, 0, 0, 0, 0, NULL, NULL, \
        NULL, 0, 0                                                                                 \
  }

/*
 * Opens a run for writing.
 *
 * @param run    Its directory, which is made if needed; NULL: `runs/<MonDD_HH-MM-SS>_<host>`.
 * @param writer Set if the call succeeds; else NULL. Close it with steptape_close().
 * @return STEPTAPE_IO_ERROR if the directory or its file cannot be made;
 *         STEPTAPE_FAILED_PRECONDITION if another process writes the run, or if there is no libcurl
 *         for a mirror.
 */
STEPTAPE_C_EXPORT steptape_status steptape_open(const char* run,
                                                const steptape_open_options* options,
                                                steptape_writer** writer);

/* Returns the directory of the run, as long as the writer is open; "" if it is not. */
STEPTAPE_C_EXPORT const char* steptape_run(steptape_writer* writer);

/* Waits until the data of all earlier calls is in its file. */
STEPTAPE_C_EXPORT steptape_status steptape_flush(steptape_writer* writer);

/*
 * Flushes, waits for the mirror, and ends the writer whatever the outcome. NULL is ignored. A writer
 * that is still open is closed when the program calls exit(); no scalar of one that is killed is
 * lost.
 *
 * @return STEPTAPE_DEADLINE_EXCEEDED if the mirror lacks files after its timeout, and
 *         STEPTAPE_IO_ERROR if the bucket refuses them. The run is complete on the disk.
 */
STEPTAPE_C_EXPORT steptape_status steptape_close(steptape_writer* writer);

/* Resumes the run at `step`: TensorBoard discards points at or after it. */
STEPTAPE_C_EXPORT steptape_status steptape_resume(steptape_writer* writer, int64_t step);

/* --- Jobs of several ranks -------------------------------------------------------------------- */

/*
 * How the ranks of a job reach each other: by functions of the program, so that this library needs
 * no MPI. steptape/c/mpi.h makes them of an MPI_Comm, for whatever MPI the program has.
 *
 * There are three lanes, 0 to 2. All ranks start the operations of one lane in the same order;
 * those of different lanes may come in another order on each rank. The functions return 0, or not 0
 * if no operation can succeed any more. They are called by the thread that calls the library.
 */
typedef struct steptape_communicator {
  size_t size; /* sizeof(steptape_communicator) */
  int rank;
  int ranks;
  void* context; /* Passed to each function. */
  /* Begins to gather `bytes` bytes of each rank, in the order of ranks, in `all`, where those of
     this rank are already. Returns at once, with a handle of the operation. */
  int (*start_gather)(void* context, int lane, void* all, size_t bytes, void** operation);
  /* Sets `done` to 1 if the operation has ended, which ends its handle; else to 0. Returns at
     once. */
  int (*test)(void* context, void* operation, int* done);
  /* Returns not 0 while operations are possible: 0 once MPI was finalized. May be NULL. */
  int (*is_usable)(void* context);
  /* Frees the context, whatever is_usable() says. May be NULL. */
  void (*release)(void* context);
  /* Begins to send `bytes` bytes to another rank, which may receive them at any time. Returns at
     once, with a handle for test(). NULL: a rank that waits cannot name the ranks that it misses. */
  int (*start_send)(void* context, int rank, const void* data, size_t bytes, void** operation);
  /* Receives a message of `bytes` bytes that has arrived, and sets `rank` to its sender; -1 if
     there is none. Returns at once. NULL: as for start_send. */
  int (*receive)(void* context, void* data, size_t bytes, int* rank);
} steptape_communicator;
#define STEPTAPE_COMMUNICATOR_INIT \
  { sizeof(steptape_communicator), 0, 1, NULL, NULL, NULL, NULL, NULL, NULL, NULL }

/*
 * Opens the run of a job for writing, on all ranks: it is the root's, whose values are written,
 * as well as averages over all ranks. With STEPTAPE_RANKS_EACH each rank has a sub-run as well.
 *
 * Collective: all ranks call it, and fail together.
 *
 * @param run          The root's counts. Not NULL.
 * @param communicator Its functions are called until the writer is closed, which releases the
 *                     context; so does this call if it fails.
 */
STEPTAPE_C_EXPORT steptape_status steptape_open_job(const char* run,
                                                    const steptape_open_options* options,
                                                    const steptape_communicator* communicator,
                                                    steptape_writer** writer);

/* Options of steptape_add_reduced(); see ReducedOptions. Equal on all ranks, but for `weight`. */
typedef struct steptape_reduced_options {
  size_t size;
  int has_weight; /* Not 0: `weight` counts; else 1. A weight of 0: this rank has no value. */
  double weight;
  int minimum; /* Not 0: also `<tag>/min`; and so on. */
  int maximum;
  int deviation;
  int slowest; /* `<tag>/argmax_rank`: the rank with the largest value. */
  int sum;
  int histogram; /* `<tag>/ranks`: the distribution of the ranks' values. */
  int band;      /* A chart of the mean between minimum and maximum. */
} steptape_reduced_options;
#define STEPTAPE_REDUCED_OPTIONS_INIT \
  { sizeof(steptape_reduced_options), 0, 0, 0, 0, 0, 0, 0, 0, 0 }

/* Queues this rank's value of a metric for steptape_reduce(). A rank without a value passes a
   weight of 0; it must not leave the call out. */
STEPTAPE_C_EXPORT steptape_status steptape_add_reduced(steptape_writer* writer, const char* tag,
                                                       double value, int64_t step,
                                                       const steptape_reduced_options* options);

/*
 * Averages the values that all ranks have queued for a step; the root writes them.
 *
 * Collective.
 *
 * @return STEPTAPE_RANK_MISMATCH on all ranks, if they disagree on tags or step;
 *         STEPTAPE_DEADLINE_EXCEEDED if a rank does not come within ten minutes.
 */
STEPTAPE_C_EXPORT steptape_status steptape_reduce(steptape_writer* writer, int64_t step);

/* --- Scalars ---------------------------------------------------------------------------------- */

/* Options of every kind of value. */
typedef struct steptape_value_options {
  size_t size;              /* sizeof(steptape_value_options) */
  double wall_time;         /* Seconds since 1970; 0: the time of the call. */
  const char* display_name; /* Instead of the tag; of the first value of a tag. */
  const char* description;  /* Markdown beside the chart; of the first value of a tag. */
} steptape_value_options;
#define STEPTAPE_VALUE_OPTIONS_INIT \
  { sizeof(steptape_value_options), 0, NULL, NULL }

/*
 * Records one value of a scalar series. NaN and infinities are kept.
 *
 * @cost A clock read, a hash of the tag and a 24-byte store. No lock, allocation or system call
 *       after the first call of a thread with this tag.
 */
STEPTAPE_C_EXPORT steptape_status steptape_add_scalar(steptape_writer* writer, const char* tag,
                                                      double value, int64_t step);
/* The same for a tag of `length` bytes that needs no NUL at its end. */
STEPTAPE_C_EXPORT steptape_status steptape_add_scalar_n(steptape_writer* writer, const char* tag,
                                                        size_t length, double value, int64_t step);
STEPTAPE_C_EXPORT steptape_status steptape_add_scalar_with(steptape_writer* writer, const char* tag,
                                                           double value, int64_t step,
                                                           const steptape_value_options* options);

/* A scalar series of one writer, for the fastest way to log. 0: of none, to which adding does
   nothing. */
typedef uint32_t steptape_series;

/* Sets `series` to that of a tag. The first call for a tag sets its name and description. */
STEPTAPE_C_EXPORT steptape_status steptape_get_series(steptape_writer* writer, const char* tag,
                                                      const steptape_value_options* options,
                                                      steptape_series* series);

/* Records one value of a series. @cost A clock read and a 24-byte store. */
STEPTAPE_C_EXPORT steptape_status steptape_add(steptape_writer* writer, steptape_series series,
                                               double value, int64_t step);

/* Records `count` values with one time stamp, as one event. */
STEPTAPE_C_EXPORT steptape_status steptape_add_step(steptape_writer* writer, int64_t step,
                                                    const steptape_series* series,
                                                    const double* values, size_t count);

/* Records several curves of one chart: see SummaryWriter::addScalars(). */
STEPTAPE_C_EXPORT steptape_status steptape_add_scalars(
    steptape_writer* writer, const char* main_tag, const char* const* names, const double* values,
    size_t count, int64_t step, const steptape_value_options* options);

/* --- Arrays ----------------------------------------------------------------------------------- */

typedef enum steptape_dtype {
  STEPTAPE_BOOL = 0,
  STEPTAPE_UINT8 = 1,
  STEPTAPE_INT8 = 2,
  STEPTAPE_UINT16 = 3,
  STEPTAPE_INT16 = 4,
  STEPTAPE_UINT32 = 5,
  STEPTAPE_INT32 = 6,
  STEPTAPE_UINT64 = 7,
  STEPTAPE_INT64 = 8,
  STEPTAPE_FLOAT16 = 9,
  STEPTAPE_BFLOAT16 = 10,
  STEPTAPE_FLOAT32 = 11,
  STEPTAPE_FLOAT64 = 12
} steptape_dtype;

/* A dense array of the caller's. */
typedef struct steptape_array {
  const void* data;
  steptape_dtype dtype;
  int rank;               /* 0 to STEPTAPE_MAX_RANK. */
  const int64_t* shape;   /* `rank` sizes. */
  const int64_t* strides; /* In elements, possibly 0 or negative; NULL: row-major, without gaps. */
} steptape_array;
#define STEPTAPE_MAX_RANK 32

typedef struct steptape_histogram_options {
  size_t size;
  double wall_time;
  const char* display_name;
  const char* description;
  const char* rule;    /* "tensorflow", "auto", "fd", ...: see HistogramBins; NULL: "tensorflow". */
  int bins;            /* So many of equal width, instead of a rule. */
  const double* edges; /* Instead of both. */
  size_t edge_count;
  int64_t max_bins; /* Neighbors are merged to reach it; 0: no limit. */
} steptape_histogram_options;
#define STEPTAPE_HISTOGRAM_OPTIONS_INIT \
  { sizeof(steptape_histogram_options), 0, NULL, NULL, NULL, 0, NULL, 0, 0 }

/* Records the distribution of the elements, of any shape. */
STEPTAPE_C_EXPORT steptape_status steptape_add_histogram(steptape_writer* writer, const char* tag,
                                                         const steptape_array* values, int64_t step,
                                                         const steptape_histogram_options* options);

typedef struct steptape_image_options {
  size_t size;
  double wall_time;
  const char* display_name;
  const char* description;
  const char* data_format; /* NULL: "CHW" of an image, "NCHW" of images. */
} steptape_image_options;
#define STEPTAPE_IMAGE_OPTIONS_INIT \
  { sizeof(steptape_image_options), 0, NULL, NULL, NULL }

/* Records an image of 1, 3 or 4 channels: uint8, or floating point from 0 to 1. */
STEPTAPE_C_EXPORT steptape_status steptape_add_image(steptape_writer* writer, const char* tag,
                                                     const steptape_array* pixels, int64_t step,
                                                     const steptape_image_options* options);
/* Records a batch of images as one grid. */
STEPTAPE_C_EXPORT steptape_status steptape_add_images(steptape_writer* writer, const char* tag,
                                                      const steptape_array* pixels, int64_t step,
                                                      const steptape_image_options* options);

typedef struct steptape_audio_options {
  size_t size;
  double wall_time;
  const char* display_name;
  const char* description;
  int64_t sample_rate;     /* Frames a second; 0: 44100. */
  const char* data_format; /* NULL: "LC", (frames, channels). */
} steptape_audio_options;
#define STEPTAPE_AUDIO_OPTIONS_INIT \
  { sizeof(steptape_audio_options), 0, NULL, NULL, 0, NULL }

/* Records sound: floating point from -1 to 1, or integers in their full range. */
STEPTAPE_C_EXPORT steptape_status steptape_add_audio(steptape_writer* writer, const char* tag,
                                                     const steptape_array* samples, int64_t step,
                                                     const steptape_audio_options* options);

/* --- Texts, hyperparameters, graphs ----------------------------------------------------------- */

/* Records a text, which TensorBoard shows as Markdown. */
STEPTAPE_C_EXPORT steptape_status steptape_add_text(steptape_writer* writer, const char* tag,
                                                    const char* markdown, int64_t step,
                                                    const steptape_value_options* options);

typedef enum steptape_hparam_kind {
  STEPTAPE_HPARAM_NUMBER = 0,
  STEPTAPE_HPARAM_BOOL = 1, /* `number` is not 0. */
  STEPTAPE_HPARAM_TEXT = 2
} steptape_hparam_kind;

typedef struct steptape_hparam {
  const char* name;
  steptape_hparam_kind kind;
  double number;
  const char* text;
} steptape_hparam;

typedef struct steptape_metric {
  const char* tag;
  double value;
} steptape_metric;

/* Records the hyperparameters of the run and its results; either may be NULL with a count of 0. */
STEPTAPE_C_EXPORT steptape_status steptape_add_hparams(steptape_writer* writer,
                                                       const steptape_hparam* hparams,
                                                       size_t hparam_count,
                                                       const steptape_metric* metrics,
                                                       size_t metric_count);

/* Records the graph of an ONNX file, with the names, types and shapes that it holds. */
STEPTAPE_C_EXPORT steptape_status steptape_add_onnx_graph(steptape_writer* writer,
                                                          const char* path);

/* --- Zones ------------------------------------------------------------------------------------ */

/*
 * Begins a zone on the calling thread, which the next steptape_zone_end() of the thread ends. Zones
 * nest. `steptape top`, `dump` and `autopsy` show the open ones of a program that has a writer.
 *
 * @return STEPTAPE_INVALID_ARGUMENT if the name is NULL or empty; steptape_zone_end() must follow
 *         all the same.
 * @cost   About 30 ns with a writer, 10 ns without one. A lock and an allocation for the first zone
 *         of a thread with this name.
 */
STEPTAPE_C_EXPORT steptape_status steptape_zone_begin(const char* name);
/* The same for a name of `length` bytes that needs no NUL at its end. */
STEPTAPE_C_EXPORT steptape_status steptape_zone_begin_n(const char* name, size_t length);
/* @return STEPTAPE_FAILED_PRECONDITION without a zone that is open on this thread. */
STEPTAPE_C_EXPORT steptape_status steptape_zone_end(void);

#ifdef __cplusplus
}
#endif

/* NOLINTEND */
