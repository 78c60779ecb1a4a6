/* How C loops over elements become vector code: a source file includes this before it defines any function.

   ONAX_CLONES before a function compiles it for several x86-64 levels, the best of which is chosen when the library is
   loaded; ONAX_TWO_CLONES leaves the widest out.  ONAX_EACH heads a loop over i in 0 ... n - 1 whose passes do not depend on one another. */
#ifndef ONAX_VECTOR_CODE_H
#define ONAX_VECTOR_CODE_H

#include <stdint.h>

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)   /* builds that look for faults compile once, quickly */
#define ONAX_SANITIZED
#endif

#if defined(__GNUC__) && !defined(__clang__) && !defined(ONAX_SANITIZED)
#pragma GCC optimize("O3")
#define ONAX_EACH _Pragma("GCC ivdep") for (int64_t i = 0; i < n; i++)
#else
#define ONAX_EACH for (int64_t i = 0; i < n; i++)
#endif

#if defined(__GNUC__) && __GNUC__ >= 12 && !defined(__clang__) && defined(__x86_64__) && defined(__GLIBC__) && !defined(ONAX_SANITIZED)
#define ONAX_CLONES __attribute__((target_clones("default", "arch=x86-64-v3", "arch=x86-64-v4")))
#define ONAX_TWO_CLONES __attribute__((target_clones("default", "arch=x86-64-v3")))
#else
#define ONAX_CLONES
#define ONAX_TWO_CLONES
#endif

/* Has the caches fetch what is at an address, which may be nobody's. */
#if defined(__GNUC__)
#define onax_prefetch(address) __builtin_prefetch(address)
#else
#define onax_prefetch(address) ((void)(address))
#endif

#endif
