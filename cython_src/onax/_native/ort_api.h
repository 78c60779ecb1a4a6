/* The functions of ONNX Runtime's C API that sessions need; `ort_api.pxd` declares them for Cython. */
#ifndef ONAX_ORT_API_H
#define ONAX_ORT_API_H

#include "ort_operator.h"

typedef struct {
    const onax_ort_entry *(*GetApi)(uint32_t);
    const char *(*GetVersionString)(void);
} onax_ort_base;

#ifdef _WIN32
#define WIN32_LEAN_AND_MEAN
#include <windows.h>
static inline const onax_ort_base *onax_ort_open(const char *path, const char **fault) {
    wchar_t wide[32768];
    HMODULE library;
    const onax_ort_base *(*entry)(void);
    *fault = "LoadLibrary failed";
    if (!MultiByteToWideChar(CP_UTF8, 0, path, -1, wide, 32768)) return NULL;
    library = LoadLibraryExW(wide, NULL, LOAD_WITH_ALTERED_SEARCH_PATH);
    if (!library) return NULL;
    *fault = "it has no OrtGetApiBase";
    entry = (const onax_ort_base *(*)(void))(void *)GetProcAddress(library, "OrtGetApiBase");
    return entry ? entry() : NULL;
}
#else
#include <dlfcn.h>
static void *onax_ort_library;
static inline const onax_ort_base *onax_ort_open(const char *path, const char **fault) {
    void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    const onax_ort_base *(*entry)(void);
    if (!library) { *fault = dlerror(); return NULL; }
    *fault = "it has no OrtGetApiBase";
    onax_ort_library = library;
    entry = (const onax_ort_base *(*)(void))dlsym(library, "OrtGetApiBase");
    return entry ? entry() : NULL;
}
#endif

static inline const onax_ort_entry *onax_ort_table(const onax_ort_base *base, uint32_t version)
    { return base->GetApi(version); }
static inline const char *onax_ort_version(const onax_ort_base *base) { return base->GetVersionString(); }

static inline const char *ort_error_message(const onax_ort_entry *t, ort_status s)
    { return ONAX_ORT(t, GetErrorMessage, const char *, void *)(s); }
static inline ort_status ort_create_session(const onax_ort_entry *t, void *env, const void *model, size_t size,
                                            void *options, void **session)
    { return ONAX_ORT(t, CreateSessionFromArray, void *, void *, const void *, size_t, void *, void **)(env, model, size, options,
                                                                                 session); }
static inline ort_status ort_run(const onax_ort_entry *t, void *session, const char *const *in, void *const *ins, size_t n,
                                 const char *const *out, size_t m, void **outs)
    { return ONAX_ORT(t, Run, void *, void *, void *, const char *const *, void *const *, size_t,
                      const char *const *, size_t, void **)(session, NULL, in, ins, n, out, m, outs); }
static inline ort_status ort_create_session_options(const onax_ort_entry *t, void **options)
    { return ONAX_ORT(t, CreateSessionOptions, void *, void **)(options); }
#ifdef _WIN32
typedef wchar_t onax_path_char;
#define ONAX_NATIVE_PATH(path, native) \
    wchar_t native[32768]; native[0] = 0; MultiByteToWideChar(CP_UTF8, 0, path, -1, native, 32768)
#else
typedef char onax_path_char;
#define ONAX_NATIVE_PATH(path, native) const char *native = path
#endif
static inline ort_status ort_save_optimized(const onax_ort_entry *t, void *options, const char *path) {
    ONAX_NATIVE_PATH(path, native);
    return ONAX_ORT(t, SetOptimizedModelFilePath, void *, void *, const onax_path_char *)(options, native);
}
static inline ort_status ort_enable_profiling(const onax_ort_entry *t, void *options, const char *prefix) {
    ONAX_NATIVE_PATH(prefix, native);
    return ONAX_ORT(t, EnableProfiling, void *, void *, const onax_path_char *)(options, native);
}
static inline ort_status ort_disable_memory_pattern(const onax_ort_entry *t, void *options)
    { return ONAX_ORT(t, DisableMemPattern, void *, void *)(options); }
static inline ort_status ort_disable_cpu_arena(const onax_ort_entry *t, void *options)
    { return ONAX_ORT(t, DisableCpuMemArena, void *, void *)(options); }
static inline ort_status ort_set_optimization(const onax_ort_entry *t, void *options, int level)
    { return ONAX_ORT(t, SetSessionGraphOptimizationLevel, void *, void *, int)(options, level); }
static inline ort_status ort_create_domain(const onax_ort_entry *t, const char *name, void **domain)
    { return ONAX_ORT(t, CreateCustomOpDomain, void *, const char *, void **)(name, domain); }
static inline ort_status ort_domain_add(const onax_ort_entry *t, void *domain, const void *operator)
    { return ONAX_ORT(t, CustomOpDomain_Add, void *, void *, const void *)(domain, operator); }
static inline ort_status ort_add_domain(const onax_ort_entry *t, void *options, void *domain)
    { return ONAX_ORT(t, AddCustomOpDomain, void *, void *, void *)(options, domain); }
static inline ort_status ort_create_tensor(const onax_ort_entry *t, void *memory, void *data, size_t size,
                                           const int64_t *shape, size_t rank, int element, void **value)
    { return ONAX_ORT(t, CreateTensorWithDataAsOrtValue, void *, void *, void *, size_t, const int64_t *, size_t, int, void **)(
          memory, data, size, shape, rank, element, value); }
static inline ort_status ort_create_cpu_memory(const onax_ort_entry *t, void **memory)
    { return ONAX_ORT(t, CreateCpuMemoryInfo, void *, int, int, void **)(1, 0, memory); }  /* arena allocator, default memory */
static inline void ort_release_session(const onax_ort_entry *t, void *h) { ONAX_ORT(t, ReleaseSession, void, void *)(h); }
static inline void ort_release_value(const onax_ort_entry *t, void *h) { ONAX_ORT(t, ReleaseValue, void, void *)(h); }
static inline void ort_release_session_options(const onax_ort_entry *t, void *h)
    { ONAX_ORT(t, ReleaseSessionOptions, void, void *)(h); }
static inline ort_status ort_create_env(const onax_ort_entry *t, int level, const char *name, void *threading, void **env)
    { return ONAX_ORT(t, CreateEnvWithGlobalThreadPools, void *, int, const char *, const void *, void **)(level, name, threading, env); }
static inline ort_status ort_use_global_threads(const onax_ort_entry *t, void *options)
    { return ONAX_ORT(t, DisablePerSessionThreads, void *, void *)(options); }
static inline ort_status ort_create_threading(const onax_ort_entry *t, void **threading)
    { return ONAX_ORT(t, CreateThreadingOptions, void *, void **)(threading); }
static inline void ort_release_threading(const onax_ort_entry *t, void *h) { ONAX_ORT(t, ReleaseThreadingOptions, void, void *)(h); }
static inline ort_status ort_add_config(const onax_ort_entry *t, void *options, const char *key, const char *value)
    { return ONAX_ORT(t, AddSessionConfigEntry, void *, void *, const char *, const char *)(options, key, value); }
static inline ort_status ort_set_intra_threads(const onax_ort_entry *t, void *threading, int n)
    { return ONAX_ORT(t, SetGlobalIntraOpNumThreads, void *, void *, int)(threading, n); }
static inline ort_status ort_set_inter_threads(const onax_ort_entry *t, void *threading, int n)
    { return ONAX_ORT(t, SetGlobalInterOpNumThreads, void *, void *, int)(threading, n); }
static inline ort_status ort_set_spinning(const onax_ort_entry *t, void *threading, int on)
    { return ONAX_ORT(t, SetGlobalSpinControl, void *, void *, int)(threading, on); }
static inline ort_status ort_add_initializer(const onax_ort_entry *t, void *options, const char *name, void *value)
    { return ONAX_ORT(t, AddInitializer, void *, void *, const char *, const void *)(options, name, value); }
static inline ort_status ort_append_cuda(const onax_ort_entry *t, void *options, const void *cuda)
    { return ONAX_ORT(t, SessionOptionsAppendExecutionProvider_CUDA_V2, void *, void *, const void *)(options, cuda); }
static inline ort_status ort_create_cuda_options(const onax_ort_entry *t, void **cuda)
    { return ONAX_ORT(t, CreateCUDAProviderOptions, void *, void **)(cuda); }
static inline ort_status ort_update_cuda_options(const onax_ort_entry *t, void *cuda, const char *const *keys,
                                                 const char *const *values, size_t n)
    { return ONAX_ORT(t, UpdateCUDAProviderOptions, void *, void *, const char *const *, const char *const *, size_t)(cuda, keys,
                                                                                                values, n); }
static inline ort_status ort_cuda_options_text(const onax_ort_entry *t, const void *cuda, void *allocator, char **text)
    { return ONAX_ORT(t, GetCUDAProviderOptionsAsString, void *, const void *, void *, char **)(cuda, allocator, text); }
static inline void ort_release_cuda_options(const onax_ort_entry *t, void *h) { ONAX_ORT(t, ReleaseCUDAProviderOptions, void, void *)(h); }
static inline ort_status ort_add_external_initializers(const onax_ort_entry *t, void *options, const char *const *names,
                                                       void *const *values, size_t n)
    { return ONAX_ORT(t, AddExternalInitializers, void *, void *, const char *const *, void *const *, size_t)(options, names, values,
                                                                                          n); }
static inline ort_status ort_allocate_tensor(const onax_ort_entry *t, void *allocator, const int64_t *shape, size_t rank,
                                             int element, void **value)
    { return ONAX_ORT(t, CreateTensorAsOrtValue, void *, void *, const int64_t *, size_t, int, void **)(allocator, shape, rank, element,
                                                                                              value); }
static inline ort_status ort_create_memory_info(const onax_ort_entry *t, const char *name, int kind, int id, int memory,
                                                void **info)
    { return ONAX_ORT(t, CreateMemoryInfo, void *, const char *, int, int, int, void **)(name, kind, id, memory, info); }
static inline void ort_release_memory_info(const onax_ort_entry *t, void *h) { ONAX_ORT(t, ReleaseMemoryInfo, void, void *)(h); }
static inline int ort_is_on_host(const onax_ort_entry *t, const void *info) {
    int type = 0;  /* OrtMemoryInfoDeviceType: 0 is the CPU's */
    ONAX_ORT(t, MemoryInfoGetDeviceType, void, const void *, int *)(info, &type);
    return type == 0;
}
/* An allocator of ours, in the order of the runtime's binary interface (version 17 of it). */
typedef struct onax_allocator {
    uint32_t version;
    void *(*allocate)(struct onax_allocator *, size_t);
    void (*release)(struct onax_allocator *, void *);
    const void *(*info)(const struct onax_allocator *);
    /* ours, behind what the runtime reads */
    void *memory_info;
} onax_allocator;
/* Where there is no memory, the runtime expects its own kind of error, an exception of C++: it does not look whether an
   allocator gave NULL (measured with 1.31.1). */
#ifdef _WIN32
static inline void onax_throw_no_memory(void) {}
#else
static inline void onax_throw_no_memory(void) {
    void (*raise)(void) = (void (*)(void))dlsym(onax_ort_library, "_ZSt17__throw_bad_allocv");
    if (raise) raise();
}
#endif
static inline const void *onax_allocator_info(const onax_allocator *a) { return a->memory_info; }
static inline ort_status ort_register_allocator(const onax_ort_entry *t, void *env, onax_allocator *allocator)
    { return ONAX_ORT(t, RegisterAllocator, void *, void *, onax_allocator *)(env, allocator); }
static inline ort_status ort_default_allocator(const onax_ort_entry *t, void **allocator)
    { return ONAX_ORT(t, GetAllocatorWithDefaultOptions, void *, void **)(allocator); }
static inline ort_status ort_allocator_free(const onax_ort_entry *t, void *allocator, void *p)
    { return ONAX_ORT(t, AllocatorFree, void *, void *, void *)(allocator, p); }
static inline ort_status ort_create_allocator(const onax_ort_entry *t, void *session, const void *info, void **allocator)
    { return ONAX_ORT(t, CreateAllocator, void *, void *, const void *, void **)(session, info, allocator); }
static inline void ort_release_allocator(const onax_ort_entry *t, void *h) { ONAX_ORT(t, ReleaseAllocator, void, void *)(h); }
static inline ort_status ort_input_memory(const onax_ort_entry *t, void *session, const void **infos, size_t n)
    { return ONAX_ORT(t, SessionGetMemoryInfoForInputs, void *, void *, const void **, size_t)(session, infos, n); }
static inline ort_status ort_output_memory(const onax_ort_entry *t, void *session, const void **infos, size_t n)
    { return ONAX_ORT(t, SessionGetMemoryInfoForOutputs, void *, void *, const void **, size_t)(session, infos, n); }
static inline ort_status ort_create_binding(const onax_ort_entry *t, void *session, void **binding)
    { return ONAX_ORT(t, CreateIoBinding, void *, void *, void **)(session, binding); }
static inline void ort_release_binding(const onax_ort_entry *t, void *h) { ONAX_ORT(t, ReleaseIoBinding, void, void *)(h); }
static inline ort_status ort_bind_input(const onax_ort_entry *t, void *binding, const char *name, const void *value)
    { return ONAX_ORT(t, BindInput, void *, void *, const char *, const void *)(binding, name, value); }
static inline ort_status ort_bind_output(const onax_ort_entry *t, void *binding, const char *name, const void *value)
    { return ONAX_ORT(t, BindOutput, void *, void *, const char *, const void *)(binding, name, value); }
static inline ort_status ort_bind_output_to_device(const onax_ort_entry *t, void *binding, const char *name, const void *info)
    { return ONAX_ORT(t, BindOutputToDevice, void *, void *, const char *, const void *)(binding, name, info); }
static inline ort_status ort_bound_outputs(const onax_ort_entry *t, const void *binding, void *allocator, void ***values,
                                           size_t *n)
    { return ONAX_ORT(t, GetBoundOutputValues, void *, const void *, void *, void ***, size_t *)(binding, allocator, values, n); }
static inline ort_status ort_run_with_binding(const onax_ort_entry *t, void *session, const void *binding)
    { return ONAX_ORT(t, RunWithBinding, void *, void *, const void *, const void *)(session, NULL, binding); }

#endif
