/* SPDX-License-Identifier: Apache-2.0 */
/* Logs every kind of value into the run that its first argument names, as a program in C does. With
   the second argument "killed" it kills itself before anything is written; with "beside" it opens
   the run beside another program, and ends; with "counting" it logs until it is killed; with
   "unclosed" it mirrors the run into the bucket that the third names, and ends without closing it. */
#define _POSIX_C_SOURCE 200809L
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include <steptape/c/steptape.h>

static void check(steptape_status status) {
  if (status != STEPTAPE_OK) {
    fprintf(stderr, "%s: %s\n", steptape_status_name(status), steptape_error_message());
    exit(1);
  }
}

/* See random_kills.h. */
static void log_until_killed(steptape_writer* writer, int descriptor) {
  volatile int64_t* const count =
      mmap(NULL, sizeof *count, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0);
  if (count == MAP_FAILED) {
    exit(1);
  }
  steptape_series loss = 0;
  check(steptape_get_series(writer, "loss", NULL, &loss));
  for (int64_t step = 1;; ++step) {
    check(steptape_add(writer, loss, 0.5 * (double)step, step));
    check(steptape_add_scalar(writer, "accuracy", 0.25 * (double)step, step));
    *count = step;
  }
}

int main(int argc, char** argv) {
  steptape_open_options options = STEPTAPE_OPEN_OPTIONS_INIT;
  options.ranks = STEPTAPE_RANKS_ALL;
  if (argc < 2) {
    return 2;
  }
  const char* const mode = argc > 2 ? argv[2] : "";
  if (strcmp(mode, "killed") == 0) {
    options.flush_milliseconds = 3600 * 1000;
  }
  if (strcmp(mode, "beside") == 0) {
    options.occupied = STEPTAPE_OCCUPIED_SHARE;
  }
  steptape_writer* writer = NULL;
  if (strcmp(mode, "counting") == 0) {
    options.flush_milliseconds = 1;
  }
  if (strcmp(mode, "unclosed") == 0) {
    options.mirror = argv[3];
  }
  check(steptape_open(argv[1], &options, &writer));
  if (strcmp(mode, "counting") == 0) {
    log_until_killed(writer, atoi(argv[3]));
  }
  if (strcmp(mode, "unclosed") == 0) {
    check(steptape_add_scalar(writer, "a", 1, 1));
    return 0;
  }
  if (strcmp(mode, "beside") == 0) {
    check(steptape_close(writer));
    return 0;
  }

  check(steptape_zone_begin("training"));
  const steptape_value_options named = {
      .size = sizeof named, .display_name = "Loss", .description = "of a program in C"};
  steptape_series loss = 0;
  check(steptape_get_series(writer, "loss", &named, &loss));
  for (int64_t step = 0; step < 100; ++step) {
    check(steptape_add(writer, loss, 1.0 / (double)(step + 1), step));
    check(steptape_add_scalar(writer, "accuracy", 0.01 * (double)step, step));
  }
  check(steptape_zone_end());
  if (strcmp(mode, "killed") == 0) {
    raise(SIGKILL);
  }

  steptape_series pair[2];
  check(steptape_get_series(writer, "pair/a", NULL, &pair[0]));
  check(steptape_get_series(writer, "pair/b", NULL, &pair[1]));
  check(steptape_add_step(writer, 7, pair, (const double[]){1.5, 2.5}, 2));
  check(steptape_add_scalars(writer, "curves", (const char* const[]){"sin", "cos"},
                             (const double[]){sin(1), cos(1)}, 2, 0, NULL));

  float weights[1000];
  for (int i = 0; i < 1000; ++i) {
    weights[i] = (float)sin(i);
  }
  const int64_t many[] = {1000};
  const steptape_array values = {weights, STEPTAPE_FLOAT32, 1, many, NULL};
  steptape_histogram_options bins = STEPTAPE_HISTOGRAM_OPTIONS_INIT;
  bins.bins = 10;
  check(steptape_add_histogram(writer, "weights", &values, 1, &bins));

  static unsigned char pixels[4 * 6 * 3];
  for (int i = 0; i < 72; ++i) {
    pixels[i] = (unsigned char)(3 * i);
  }
  const int64_t hwc[] = {4, 6, 3};
  const steptape_array image = {pixels, STEPTAPE_UINT8, 3, hwc, NULL};
  steptape_image_options format = STEPTAPE_IMAGE_OPTIONS_INIT;
  format.data_format = "HWC";
  check(steptape_add_image(writer, "image", &image, 1, &format));

  const steptape_array tone = {weights, STEPTAPE_FLOAT32, 1, many, NULL};
  steptape_audio_options audio = STEPTAPE_AUDIO_OPTIONS_INIT;
  audio.sample_rate = 8000;
  check(steptape_add_audio(writer, "tone", &tone, 1, &audio));
  check(steptape_add_text(writer, "note", "# From C", 0, NULL));
  const steptape_hparam hparams[] = {{"lr", STEPTAPE_HPARAM_NUMBER, 0.1, NULL},
                                     {"amp", STEPTAPE_HPARAM_BOOL, 1, NULL},
                                     {"optimizer", STEPTAPE_HPARAM_TEXT, 0, "sgd"}};
  const steptape_metric metrics[] = {{"hparam/accuracy", 0.99}};
  check(steptape_add_hparams(writer, hparams, 3, metrics, 1));
  check(steptape_flush(writer));
  check(steptape_close(writer));
  return 0;
}
