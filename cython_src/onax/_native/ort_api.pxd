"""The part of ONNX Runtime's C API that onax uses.

The runtime hands out one table of function pointers that only ever grows, so a function is a position in it
(`ort_table.h`, written from the published header by scripts/generate_ort_table.py) and a build runs with every later
library.  `tests/native/test_ort.py` calls all functions below.  A status is NULL when all went well.
"""

from libc.stdint cimport int64_t, uint32_t


cdef extern from "ort_api.h" nogil:
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
    ort_status ort_enable_profiling(const onax_ort_entry *t, void *options, const char *prefix)
    ort_status ort_disable_memory_pattern(const onax_ort_entry *t, void *options)
    ort_status ort_disable_cpu_arena(const onax_ort_entry *t, void *options)
    ort_status ort_set_optimization(const onax_ort_entry *t, void *options, int level)
    ort_status ort_create_domain(const onax_ort_entry *t, const char *name, void **domain)
    ort_status ort_domain_add(const onax_ort_entry *t, void *domain, const void *operator)
    ort_status ort_add_domain(const onax_ort_entry *t, void *options, void *domain)
    ort_status ort_create_tensor(const onax_ort_entry *t, void *memory, void *data, size_t size, const int64_t *shape,
                                 size_t rank, int element, void **value)
    ort_status ort_tensor_data "onax_op_data"(const onax_ort_entry *t, void *value, void **data)
    ort_status ort_rank "onax_op_rank"(const onax_ort_entry *t, void *info, size_t *rank)
    ort_status ort_dimensions "onax_op_shape"(const onax_ort_entry *t, void *info, int64_t *shape, size_t rank)
    ort_status ort_type_and_shape "onax_op_info"(const onax_ort_entry *t, void *value, void **info)
    ort_status ort_create_cpu_memory(const onax_ort_entry *t, void **memory)
    void ort_release_status "onax_op_release_status"(const onax_ort_entry *t, void *h)
    void ort_release_session(const onax_ort_entry *t, void *h)
    void ort_release_value(const onax_ort_entry *t, void *h)
    void ort_release_info "onax_op_release_info"(const onax_ort_entry *t, void *h)
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

    ctypedef struct onax_allocator:
        uint32_t version
        void *(*allocate)(onax_allocator *, size_t) noexcept nogil
        void (*release)(onax_allocator *, void *) noexcept nogil
        const void *(*info)(const onax_allocator *) noexcept nogil
        void *memory_info
    void onax_throw_no_memory()
    const void *onax_allocator_info(const onax_allocator *a)
    ort_status ort_register_allocator(const onax_ort_entry *t, void *env, onax_allocator *allocator)
