// SPDX-License-Identifier: Apache-2.0
#pragma once

// Compiles a function, with all inlined calls, for several instruction sets; the program selects
// one when it starts. Use it for loops over arrays that the compiler vectorizes. There is only one
// version on systems other than x86-64 with GCC and glibc.
#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__) && defined(__GLIBC__) && \
    !defined(__SANITIZE_THREAD__) && !defined(__SANITIZE_ADDRESS__)
#define STEPTAPE_VECTOR_CLONES __attribute__((flatten, target_clones("avx512f", "avx2", "default")))
#else
#define STEPTAPE_VECTOR_CLONES
#endif
