/* Blocks of memory for elements: those of large arrays and of intermediate values are reused instead of being unmapped.

   Fresh pages cost a fault each, which takes as long as the work of an elementwise operation.  Free blocks are kept for
   the next request of about their size.  Blocks in use and kept ones together exceed the largest need so far by a fixed
   share only, and a block that nobody took for ten seconds goes back to the operating system at the next request.

   All functions may be called from any thread, with or without the interpreter's lock, and in a forked process. */
#ifndef ONAX_MEMORY_BLOCKS_H
#define ONAX_MEMORY_BLOCKS_H

#include <stddef.h>
#include <stdint.h>

#define ONAX_LARGE_BLOCK ((size_t)1 << 18)  /* bytes from which blocks are kept; below, malloc reuses memory itself */

/* Memory at a multiple of 64 bytes, or NULL. */
void *onax_allocate(size_t size);
void *onax_allocate_zeros(size_t size);
/* A block of another size with the same content, or NULL, and then the old one stays; NULL as a block is allowed. */
void *onax_reallocate(void *block, size_t size);
void onax_release(void *block);

/* Unmaps all kept blocks. */
void onax_release_kept_blocks(void);

typedef struct {
    int64_t in_use, kept, most_in_use;   /* bytes of large blocks */
} onax_memory_figures;
onax_memory_figures onax_memory_in_use(void);

#endif
