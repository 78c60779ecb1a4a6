/* What an operator of our own needs of ONNX Runtime's C API: its description, and what a kernel asks of a node.

   `ort_api.h` has the functions that sessions need; these are the ones that kernels call.  A status is NULL when
   all went well. */

#ifndef ONAX_ORT_OPERATOR_H
#define ONAX_ORT_OPERATOR_H

#include <stddef.h>
#include <stdint.h>

#include "ort_table.h"

typedef void *(*onax_ort_entry)(void);
typedef void *ort_status;

/* The entry of the API called `name`, as a function of these types. */
#define ONAX_ORT(table, name, result, ...) ((result (*)(__VA_ARGS__))(table)[ORT_##name])

enum {
    ONAX_ORT_FAIL = 1,               /* an error code */
    ONAX_ORT_VARIADIC = 2,           /* of an input or output: any number, of any types */
    ONAX_ORT_ANY_TYPE = 0            /* an element type that is not fixed */
};

/* The description of an operator, in the order of the runtime's binary interface (version 18 of it). */
typedef struct onax_operator {
    uint32_t version;
    void *(*create_old)(const struct onax_operator *, const onax_ort_entry *, const void *info);
    const char *(*name)(const struct onax_operator *);
    const char *(*provider)(const struct onax_operator *);
    int (*input_type)(const struct onax_operator *, size_t);
    size_t (*input_count)(const struct onax_operator *);
    int (*output_type)(const struct onax_operator *, size_t);
    size_t (*output_count)(const struct onax_operator *);
    void (*compute_old)(void *kernel, void *context);
    void (*destroy)(void *kernel);
    int (*input_kind)(const struct onax_operator *, size_t);
    int (*output_kind)(const struct onax_operator *, size_t);
    int (*input_memory)(const struct onax_operator *, size_t);
    int (*fewest_inputs)(const struct onax_operator *);
    int (*inputs_are_alike)(const struct onax_operator *);
    int (*fewest_outputs)(const struct onax_operator *);
    int (*outputs_are_alike)(const struct onax_operator *);
    ort_status (*create)(const struct onax_operator *, const onax_ort_entry *, const void *info, void **kernel);
    ort_status (*compute)(void *kernel, void *context);
    ort_status (*infer)(const struct onax_operator *, void *);
    int (*first_version)(const struct onax_operator *);
    int (*last_version)(const struct onax_operator *);
    void *may_share[4];
    /* ours, behind what the runtime reads */
    const char *called;
} onax_operator;

/* The parts that all our operators have in common: one variadic input and output of any types, on the CPU. */
static inline const char *onax_op_name(const onax_operator *o) { return o->called; }
static inline const char *onax_op_cpu(const onax_operator *o) { (void)o; return NULL; }
static inline int onax_op_any(const onax_operator *o, size_t i) { (void)o; (void)i; return ONAX_ORT_ANY_TYPE; }
static inline size_t onax_op_one(const onax_operator *o) { (void)o; return 1; }
static inline int onax_op_variadic(const onax_operator *o, size_t i) { (void)o; (void)i; return ONAX_ORT_VARIADIC; }
static inline int onax_op_memory(const onax_operator *o, size_t i) { (void)o; (void)i; return 0; }
static inline int onax_op_yes(const onax_operator *o) { (void)o; return 1; }
static inline int onax_op_no(const onax_operator *o) { (void)o; return 0; }
static inline int onax_op_newest(const onax_operator *o) { (void)o; return 0x7fffffff; }

/* A description by name and the three functions that make an operator:
       create(op, table, info, &kernel) -> status    compute(kernel, context) -> status    destroy(kernel) */
#define ONAX_OPERATOR(called_, create_, compute_, destroy_) { \
    18, NULL, onax_op_name, onax_op_cpu, onax_op_any, onax_op_one, onax_op_any, onax_op_one, NULL, destroy_, \
    onax_op_variadic, onax_op_variadic, onax_op_memory, onax_op_yes, onax_op_no, onax_op_yes, onax_op_no, \
    create_, compute_, NULL, onax_op_yes, onax_op_newest, {NULL, NULL, NULL, NULL}, called_ }

/* ---- what `create` asks of a node's attributes */

static inline ort_status onax_op_fail(const onax_ort_entry *t, const char *text)
    { return ONAX_ORT(t, CreateStatus, void *, int, const char *)(ONAX_ORT_FAIL, text); }
static inline ort_status onax_op_int(const onax_ort_entry *t, const void *info, const char *name, int64_t *out)
    { return ONAX_ORT(t, KernelInfoGetAttribute_int64, void *, const void *, const char *, int64_t *)(info, name, out); }
static inline void onax_op_release_status(const onax_ort_entry *t, ort_status s) { ONAX_ORT(t, ReleaseStatus, void, void *)(s); }

/* ---- what `compute` asks of its context */

static inline ort_status onax_op_inputs(const onax_ort_entry *t, const void *context, size_t *count)
    { return ONAX_ORT(t, KernelContext_GetInputCount, void *, const void *, size_t *)(context, count); }
static inline ort_status onax_op_input(const onax_ort_entry *t, const void *context, size_t i, const void **value)
    { return ONAX_ORT(t, KernelContext_GetInput, void *, const void *, size_t, const void **)(context, i, value); }
static inline ort_status onax_op_output(const onax_ort_entry *t, void *context, size_t i, const int64_t *shape,
                                        size_t rank, void **value)
    { return ONAX_ORT(t, KernelContext_GetOutput, void *, void *, size_t, const int64_t *, size_t, void **)(context, i, shape, rank,
                                                                                       value); }
static inline ort_status onax_op_data(const onax_ort_entry *t, const void *value, void **data)
    { return ONAX_ORT(t, GetTensorMutableData, void *, const void *, void **)(value, data); }
static inline ort_status onax_op_info(const onax_ort_entry *t, const void *value, void **info)
    { return ONAX_ORT(t, GetTensorTypeAndShape, void *, const void *, void **)(value, info); }
static inline ort_status onax_op_rank(const onax_ort_entry *t, const void *info, size_t *rank)
    { return ONAX_ORT(t, GetDimensionsCount, void *, const void *, size_t *)(info, rank); }
static inline ort_status onax_op_shape(const onax_ort_entry *t, const void *info, int64_t *shape, size_t rank)
    { return ONAX_ORT(t, GetDimensions, void *, const void *, int64_t *, size_t)(info, shape, rank); }
static inline ort_status onax_op_element(const onax_ort_entry *t, const void *info, int *element)
    { return ONAX_ORT(t, GetTensorElementType, void *, const void *, int *)(info, element); }
static inline void onax_op_release_info(const onax_ort_entry *t, void *info) { ONAX_ORT(t, ReleaseTensorTypeAndShapeInfo, void, void *)(info); }
/* Runs job(data, i) for i below n on the runtime's threads, this one among them; returns when all are done. */
static inline ort_status onax_op_parallel(const onax_ort_entry *t, const void *context, void (*job)(void *, size_t),
                                          size_t n, void *data)
    { return ONAX_ORT(t, KernelContext_ParallelFor, void *, const void *, void (*)(void *, size_t), size_t, size_t, void *)(context, job, n,
                                                                                                      0, data); }

#endif
