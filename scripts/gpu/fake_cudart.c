/* The CUDA runtime of a device that is not there: `fake_cuda.py` builds and loads it, with stubs of CUDA's other libraries.

   ONNX Runtime's CUDA provider then runs as it is: it loads, assigns nodes, allocates, copies, records graphs and launches
   kernels.  Device memory is real, but the host cannot touch it: the pages that `cudaMalloc` returns are mapped without
   access, and a second mapping of the same pages serves copies.  A host pointer that goes astray ends the process, as on a
   device.  Kernels do nothing, so results of arithmetic mean nothing; what copies move is right.
   `fake_counts` counts what happened. */

#define _GNU_SOURCE
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define ROOM ((size_t)16 << 30)
#define BLOCKS_AT_MOST 65536
#define DEVICES 2
#define CUDA_VERSION 13000

struct { long to_device, to_host, on_device, launches, graph_launches, allocated, freed, bytes_to_device, bytes_to_host, synchronized; } fake_counts;

static char *inside, *outside; /* the same pages: for copies, and as the program sees them */
static size_t used;
static struct block { size_t at, size; int live; } blocks[BLOCKS_AT_MOST];
static int n_blocks;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static __thread int current_device, capturing;

__attribute__((constructor)) static void map_memory(void) {
    int file = memfd_create("fake device", 0);
    if (file < 0 || ftruncate(file, ROOM)) abort();
    inside = mmap(NULL, ROOM, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, file, 0);
    outside = mmap(NULL, ROOM, PROT_NONE, MAP_SHARED | MAP_NORESERVE, file, 0);
    if (inside == MAP_FAILED || outside == MAP_FAILED) abort();
    close(file);
}

static int is_device(const void *p) { return (const char *)p >= outside && (const char *)p < outside + ROOM; }
static void *mapped(const void *p) { return is_device(p) ? inside + ((const char *)p - outside) : (void *)p; }

/* ---- memory */

int cudaMalloc(void **p, size_t n) {
    size_t size = (n + 511) & ~(size_t)511;
    int i;
    pthread_mutex_lock(&lock);
    for (i = 0; i < n_blocks && (blocks[i].live || blocks[i].size != size); i++) {}
    if (i == n_blocks) {
        if (i == BLOCKS_AT_MOST || used + size > ROOM) {
            pthread_mutex_unlock(&lock);
            return 2; /* cudaErrorMemoryAllocation */
        }
        blocks[n_blocks++] = (struct block){used, size, 1};
        used += size;
    }
    blocks[i].live = 1;
    *p = outside + blocks[i].at;
    fake_counts.allocated++;
    pthread_mutex_unlock(&lock);
    return 0;
}

int cudaFree(void *p) {
    int i;
    if (p == NULL) return 0;
    pthread_mutex_lock(&lock);
    for (i = 0; i < n_blocks; i++)
        if (outside + blocks[i].at == (char *)p && blocks[i].live) { blocks[i].live = 0; fake_counts.freed++; }
    pthread_mutex_unlock(&lock);
    return 0;
}

int cudaMallocAsync(void **p, size_t n, void *stream) { return cudaMalloc(p, n); }
int cudaMallocFromPoolAsync(void **p, size_t n, void *pool, void *stream) { return cudaMalloc(p, n); }
int cudaFreeAsync(void *p, void *stream) { return cudaFree(p); }
int cudaMallocHost(void **p, size_t n) { *p = aligned_alloc(4096, (n + 4095) & ~(size_t)4095); return *p == NULL ? 2 : 0; }
int cudaHostAlloc(void **p, size_t n, unsigned flags) { return cudaMallocHost(p, n); }
int cudaFreeHost(void *p) { free(p); return 0; }

static int copy(void *to, const void *from, size_t n) {
    int a = is_device(to), b = is_device(from);
    if (a && b) fake_counts.on_device++;
    else if (a) { fake_counts.to_device++; fake_counts.bytes_to_device += n; }
    else if (b) { fake_counts.to_host++; fake_counts.bytes_to_host += n; }
    memmove(mapped(to), mapped(from), n);
    return 0;
}

int cudaMemcpy(void *to, const void *from, size_t n, int kind) { return copy(to, from, n); }
int cudaMemcpyAsync(void *to, const void *from, size_t n, int kind, void *stream) { return copy(to, from, n); }
int cudaMemcpy2DAsync(void *to, size_t to_pitch, const void *from, size_t from_pitch, size_t width, size_t height, int kind,
                      void *stream) {
    for (size_t i = 0; i < height; i++)
        memmove((char *)mapped(to) + i * to_pitch, (char *)mapped(from) + i * from_pitch, width);
    return 0;
}
int cudaMemset(void *p, int value, size_t n) { memset(mapped(p), value, n); return 0; }
int cudaMemsetAsync(void *p, int value, size_t n, void *stream) { return cudaMemset(p, value, n); }
int cudaMemcpyFromSymbol(void *to, const void *symbol, size_t n, size_t at, int kind) { memset(to, 0, n); return 0; }
int cudaMemGetInfo(size_t *unused, size_t *total) { *unused = ROOM - used; *total = ROOM; return 0; }

struct pointer { int type, device; void *on_device, *on_host; };
int cudaPointerGetAttributes(struct pointer *a, const void *p) {
    *a = (struct pointer){is_device(p) ? 2 : 0, current_device, is_device(p) ? (void *)p : NULL, is_device(p) ? NULL : (void *)p};
    return 0;
}

/* ---- devices */

int cudaGetDeviceCount(int *n) { *n = DEVICES; return 0; }
int cudaGetDevice(int *n) { *n = current_device; return 0; }
int cudaSetDevice(int n) {
    if (n < 0 || n >= DEVICES) return 101; /* cudaErrorInvalidDevice */
    current_device = n;
    return 0;
}
int cudaRuntimeGetVersion(int *v) { *v = CUDA_VERSION; return 0; }
int cudaDriverGetVersion(int *v) { *v = CUDA_VERSION; return 0; }

struct properties { /* the beginning of cudaDeviceProp */
    char name[256], uuid[16], luid[8];
    unsigned luid_mask;
    size_t memory, shared;
    int registers, warp;
    size_t pitch;
    int threads, block[3], grid[3];
    size_t constant;
    int major, minor;
    size_t texture, texture_pitch;
    int multiprocessors;
};
int cudaGetDeviceProperties(struct properties *p, int device) {
    strcpy(p->name, "a device that is not there");
    p->memory = ROOM; p->shared = 49152; p->registers = 65536; p->warp = 32; p->threads = 1024;
    p->block[0] = p->block[1] = 1024; p->block[2] = 64;
    p->grid[0] = 0x7fffffff; p->grid[1] = p->grid[2] = 65535;
    p->constant = 65536; p->major = 9; p->minor = 0; p->texture = 512; p->multiprocessors = 132;
    return 0;
}
int cudaDeviceGetAttribute(int *v, int attribute, int device) {
    switch (attribute) {
        case 1: *v = 1024; break;    /* threads of a block */
        case 8: *v = 49152; break;   /* shared memory of a block */
        case 10: *v = 32; break;     /* warp */
        case 16: *v = 132; break;    /* multiprocessors */
        case 39: *v = 2048; break;   /* threads of a multiprocessor */
        case 75: *v = 9; break;      /* compute capability, major */
        case 81: *v = 233472; break; /* shared memory of a multiprocessor */
        case 97: *v = 232448; break; /* shared memory that a block may ask for */
        default: *v = 0;
    }
    return 0;
}
const char *cudaGetErrorName(int error) { return "cudaErrorOfFakeDevice"; }
const char *cudaGetErrorString(int error) { return "an error of a device that is not there"; }
int cudaStreamSynchronize(void *stream) { fake_counts.synchronized++; return 0; }

/* ---- handles: memory that nobody reads */

static int make(void **p) { *p = calloc(1, 64); return 0; }
static int drop(void *p) { free(p); return 0; }
int cudaStreamCreate(void **p) { return make(p); }
int cudaStreamCreateWithFlags(void **p, unsigned flags) { return make(p); }
int cudaStreamDestroy(void *p) { return drop(p); }
int cudaEventCreate(void **p) { return make(p); }
int cudaEventCreateWithFlags(void **p, unsigned flags) { return make(p); }
int cudaEventDestroy(void *p) { return drop(p); }
int cudaEventElapsedTime(float *t, void *a, void *b) { *t = 1; return 0; }
int cudaMemPoolCreate(void **p, void *properties) { return make(p); }
int cudaMemPoolDestroy(void *p) { return drop(p); }
int cudaMemPoolGetAttribute(void *p, int attribute, void *v) { *(uint64_t *)v = 0; return 0; }

/* ---- graphs: between begin and end of a capture nothing is counted as launched */

int cudaStreamBeginCapture(void *stream, int mode) { capturing = 1; return 0; }
int cudaStreamEndCapture(void *stream, void **graph) { capturing = 0; return make(graph); }
int cudaStreamIsCapturing(void *stream, int *v) { *v = capturing; return 0; }
int cudaGraphInstantiate(void **executable, void *graph, unsigned long long flags) { return make(executable); }
int cudaGraphLaunch(void *executable, void *stream) { fake_counts.graph_launches++; return 0; }
int cudaGraphDestroy(void *graph) { return drop(graph); }
int cudaGraphExecDestroy(void *executable) { return drop(executable); }

/* ---- kernels */

struct function { size_t shared, constant, local; int threads, registers, ptx, binary, cache, dynamic; };
int cudaFuncGetAttributes(struct function *a, const void *f) {
    *a = (struct function){.threads = 1024, .registers = 32, .ptx = 90, .binary = 90, .dynamic = 49152};
    return 0;
}
int cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int *n, const void *f, int block, size_t shared, unsigned flags) {
    *n = 4;
    return 0;
}
int cudaGetDriverEntryPointByVersion(const char *name, void **f, unsigned version, unsigned long long flags, int *found) {
    *f = NULL;
    if (found) *found = 1;
    return 0;
}
static int launch(void) { if (!capturing) fake_counts.launches++; return 0; }
int cudaLibraryLoadData(void **library) { return make(library); }
int cudaLibraryGetKernel(void **kernel) { return make(kernel); }
int __cudaGetKernel(void **kernel, const void *f) { *kernel = (void *)f; return 0; }
int __cudaLaunchKernel(void) { return launch(); }
int cudaLaunchKernel(void) { return launch(); }
int cudaLaunchKernelExC(void) { return launch(); }
int cudaLaunchCooperativeKernel(void) { return launch(); }
int cudaLaunchHostFunc(void *stream, void (*f)(void *), void *data) { f(data); return 0; }
void **__cudaRegisterFatBinary(void *binary) { static void *handle[4]; return handle; }
unsigned __cudaPushCallConfiguration(void) { return 0; }
int __cudaPopCallConfiguration(void *grid, void *block, size_t *shared, void **stream) {
    memset(grid, 0, 12);
    memset(block, 0, 12);
    *shared = 0;
    *stream = NULL;
    return 0;
}
