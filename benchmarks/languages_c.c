/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>
#include <stdlib.h>

#include "languages.h"

static steptape_writer* writer;
static char tags[languages_tags][16];
static steptape_series series[languages_tags];

static void check(steptape_status status) {
  if (status != STEPTAPE_OK) {
    fprintf(stderr, "%s\n", steptape_error_message());
    exit(1);
  }
}

void c_open(const char* run) {
  check(steptape_open(run, NULL, &writer));
  for (int i = 0; i < languages_tags; ++i) {
    snprintf(tags[i], sizeof tags[i], "train/metric%02d", i);
    check(steptape_get_series(writer, tags[i], NULL, &series[i]));
  }
}

void c_by_handle(int64_t step) {
  for (int i = 0; i < languages_tags; ++i) {
    steptape_add(writer, series[i], 0.5, step);
  }
}

void c_by_tag(int64_t step) {
  for (int i = 0; i < languages_tags; ++i) {
    steptape_add_scalar(writer, tags[i], 0.5, step);
  }
}

void c_by_step(int64_t step) {
  double values[languages_tags];
  for (int i = 0; i < languages_tags; ++i) {
    values[i] = 0.5;
  }
  steptape_add_step(writer, step, series, values, languages_tags);
}

void c_close(void) {
  check(steptape_close(writer));
}
