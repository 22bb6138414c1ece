/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>

#include <steptape/c/steptape.h>

int main(int argc, char** argv) {
  steptape_writer* writer = NULL;
  if (argc < 2 || steptape_open(argv[1], NULL, &writer) != STEPTAPE_OK ||
      steptape_add_scalar(writer, "loss", 0.5, 1) != STEPTAPE_OK ||
      steptape_close(writer) != STEPTAPE_OK) {
    fprintf(stderr, "%s\n", steptape_error_message());
    return 1;
  }
  return 0;
}
