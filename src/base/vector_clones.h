// SPDX-License-Identifier: Apache-2.0
#pragma once

// Compiles a function for several instruction sets, with everything it calls inlined; which one
// runs is chosen when the program starts. For loops over arrays that the compiler vectorizes.
// Elsewhere than on x86-64 with GCC and glibc there is one version.
#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__) && defined(__GLIBC__) && \
    !defined(__SANITIZE_THREAD__) && !defined(__SANITIZE_ADDRESS__)
#define STEPTAPE_VECTOR_CLONES __attribute__((flatten, target_clones("avx512f", "avx2", "default")))
#else
#define STEPTAPE_VECTOR_CLONES
#endif
