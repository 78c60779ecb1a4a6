"""The part of ONNX Runtime's C API that onax uses.

The runtime hands out one table of function pointers that only ever grows, so a function is a position in it
(`ort_table.h`, written from the published header by scripts/generate_ort_table.py) and a build runs with every later
library.  `tests/native/test_ort.py` calls all functions below.  A status is NULL when all went well.
"""

from libc.stdint cimport int64_t, uint32_t


cdef extern from * nogil:
    """
    #include "ort_operator.h"

    typedef struct {
        const onax_ort_entry *(*GetApi)(uint32_t);
        const char *(*GetVersionString)(void);
    } onax_ort_base;

    #ifdef _WIN32
    #define WIN32_LEAN_AND_MEAN
    #include <windows.h>
    static const onax_ort_base *onax_ort_open(const char *path, const char **fault) {
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
    static const onax_ort_base *onax_ort_open(const char *path, const char **fault) {
        void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
        const onax_ort_base *(*entry)(void);
        if (!library) { *fault = dlerror(); return NULL; }
        *fault = "it has no OrtGetApiBase";
        entry = (const onax_ort_base *(*)(void))dlsym(library, "OrtGetApiBase");
        return entry ? entry() : NULL;
    }
    #endif

    static const onax_ort_entry *onax_ort_table(const onax_ort_base *base, uint32_t version)
        { return base->GetApi(version); }
    static const char *onax_ort_version(const onax_ort_base *base) { return base->GetVersionString(); }

    static const char *ort_error_message(const onax_ort_entry *t, ort_status s)
        { return ONAX_ORT(t, GetErrorMessage, const char *, void *)(s); }
    static ort_status ort_create_session(const onax_ort_entry *t, void *env, const void *model, size_t size,
                                         void *options, void **session)
        { return ONAX_ORT(t, CreateSessionFromArray, void *, void *, const void *, size_t, void *, void **)(env, model, size, options,
                                                                                     session); }
    static ort_status ort_run(const onax_ort_entry *t, void *session, const char *const *in, void *const *ins, size_t n,
                              const char *const *out, size_t m, void **outs)
        { return ONAX_ORT(t, Run, void *, void *, void *, const char *const *, void *const *, size_t,
                          const char *const *, size_t, void **)(session, NULL, in, ins, n, out, m, outs); }
    static ort_status ort_create_session_options(const onax_ort_entry *t, void **options)
        { return ONAX_ORT(t, CreateSessionOptions, void *, void **)(options); }
    static ort_status ort_save_optimized(const onax_ort_entry *t, void *options, const char *path) {
    #ifdef _WIN32
        wchar_t wide[32768];
        wide[0] = 0;
        MultiByteToWideChar(CP_UTF8, 0, path, -1, wide, 32768);
        return ONAX_ORT(t, SetOptimizedModelFilePath, void *, void *, const wchar_t *)(options, wide);
    #else
        return ONAX_ORT(t, SetOptimizedModelFilePath, void *, void *, const char *)(options, path);
    #endif
    }
    static ort_status ort_disable_memory_pattern(const onax_ort_entry *t, void *options)
        { return ONAX_ORT(t, DisableMemPattern, void *, void *)(options); }
    static ort_status ort_disable_cpu_arena(const onax_ort_entry *t, void *options)
        { return ONAX_ORT(t, DisableCpuMemArena, void *, void *)(options); }
    static ort_status ort_set_optimization(const onax_ort_entry *t, void *options, int level)
        { return ONAX_ORT(t, SetSessionGraphOptimizationLevel, void *, void *, int)(options, level); }
    static ort_status ort_create_domain(const onax_ort_entry *t, const char *name, void **domain)
        { return ONAX_ORT(t, CreateCustomOpDomain, void *, const char *, void **)(name, domain); }
    static ort_status ort_domain_add(const onax_ort_entry *t, void *domain, const void *operator)
        { return ONAX_ORT(t, CustomOpDomain_Add, void *, void *, const void *)(domain, operator); }
    static ort_status ort_add_domain(const onax_ort_entry *t, void *options, void *domain)
        { return ONAX_ORT(t, AddCustomOpDomain, void *, void *, void *)(options, domain); }
    static ort_status ort_create_tensor(const onax_ort_entry *t, void *memory, void *data, size_t size,
                                        const int64_t *shape, size_t rank, int element, void **value)
        { return ONAX_ORT(t, CreateTensorWithDataAsOrtValue, void *, void *, void *, size_t, const int64_t *, size_t, int, void **)(
              memory, data, size, shape, rank, element, value); }
    static ort_status ort_tensor_data(const onax_ort_entry *t, void *value, void **data)
        { return ONAX_ORT(t, GetTensorMutableData, void *, void *, void **)(value, data); }
    static ort_status ort_rank(const onax_ort_entry *t, void *info, size_t *rank)
        { return ONAX_ORT(t, GetDimensionsCount, void *, const void *, size_t *)(info, rank); }
    static ort_status ort_dimensions(const onax_ort_entry *t, void *info, int64_t *shape, size_t rank)
        { return ONAX_ORT(t, GetDimensions, void *, const void *, int64_t *, size_t)(info, shape, rank); }
    static ort_status ort_type_and_shape(const onax_ort_entry *t, void *value, void **info)
        { return ONAX_ORT(t, GetTensorTypeAndShape, void *, const void *, void **)(value, info); }
    static ort_status ort_create_cpu_memory(const onax_ort_entry *t, void **memory)
        { return ONAX_ORT(t, CreateCpuMemoryInfo, void *, int, int, void **)(1, 0, memory); }  /* arena allocator, default memory */
    static void ort_release_status(const onax_ort_entry *t, void *h) { ONAX_ORT(t, ReleaseStatus, void, void *)(h); }
    static void ort_release_session(const onax_ort_entry *t, void *h) { ONAX_ORT(t, ReleaseSession, void, void *)(h); }
    static void ort_release_value(const onax_ort_entry *t, void *h) { ONAX_ORT(t, ReleaseValue, void, void *)(h); }
    static void ort_release_info(const onax_ort_entry *t, void *h) { ONAX_ORT(t, ReleaseTensorTypeAndShapeInfo, void, void *)(h); }
    static void ort_release_session_options(const onax_ort_entry *t, void *h)
        { ONAX_ORT(t, ReleaseSessionOptions, void, void *)(h); }
    static ort_status ort_create_env(const onax_ort_entry *t, int level, const char *name, void *threading, void **env)
        { return ONAX_ORT(t, CreateEnvWithGlobalThreadPools, void *, int, const char *, const void *, void **)(level, name, threading, env); }
    static ort_status ort_use_global_threads(const onax_ort_entry *t, void *options)
        { return ONAX_ORT(t, DisablePerSessionThreads, void *, void *)(options); }
    static ort_status ort_create_threading(const onax_ort_entry *t, void **threading)
        { return ONAX_ORT(t, CreateThreadingOptions, void *, void **)(threading); }
    static void ort_release_threading(const onax_ort_entry *t, void *h) { ONAX_ORT(t, ReleaseThreadingOptions, void, void *)(h); }
    static ort_status ort_add_config(const onax_ort_entry *t, void *options, const char *key, const char *value)
        { return ONAX_ORT(t, AddSessionConfigEntry, void *, void *, const char *, const char *)(options, key, value); }
    static ort_status ort_set_intra_threads(const onax_ort_entry *t, void *threading, int n)
        { return ONAX_ORT(t, SetGlobalIntraOpNumThreads, void *, void *, int)(threading, n); }
    static ort_status ort_set_inter_threads(const onax_ort_entry *t, void *threading, int n)
        { return ONAX_ORT(t, SetGlobalInterOpNumThreads, void *, void *, int)(threading, n); }
    static ort_status ort_set_spinning(const onax_ort_entry *t, void *threading, int on)
        { return ONAX_ORT(t, SetGlobalSpinControl, void *, void *, int)(threading, on); }
    static ort_status ort_add_initializer(const onax_ort_entry *t, void *options, const char *name, void *value)
        { return ONAX_ORT(t, AddInitializer, void *, void *, const char *, const void *)(options, name, value); }
    static ort_status ort_append_cuda(const onax_ort_entry *t, void *options, const void *cuda)
        { return ONAX_ORT(t, SessionOptionsAppendExecutionProvider_CUDA_V2, void *, void *, const void *)(options, cuda); }
    static ort_status ort_create_cuda_options(const onax_ort_entry *t, void **cuda)
        { return ONAX_ORT(t, CreateCUDAProviderOptions, void *, void **)(cuda); }
    static ort_status ort_update_cuda_options(const onax_ort_entry *t, void *cuda, const char *const *keys,
                                              const char *const *values, size_t n)
        { return ONAX_ORT(t, UpdateCUDAProviderOptions, void *, void *, const char *const *, const char *const *, size_t)(cuda, keys,
                                                                                                    values, n); }
    static ort_status ort_cuda_options_text(const onax_ort_entry *t, const void *cuda, void *allocator, char **text)
        { return ONAX_ORT(t, GetCUDAProviderOptionsAsString, void *, const void *, void *, char **)(cuda, allocator, text); }
    static void ort_release_cuda_options(const onax_ort_entry *t, void *h) { ONAX_ORT(t, ReleaseCUDAProviderOptions, void, void *)(h); }
    static ort_status ort_add_external_initializers(const onax_ort_entry *t, void *options, const char *const *names,
                                                    void *const *values, size_t n)
        { return ONAX_ORT(t, AddExternalInitializers, void *, void *, const char *const *, void *const *, size_t)(options, names, values,
                                                                                              n); }
    static ort_status ort_allocate_tensor(const onax_ort_entry *t, void *allocator, const int64_t *shape, size_t rank,
                                          int element, void **value)
        { return ONAX_ORT(t, CreateTensorAsOrtValue, void *, void *, const int64_t *, size_t, int, void **)(allocator, shape, rank, element,
                                                                                                  value); }
    static ort_status ort_create_memory_info(const onax_ort_entry *t, const char *name, int kind, int id, int memory,
                                             void **info)
        { return ONAX_ORT(t, CreateMemoryInfo, void *, const char *, int, int, int, void **)(name, kind, id, memory, info); }
    static void ort_release_memory_info(const onax_ort_entry *t, void *h) { ONAX_ORT(t, ReleaseMemoryInfo, void, void *)(h); }
    static int ort_is_on_host(const onax_ort_entry *t, const void *info) {
        int type = 0;  /* OrtMemoryInfoDeviceType: 0 is the CPU's */
        ONAX_ORT(t, MemoryInfoGetDeviceType, void, const void *, int *)(info, &type);
        return type == 0;
    }
    static ort_status ort_default_allocator(const onax_ort_entry *t, void **allocator)
        { return ONAX_ORT(t, GetAllocatorWithDefaultOptions, void *, void **)(allocator); }
    static ort_status ort_allocator_free(const onax_ort_entry *t, void *allocator, void *p)
        { return ONAX_ORT(t, AllocatorFree, void *, void *, void *)(allocator, p); }
    static ort_status ort_create_allocator(const onax_ort_entry *t, void *session, const void *info, void **allocator)
        { return ONAX_ORT(t, CreateAllocator, void *, void *, const void *, void **)(session, info, allocator); }
    static void ort_release_allocator(const onax_ort_entry *t, void *h) { ONAX_ORT(t, ReleaseAllocator, void, void *)(h); }
    static ort_status ort_input_memory(const onax_ort_entry *t, void *session, const void **infos, size_t n)
        { return ONAX_ORT(t, SessionGetMemoryInfoForInputs, void *, void *, const void **, size_t)(session, infos, n); }
    static ort_status ort_output_memory(const onax_ort_entry *t, void *session, const void **infos, size_t n)
        { return ONAX_ORT(t, SessionGetMemoryInfoForOutputs, void *, void *, const void **, size_t)(session, infos, n); }
    static ort_status ort_create_binding(const onax_ort_entry *t, void *session, void **binding)
        { return ONAX_ORT(t, CreateIoBinding, void *, void *, void **)(session, binding); }
    static void ort_release_binding(const onax_ort_entry *t, void *h) { ONAX_ORT(t, ReleaseIoBinding, void, void *)(h); }
    static ort_status ort_bind_input(const onax_ort_entry *t, void *binding, const char *name, const void *value)
        { return ONAX_ORT(t, BindInput, void *, void *, const char *, const void *)(binding, name, value); }
    static ort_status ort_bind_output(const onax_ort_entry *t, void *binding, const char *name, const void *value)
        { return ONAX_ORT(t, BindOutput, void *, void *, const char *, const void *)(binding, name, value); }
    static ort_status ort_bind_output_to_device(const onax_ort_entry *t, void *binding, const char *name, const void *info)
        { return ONAX_ORT(t, BindOutputToDevice, void *, void *, const char *, const void *)(binding, name, info); }
    static ort_status ort_bound_outputs(const onax_ort_entry *t, const void *binding, void *allocator, void ***values,
                                        size_t *n)
        { return ONAX_ORT(t, GetBoundOutputValues, void *, const void *, void *, void ***, size_t *)(binding, allocator, values, n); }
    static ort_status ort_run_with_binding(const onax_ort_entry *t, void *session, const void *binding)
        { return ONAX_ORT(t, RunWithBinding, void *, void *, const void *, const void *)(session, NULL, binding); }
    """
    ctypedef void *onax_ort_entry
    ctypedef struct onax_ort_base:
        pass
    ctypedef void *ort_status

    enum:
        ONAX_ORT_API_VERSION
    const onax_ort_base *onax_ort_open(const char *path, const char **fault)
    const onax_ort_entry *onax_ort_table(const onax_ort_base *base, uint32_t version)
    const char *onax_ort_version(const onax_ort_base *base)

    const char *ort_error_message(const onax_ort_entry *t, ort_status s)
    ort_status ort_create_session(const onax_ort_entry *t, void *env, const void *model, size_t size, void *options,
                                  void **session)
    ort_status ort_run(const onax_ort_entry *t, void *session, const char **names, void **ins, size_t n,
                       const char **out, size_t m, void **outs)
    ort_status ort_create_session_options(const onax_ort_entry *t, void **options)
    ort_status ort_save_optimized(const onax_ort_entry *t, void *options, const char *path)
    ort_status ort_disable_memory_pattern(const onax_ort_entry *t, void *options)
    ort_status ort_disable_cpu_arena(const onax_ort_entry *t, void *options)
    ort_status ort_set_optimization(const onax_ort_entry *t, void *options, int level)
    ort_status ort_create_domain(const onax_ort_entry *t, const char *name, void **domain)
    ort_status ort_domain_add(const onax_ort_entry *t, void *domain, const void *operator)
    ort_status ort_add_domain(const onax_ort_entry *t, void *options, void *domain)
    ort_status ort_create_tensor(const onax_ort_entry *t, void *memory, void *data, size_t size, const int64_t *shape,
                                 size_t rank, int element, void **value)
    ort_status ort_tensor_data(const onax_ort_entry *t, void *value, void **data)
    ort_status ort_rank(const onax_ort_entry *t, void *info, size_t *rank)
    ort_status ort_dimensions(const onax_ort_entry *t, void *info, int64_t *shape, size_t rank)
    ort_status ort_type_and_shape(const onax_ort_entry *t, void *value, void **info)
    ort_status ort_create_cpu_memory(const onax_ort_entry *t, void **memory)
    void ort_release_status(const onax_ort_entry *t, void *h)
    void ort_release_session(const onax_ort_entry *t, void *h)
    void ort_release_value(const onax_ort_entry *t, void *h)
    void ort_release_info(const onax_ort_entry *t, void *h)
    void ort_release_session_options(const onax_ort_entry *t, void *h)
    ort_status ort_create_env(const onax_ort_entry *t, int level, const char *name, void *threading, void **env)
    ort_status ort_use_global_threads(const onax_ort_entry *t, void *options)
    ort_status ort_create_threading(const onax_ort_entry *t, void **threading)
    void ort_release_threading(const onax_ort_entry *t, void *h)
    ort_status ort_add_config(const onax_ort_entry *t, void *options, const char *key, const char *value)
    ort_status ort_set_intra_threads(const onax_ort_entry *t, void *threading, int n)
    ort_status ort_set_inter_threads(const onax_ort_entry *t, void *threading, int n)
    ort_status ort_set_spinning(const onax_ort_entry *t, void *threading, int on)
    ort_status ort_add_initializer(const onax_ort_entry *t, void *options, const char *name, void *value)
    ort_status ort_append_cuda(const onax_ort_entry *t, void *options, const void *cuda)
    ort_status ort_create_cuda_options(const onax_ort_entry *t, void **cuda)
    ort_status ort_update_cuda_options(const onax_ort_entry *t, void *cuda, const char **keys, const char **values, size_t n)
    ort_status ort_cuda_options_text(const onax_ort_entry *t, const void *cuda, void *allocator, char **text)
    void ort_release_cuda_options(const onax_ort_entry *t, void *h)
    ort_status ort_add_external_initializers(const onax_ort_entry *t, void *options, const char **names, void **values,
                                             size_t n)
    ort_status ort_allocate_tensor(const onax_ort_entry *t, void *allocator, const int64_t *shape, size_t rank,
                                   int element, void **value)
    ort_status ort_create_memory_info(const onax_ort_entry *t, const char *name, int kind, int id, int memory, void **info)
    void ort_release_memory_info(const onax_ort_entry *t, void *h)
    bint ort_is_on_host(const onax_ort_entry *t, const void *info)
    ort_status ort_default_allocator(const onax_ort_entry *t, void **allocator)
    ort_status ort_allocator_free(const onax_ort_entry *t, void *allocator, void *p)
    ort_status ort_create_allocator(const onax_ort_entry *t, void *session, const void *info, void **allocator)
    void ort_release_allocator(const onax_ort_entry *t, void *h)
    ort_status ort_input_memory(const onax_ort_entry *t, void *session, const void **infos, size_t n)
    ort_status ort_output_memory(const onax_ort_entry *t, void *session, const void **infos, size_t n)
    ort_status ort_create_binding(const onax_ort_entry *t, void *session, void **binding)
    void ort_release_binding(const onax_ort_entry *t, void *h)
    ort_status ort_bind_input(const onax_ort_entry *t, void *binding, const char *name, const void *value)
    ort_status ort_bind_output(const onax_ort_entry *t, void *binding, const char *name, const void *value)
    ort_status ort_bind_output_to_device(const onax_ort_entry *t, void *binding, const char *name, const void *info)
    ort_status ort_bound_outputs(const onax_ort_entry *t, const void *binding, void *allocator, void ***values, size_t *n)
    ort_status ort_run_with_binding(const onax_ort_entry *t, void *session, const void *binding)
