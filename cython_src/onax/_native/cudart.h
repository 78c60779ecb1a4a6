/* The few functions of CUDA's runtime that copies between host and device need, from the library that is loaded already:
   the one that ONNX Runtime's provider was linked to.  A result other than 0 is an error. */

#ifndef ONAX_CUDART_H
#define ONAX_CUDART_H

#include <stddef.h>

typedef struct {
    int (*get_device)(int *);
    int (*set_device)(int);
    int (*copy)(void *, const void *, size_t, int);
    int (*synchronize)(void *);
    const char *(*describe)(int);
} onax_cudart;

enum { ONAX_CUDA_NO_LIBRARY = -1, ONAX_CUDA_TO_DEVICE = 1, ONAX_CUDA_TO_HOST = 2, ONAX_CUDA_ON_DEVICE = 3 };

#ifdef __linux__
#include <dlfcn.h>
static inline int onax_cudart_find(onax_cudart *found) {
    static const char *const names[] = {"libcudart.so.13", "libcudart.so.12"};
    size_t i;
    for (i = 0; i < sizeof(names) / sizeof(*names); i++) {
        void *library = dlopen(names[i], RTLD_NOW | RTLD_NOLOAD);
        if (!library) continue;
        *(void **)&found->get_device = dlsym(library, "cudaGetDevice");
        *(void **)&found->set_device = dlsym(library, "cudaSetDevice");
        *(void **)&found->copy = dlsym(library, "cudaMemcpy");
        *(void **)&found->synchronize = dlsym(library, "cudaStreamSynchronize");
        *(void **)&found->describe = dlsym(library, "cudaGetErrorString");
        if (found->get_device && found->set_device && found->copy && found->synchronize && found->describe) return 0;
    }
    return ONAX_CUDA_NO_LIBRARY;
}
#else
static inline int onax_cudart_find(onax_cudart *found) { (void)found; return ONAX_CUDA_NO_LIBRARY; }
#endif

/* Waits for a stream of a device; the thread's current device is as it was afterwards. */
static inline int onax_cuda_wait(const onax_cudart *cuda, int device, void *stream) {
    int before = 0, failed = cuda->get_device(&before), restored;
    if (!failed && before != device) failed = cuda->set_device(device);
    if (!failed) failed = cuda->synchronize(stream);
    restored = before == device ? 0 : cuda->set_device(before);
    return failed ? failed : restored;
}

/* Copies and waits until the bytes have arrived.  cudaMemcpy alone may return before the last of pageable memory is on the
   device, and does not wait at all on one device, while the provider's stream does not wait for the default stream. */
static inline int onax_cuda_copy(const onax_cudart *cuda, int device, void *to, const void *from, size_t size, int kind) {
    int before = 0, failed = cuda->get_device(&before), restored;
    if (!failed && before != device) failed = cuda->set_device(device);
    if (!failed) failed = cuda->copy(to, from, size, kind);
    if (!failed && kind != ONAX_CUDA_TO_HOST) failed = cuda->synchronize(NULL);
    restored = before == device ? 0 : cuda->set_device(before);
    return failed ? failed : restored;
}

#endif
