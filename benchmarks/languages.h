/* SPDX-License-Identifier: Apache-2.0 */
/* The parts of languages.cpp in C and in Fortran: each logs once into each of its series. */
#pragma once

#include <stdint.h>

#include <steptape/c/steptape.h>

#ifdef __cplusplus
extern "C" {
#endif

/* NOLINTBEGIN: C has no namespaces. */

enum { languages_tags = 20 };

/* "train/metric00", ...: the same tags in every language. */
void c_open(const char* run);
void c_by_handle(int64_t step);
void c_by_tag(int64_t step);
void c_by_step(int64_t step);
void c_close(void);

void fortran_open(const char* run, int length);
void fortran_by_handle(int64_t step);
void fortran_by_tag(int64_t step);
void fortran_by_step(int64_t step);
void fortran_close(void);

/* NOLINTEND */

#ifdef __cplusplus
}
#endif
