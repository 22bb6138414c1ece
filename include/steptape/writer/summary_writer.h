// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "steptape/base/export.h"
#include "steptape/base/status.h"
#include "steptape/event/event.h"
#include "steptape/summary/histogram.h"
#include "steptape/summary/image.h"
#include "steptape/summary/tensor_view.h"
#include "steptape/summary/value_options.h"
#include "steptape/writer/scalar_tag.h"
#include "steptape/writer/scalar_traits.h"
#include "steptape/writer/step_batch.h"
#include "steptape/writer/writer_options.h"

namespace steptape {

class WriterCore;

/// Writes a run that TensorBoard shows.
///
///     steptape::SummaryWriter writer("runs/demo");
///     auto loss = writer.scalarTag("loss/train");
///     for (std::int64_t step = 0; step < 1000; ++step) {
///       writer.addScalar(loss, train(step), step);
///     }
///
/// The calling thread never touches a disk. A scalar call copies 24 bytes into a ring of the
/// calling thread; one background thread for all writers of the process encodes and writes:
///
///     caller -- 24-byte entry --> ring per thread --> backend thread --> encode --> CRC -->
///     write(2)
///
/// In every `addX` the order is tag, value, step, options. Tags are written as given; '/' groups
/// them in TensorBoard. Steps should not decrease per tag: TensorBoard's fast data server keeps
/// only the last value at a step and drops what a step back overtakes.
///
/// Trouble in the background (a full disk) never comes out of an `addX`: it is counted in stats(),
/// told once to WriterOptions::onError and returned by flush() and close(); what could not be
/// written is kept, within WriterOptions::queueBytes, and tried again.
///
/// In a child made by fork() every call does nothing: the run belongs to the parent.
///
/// @threads Thread-safe, but for construction, moving and destruction.
class STEPTAPE_EXPORT SummaryWriter {
 public:
  /// Writes to `runs/<MonDD_HH-MM-SS>_<host>`, as tensorboardX names it.
  SummaryWriter();
  /// Writes to `runs/<MonDD_HH-MM-SS>_<host><options.comment>`.
  explicit SummaryWriter(WriterOptions options);
  /// Writes to a new event file in `logDir`, which is created as needed. Where files of an earlier
  /// start lie there already, the new one's name sorts after all of them.
  ///
  /// @throws Error(kIoError) if the directory or the file cannot be made.
  explicit SummaryWriter(std::string logDir, WriterOptions options = {});

  SummaryWriter(SummaryWriter&&) noexcept;
  SummaryWriter& operator=(SummaryWriter&&) noexcept;
  /// close(), without its result. Never throws, waits at most WriterOptions::flushTimeout.
  ~SummaryWriter();

  /// The run's directory; empty if the writer is not enabled and none was given.
  const std::string& logDir() const;

  /// Looks `tag` up once. The first call for a tag decides its name and description in TensorBoard;
  /// `options.wallTime` is not used.
  ///
  /// @throws Error(kInvalidArgument) if `tag` is empty.
  ScalarTag scalarTag(std::string_view tag, const ScalarOptions& options = {});

  /// Records one value of a scalar series. NaN and infinities are stored unchanged: a diverging
  /// loss is worth seeing.
  ///
  /// @param value Stored as IEEE binary32, as TensorBoard displays it.
  /// @throws Error(kInvalidArgument) if `tag` is empty; nothing for a ScalarTag.
  /// @cost   No lock, allocation or system call after the thread's first call with this tag: a
  ///         clock read and a 24-byte store, plus a hash of the tag in the string form. Waits only
  ///         when the ring is full, as WriterOptions::overflow says.
  void addScalar(ScalarTag tag, double value, std::int64_t step);
  void addScalar(std::string_view tag, double value, std::int64_t step);
  void addScalar(std::string_view tag, double value, std::int64_t step,
                 const ScalarOptions& options);
  /// Takes any type with ScalarTraits, such as at::Tensor once <steptape/torch.h> is included.
  template <typename T, typename = RequiresScalarTraits<T>>
  void addScalar(ScalarTag tag, const T& value, std::int64_t step) {
    addScalar(tag, ScalarTraits<T>::value(value), step);
  }
  template <typename T, typename = RequiresScalarTraits<T>>
  void addScalar(std::string_view tag, const T& value, std::int64_t step,
                 const ScalarOptions& options = {}) {
    addScalar(tag, ScalarTraits<T>::value(value), step, options);
  }

  /// Starts a batch of scalars with one time stamp that come to lie in one Event.
  StepBatch atStep(std::int64_t step);

  /// Records several curves for one chart: curve `name` becomes the series `mainTag` of the sub-run
  /// `<logDir>/<mainTag>/<name>`, as tensorboardX lays it out. Sub-runs share the background
  /// thread, and only a bounded number of their files is open at a time.
  ///
  /// @throws Error(kInvalidArgument) if `mainTag` or a name is empty or has a ".." component.
  void addScalars(std::string_view mainTag,
                  const std::vector<std::pair<std::string, double>>& values, std::int64_t step,
                  const ScalarOptions& options = {});

  /// Records the distribution of `values` in TensorBoard's default buckets, which grow by 1.1.
  /// NaN and infinities are left out of the buckets and counted apart.
  ///
  /// @shape  Any; strides may be arbitrary.
  /// @cost   Reduces to buckets on the calling thread, about 1 ns per element; no copy is kept.
  void addHistogram(std::string_view tag, const TensorView& values, std::int64_t step,
                    const HistogramOptions& options = {});

  /// Records a histogram whose buckets the caller has counted.
  ///
  /// @throws Error(kInvalidArgument) if the limits do not ascend or the lengths differ.
  void addHistogramRaw(std::string_view tag, const HistogramRaw& histogram, std::int64_t step,
                       const HistogramOptions& options = {});

  /// Records one image.
  ///
  /// @shape  As `options.dataFormat` says: "CHW" (default), "HWC" or "HW"; 1, 3 or 4 channels.
  /// @units  uint8: 0..255. Floats: 0..1, clamped.
  /// @throws Error(kInvalidArgument) naming the offending shape or format.
  /// @cost   Converts to bytes here; PNG compression happens in the background.
  void addImage(std::string_view tag, const TensorView& pixels, std::int64_t step,
                const ImageOptions& options = {});

  /// Records a batch of images as one grid of up to 8 columns.
  ///
  /// @shape "NCHW" (default), "NHWC" or "NHW".
  void addImages(std::string_view tag, const TensorView& pixels, std::int64_t step,
                 const ImagesOptions& options = {});

  /// Records a text, shown as Markdown.
  void addText(std::string_view tag, std::string_view markdown, std::int64_t step,
               const TextOptions& options = {});

  /// Returns when every call made before it, on any thread, is in its file, whole: `kill -9` after
  /// this loses none of them.
  ///
  /// @return kIoError with the system's words if something could not be written (it is kept and
  ///         tried again), kDeadlineExceeded after WriterOptions::flushTimeout.
  Status flush();

  /// flush(), then closes the files. A later call opens a new file of the same run.
  ///
  /// @return as flush(); what could not be written by then is dropped and counted.
  Status close();

  /// What was written, dropped and retried so far.
  WriterStats stats() const;

  /// Writes every scalar that this writer has recorded to `path`, in tensorboardX's shape:
  /// `{"<logDir>/<tag>": [[wall_time, step, value], ...], ...}`; a curve of addScalars() has the
  /// key `<logDir>/<mainTag>/<name>`. NaN and infinities, which JSON does not know, become the
  /// strings "NaN", "Infinity" and "-Infinity".
  ///
  /// @return kIoError if a file cannot be read or `path` not be written.
  /// @cost   Reads this writer's event files again, with memory bounded at about 16 MiB: a run of
  ///         any length exports. Spills to a temporary file beside `path`.
  Status exportScalarsToJson(const std::string& path);

 private:
  void addPixels(std::string_view tag, Pixels pixels, std::int64_t step,
                 std::optional<double> wallTime, SummaryMetadata metadata);

  std::shared_ptr<WriterCore> core_;
};

}  // namespace steptape
