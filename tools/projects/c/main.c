/* SPDX-License-Identifier: Apache-2.0 */
/* Lets a rod that is hot at one end reach its final temperatures. Logs how much they change. */
#include <math.h>
#include <stdio.h>

#include <steptape/c/steptape.h>

#define CELLS 100

int main(int argc, char** argv) {
  double rod[CELLS] = {1};
  steptape_writer* writer = NULL;
  if (steptape_open(argc > 1 ? argv[1] : "runs/first", NULL, &writer) != STEPTAPE_OK) {
    fprintf(stderr, "%s\n", steptape_error_message());
    return 1;
  }
  for (int64_t step = 0; step < 1000; ++step) {
    double change = 0;
    double left = rod[0];
    for (int i = 1; i < CELLS - 1; ++i) {
      const double old = rod[i];
      rod[i] = old + 0.4 * (left - 2 * old + rod[i + 1]);
      change = fmax(change, fabs(rod[i] - old));
      left = old;
    }
    steptape_add_scalar(writer, "change", change, step);
    steptape_add_scalar(writer, "temperature/middle", rod[CELLS / 2], step);
  }
  if (steptape_close(writer) != STEPTAPE_OK) {
    fprintf(stderr, "%s\n", steptape_error_message());
    return 1;
  }
  return 0;
}
