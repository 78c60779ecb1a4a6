/* Blocks of memory; memory_blocks.h says what they are. */
#include "memory_blocks.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#if defined(_WIN32)
#define WIN32_LEAN_AND_MEAN
#include <windows.h>
#else
#include <sys/mman.h>
#endif

#define ALIGNMENT 64
#define PAGE 4096
#define HUGE_PAGE ((size_t)1 << 21)       /* of x86-64 and of ARM with pages of 4 KB; blocks of at least one begin with one */
#define MOST_KEPT 512                     /* blocks */
#define FIT(size) ((size) + (size) / 8)   /* the largest kept block that serves a request */
#define SHARE(most) ((most) / 16 + (INT64_C(32) << 20))  /* bytes that may be mapped beyond the largest need */
#define PATIENCE 10                       /* seconds after which an unused block is unmapped */
#define SPINS 100000

/* Stands in front of each block. */
typedef struct {
    void *base;        /* what malloc gave; of a mapped block where the mapping begins */
    size_t mapped;     /* bytes of the mapping; 0 for memory of malloc */
    size_t size;       /* what was asked for */
    int counted;       /* in `figures` */
} header;

typedef struct {
    void *base;
    size_t mapped;
    int64_t since;     /* seconds */
} kept_block;

static kept_block kept[MOST_KEPT];
static int n_kept;
static onax_memory_figures figures;

/* ---- the lock: never waits long, because a process may have been forked while another thread held it */

#if defined(_MSC_VER)
#include <intrin.h>
static volatile long locked;
static int try_lock(void) { return !_InterlockedExchange(&locked, 1); }
static void unlock(void) { _InterlockedExchange(&locked, 0); }
#else
static char locked;
static int try_lock(void) { return !__atomic_test_and_set(&locked, __ATOMIC_ACQUIRE); }
static void unlock(void) { __atomic_clear(&locked, __ATOMIC_RELEASE); }
#endif

static int lock(void) {
    for (int i = 0; i < SPINS; i++)
        if (try_lock()) return 1;
    return 0;
}

/* ---- the operating system */

#if defined(_WIN32)
static void *map(size_t size) { return VirtualAlloc(NULL, size, MEM_RESERVE | MEM_COMMIT, PAGE_READWRITE); }
static void unmap(void *base, size_t size) { (void)size; VirtualFree(base, 0, MEM_RELEASE); }
#else
static void unmap(void *base, size_t size) { munmap(base, size); }
static void *map(size_t size) {
    const size_t more = size < HUGE_PAGE ? 0 : HUGE_PAGE - PAGE;
    char *base = mmap(NULL, size + more, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANON, -1, 0);
    size_t before;
    if (base == MAP_FAILED) return NULL;
    if (!more) return base;
    before = (HUGE_PAGE - (uintptr_t)base % HUGE_PAGE) % HUGE_PAGE;
    if (before > more) before = more;   /* pages are larger than PAGE */
    if (before) unmap(base, before);
    if (before < more) unmap(base + before + size, more - before);
#if defined(MADV_HUGEPAGE)
    madvise(base + before, size, MADV_HUGEPAGE);
#endif
    return base + before;
}
#endif

static int64_t seconds(void) { return (int64_t)time(NULL); }

/* ---- kept blocks; all of this with the lock held, but unmapping */

static kept_block take_out(int i) {
    const kept_block block = kept[i];
    kept[i] = kept[--n_kept];
    figures.kept -= (int64_t)block.mapped;
    return block;
}

/* The number of the smallest block that serves a request; -1 if none does. */
static int fitting(size_t size) {
    int best = -1;
    for (int i = 0; i < n_kept; i++)
        if (kept[i].mapped >= size && kept[i].mapped <= FIT(size) && (best < 0 || kept[i].mapped < kept[best].mapped)) best = i;
    return best;
}

static int oldest(void) {
    int found = -1;
    for (int i = 0; i < n_kept; i++)
        if (found < 0 || kept[i].since < kept[found].since) found = i;
    return found;
}

/* Whether a kept block has to go so that `more` bytes can be mapped. */
static int exceeds(int64_t more) {
    const int64_t most = figures.most_in_use > figures.in_use + more ? figures.most_in_use : figures.in_use + more;
    return figures.in_use + figures.kept + more > most + SHARE(most);
}

/* Unmaps kept blocks, the oldest first: all, those beyond the share, or those that nobody took for long. */
static void trim(int64_t more, int all) {
    const int64_t now = seconds();
    for (;;) {
        kept_block block = {0};
        int i;
        if (!lock()) return;
        i = oldest();
        if (i >= 0 && (all || n_kept == MOST_KEPT || exceeds(more) || now - kept[i].since > PATIENCE)) block = take_out(i);
        unlock();
        if (!block.base) return;
        unmap(block.base, block.mapped);
    }
}

static void count(header *h) {
    h->counted = lock();
    if (!h->counted) return;
    figures.in_use += (int64_t)h->mapped;
    if (figures.in_use > figures.most_in_use) figures.most_in_use = figures.in_use;
    unlock();
}

/* ---- blocks */

static header *header_of(void *block) { return (header *)((char *)block - ALIGNMENT); }

static void *with_header(void *base, void *block, size_t mapped, size_t size) {
    header *h = header_of(block);
    h->base = base;
    h->mapped = mapped;
    h->size = size;
    h->counted = 0;
    return block;
}

static void *allocate_small(size_t size, int zeros) {
    const size_t total = size + 2 * ALIGNMENT;
    char *base = zeros ? calloc(1, total) : malloc(total), *block;
    if (!base) return NULL;
    block = base + ALIGNMENT;
    block += (ALIGNMENT - (uintptr_t)block % ALIGNMENT) % ALIGNMENT;
    return with_header(base, block, 0, size);
}

/* Whole pages; huge ones, if they are a sixteenth more at most: the rest of a block would have a fault every 4 KB, and
   its addresses would not fit the processor's table of translations. */
static size_t mapped_bytes(size_t size) {
    const size_t bytes = (size + PAGE - 1) / PAGE * PAGE, huge = (size + HUGE_PAGE - 1) / HUGE_PAGE * HUGE_PAGE;
    return huge <= bytes + bytes / 16 ? huge : bytes;
}

/* `fresh`: whether the elements are zeros because the memory is. */
static void *allocate_large(size_t size, int *fresh) {
    const size_t needed = mapped_bytes(size + ALIGNMENT);
    kept_block found = {0};
    void *block;
    if (lock()) {
        const int i = fitting(needed);
        if (i >= 0) found = take_out(i);
        unlock();
    }
    *fresh = !found.base;
    if (!found.base) {
        trim((int64_t)needed, 0);
        found.mapped = needed;
        found.base = map(needed);
        if (!found.base) {
            trim(0, 1);
            if (!(found.base = map(needed))) return NULL;
        }
    }
    block = with_header(found.base, (char *)found.base + ALIGNMENT, found.mapped, size);
    count(header_of(block));
    return block;
}

#define TOO_LARGE ((size_t)-1 / 4)

void *onax_allocate(size_t size) {
    int fresh;
    if (size > TOO_LARGE) return NULL;
    return size < ONAX_LARGE_BLOCK ? allocate_small(size, 0) : allocate_large(size, &fresh);
}

void *onax_allocate_zeros(size_t size) {
    int fresh;
    void *block;
    if (size > TOO_LARGE) return NULL;
    if (size < ONAX_LARGE_BLOCK) return allocate_small(size, 1);
    block = allocate_large(size, &fresh);
    if (block && !fresh) memset(block, 0, size);
    return block;
}

void onax_release(void *block) {
    header *h;
    if (!block) return;
    h = header_of(block);
    if (!h->mapped) { free(h->base); return; }
    trim(0, 0);
    if (h->counted && lock()) {
        const kept_block freed = {h->base, h->mapped, seconds()};
        const int room = n_kept < MOST_KEPT;
        figures.in_use -= (int64_t)h->mapped;
        if (room) {
            kept[n_kept++] = freed;
            figures.kept += (int64_t)freed.mapped;
        }
        unlock();
        if (!room) unmap(freed.base, freed.mapped);
        return;
    }
    unmap(h->base, h->mapped);
}

void *onax_reallocate(void *block, size_t size) {
    void *other = onax_allocate(size);
    if (!block || !other) return other;
    memcpy(other, block, header_of(block)->size < size ? header_of(block)->size : size);
    onax_release(block);
    return other;
}

void onax_release_kept_blocks(void) { trim(0, 1); }

onax_memory_figures onax_memory_in_use(void) { return figures; }
