/* SPDX-License-Identifier: Apache-2.0 */
/* The C one of the programs that log the same: see languages_test.py. */

#include <steptape/c/steptape.h>

int main(int count, char** arguments) {
  steptape_open_options options = STEPTAPE_OPEN_OPTIONS_INIT;
  options.mirror = count > 2 ? arguments[2] : NULL;
  steptape_writer* writer = NULL;
  steptape_open(arguments[1], &options, &writer);
  for (int64_t step = 0; step < 200; ++step) {
    steptape_add_scalar(writer, "loss", 100.0 / (double)(step + 1), step);
  }
  double weights[100];
  for (int i = 0; i < 100; ++i) {
    weights[i] = 0.25 * (i - 50);
  }
  float field[6 * 8];
  for (int i = 0; i < 6 * 8; ++i) {
    field[i] = (float)i / 64;
  }
  const int64_t lengths[] = {100};
  const int64_t sizes[] = {6, 8};
  const steptape_array values = {weights, STEPTAPE_FLOAT64, 1, lengths, NULL};
  const steptape_array pixels = {field, STEPTAPE_FLOAT32, 2, sizes, NULL};
  steptape_image_options gray = STEPTAPE_IMAGE_OPTIONS_INIT;
  gray.data_format = "HW";
  for (int64_t step = 0; step < 3; ++step) {
    steptape_add_histogram(writer, "weights", &values, step, NULL);
    steptape_add_image(writer, "field", &pixels, step, &gray);
  }
  steptape_add_text(writer, "notes", "Logged by *four* languages.", 0, NULL);
  const steptape_hparam hparams[] = {{"lr", STEPTAPE_HPARAM_NUMBER, 0.25, NULL},
                                     {"layers", STEPTAPE_HPARAM_NUMBER, 3, NULL}};
  steptape_add_hparams(writer, hparams, 2, NULL, 0);
  return steptape_close(writer) == STEPTAPE_OK ? 0 : 1;
}
