/* `onax.Fused`: a program over blocks as an operator of ONNX Runtime, over its threads.
   `onax.Loop`: a loop whose steps are programs, on one thread.

   Attributes: `program`, the bytes of its words; `axes` and `dims`, the rank of each output and all their lengths.  Both
   lists end with a 0 that means nothing, since the runtime refuses empty ones.  Of a loop also `layout`, the numbers of
   onax_loop and whether there is a `condition`, another program. */

#include "ort_operator.h"

typedef struct {
    const onax_ort_entry *table;
    onax_loop loop;            /* of Fused: its program as the body */
    int is_loop;
    int64_t *axes, *dims;
    int checked;               /* the inputs' sizes were right once; they are the same each time */
} fused;

typedef struct { const onax_ort_entry *table; void *context; ort_status status; } threads;

static void fused_destroy(void *kernel) {
    fused *f = kernel;
    if (!f) return;
    onax_program_free(f->loop.body);
    onax_program_free(f->loop.condition);
    free(f->axes);
    free(f->dims);
    free(f);
}

static ort_status read_ints(const onax_ort_entry *t, const void *info, const char *name, int64_t **out, size_t *size) {
    ort_status status;
    *size = 0;
    status = onax_op_ints(t, info, name, NULL, size);
    if (status && !*size) return status;
    if (status) onax_op_release_status(t, status);
    *out = malloc((*size + 1) * sizeof(int64_t));
    return *out ? onax_op_ints(t, info, name, *out, size) : onax_op_fail(t, "no memory");
}

static ort_status read_program_of(const onax_ort_entry *t, const void *info, const char *name, onax_program **out) {
    size_t size = 0;           /* with the byte that ends a text */
    int64_t *words;
    const char *fault;
    ort_status status = onax_op_text(t, info, name, NULL, &size);
    if (status && !size) return status;
    if (status) onax_op_release_status(t, status);
    words = malloc(size + sizeof(int64_t));
    if (!words) return onax_op_fail(t, "no memory");
    status = onax_op_text(t, info, name, (char *)words, &size);
    if (!status && (fault = onax_program_read(words, size / sizeof(int64_t), out))) status = onax_op_fail(t, fault);
    free(words);
    return status;
}

static ort_status read_layout(const onax_ort_entry *t, const void *info, fused *f) {
    int64_t *layout = NULL;
    size_t n = 0;
    const char *fault;
    ort_status status = read_ints(t, info, "layout", &layout, &n);
    if (!status && n != 5) status = onax_op_fail(t, "a loop has five numbers");
    if (!status) {
        f->is_loop = 1;
        f->loop.n_constants = layout[0];
        f->loop.n_carries = layout[1];
        f->loop.trips = layout[2];
        f->loop.reverse = layout[3];
        if (layout[4]) status = read_program_of(t, info, "condition", &f->loop.condition);
    }
    if (!status && (fault = onax_loop_fault(&f->loop))) status = onax_op_fail(t, fault);
    free(layout);
    return status;
}

static int64_t elements_of(const fused *f, int buffer) {
    return f->is_loop ? onax_loop_elements(&f->loop, buffer) : onax_program_elements(f->loop.body, buffer);
}

static const char *check_shapes(const fused *f, size_t n_axes, size_t n_dims) {
    const int n_in = onax_program_inputs(f->loop.body), n_out = onax_program_outputs(f->loop.body);
    const int64_t *d = f->dims, *end = f->dims + n_dims - 1;
    if (n_axes != (size_t)n_out + 1 || n_dims < 1) return "axes do not belong to the program";
    for (int i = 0; i < n_out; i++) {
        int64_t n = 1;
        if (f->axes[i] < 0 || f->axes[i] > end - d) return "dims do not belong to the program";
        for (int64_t k = 0; k < f->axes[i]; k++, d++) {
            if (*d < 0 || (*d && n > INT64_MAX / *d)) return "dims do not belong to the program";
            n *= *d;
        }
        if (n != elements_of(f, n_in + i)) return "dims do not belong to the program";
    }
    return NULL;
}

static ort_status fused_create(const onax_operator *op, const onax_ort_entry *t, const void *info, void **kernel) {
    fused *f = calloc(1, sizeof *f);
    size_t n_axes = 0, n_dims = 0;
    const char *fault;
    ort_status status;
    *kernel = NULL;
    if (!f) return onax_op_fail(t, "no memory");
    f->table = t;
    status = read_program_of(t, info, "program", &f->loop.body);
    if (!status && !strcmp(op->called, "Loop")) status = read_layout(t, info, f);
    if (!status) status = read_ints(t, info, "axes", &f->axes, &n_axes);
    if (!status) status = read_ints(t, info, "dims", &f->dims, &n_dims);
    if (!status && (fault = check_shapes(f, n_axes, n_dims))) status = onax_op_fail(t, fault);
    if (status) fused_destroy(f);
    else *kernel = f;
    return status;
}

static ort_status check_input(const fused *f, const void *value, int i) {
    static const int element[ONAX_TYPES] = {1, 11, 6, 12, 7, 13, 9, 3, 2, 5, 4, 10, 16, 14, 15};
    const onax_ort_entry *t = f->table;
    void *info = NULL;
    int64_t shape[64], n = 1;
    size_t rank = 0;
    int given = 0;
    ort_status status = onax_op_info(t, value, &info);
    if (status) return status;
    status = onax_op_element(t, info, &given);
    if (!status) status = onax_op_rank(t, info, &rank);
    if (!status && rank > 64) status = onax_op_fail(t, "an operand has too many axes");
    if (!status) status = onax_op_shape(t, info, shape, rank);
    onax_op_release_info(t, info);
    for (size_t k = 0; k < rank && !status; k++) n *= shape[k];
    if (!status && (given != element[onax_program_type(f->loop.body, i)] || n != elements_of(f, i)))
        status = onax_op_fail(t, "an operand has another type or size than the program was made for");
    return status;
}

static void over_threads(void *where, void (*task)(void *, size_t), size_t count, void *user) {
    threads *w = where;
    w->status = onax_op_parallel(w->table, w->context, task, count, user);
}

static ort_status run_fused(fused *f, void *context, const void **in, void **out) {
    const onax_ort_entry *t = f->table;
    const int n_in = onax_program_inputs(f->loop.body), n_out = onax_program_outputs(f->loop.body);
    const int64_t *d = f->dims;
    const void *value;
    int failed;
    void *result, *data;
    threads w = {t, context, NULL};
    ort_status status;
    for (int i = 0; i < n_in; i++) {
        if ((status = onax_op_input(t, context, (size_t)i, &value))) return status;
        if (!f->checked && (status = check_input(f, value, i))) return status;
        if ((status = onax_op_data(t, value, &data))) return status;
        in[i] = data;
    }
    f->checked = 1;
    for (int i = 0; i < n_out; d += f->axes[i], i++) {
        if ((status = onax_op_output(t, context, (size_t)i, d, (size_t)f->axes[i], &result))) return status;
        if ((status = onax_op_data(t, result, &out[i]))) return status;
    }
    failed = f->is_loop ? onax_loop_run(&f->loop, in, out) : onax_program_run(f->loop.body, in, out, over_threads, &w);
    return failed ? onax_op_fail(t, "no memory") : w.status;
}

static ort_status fused_compute(void *kernel, void *context) {
    fused *f = kernel;
    const int n_in = onax_program_inputs(f->loop.body), n_out = onax_program_outputs(f->loop.body), n = n_in + n_out;
    void *few[256], **at = few;
    ort_status status;
    size_t given = 0;
    if (!f->checked) {
        if ((status = onax_op_inputs(f->table, context, &given))) return status;
        if (given != (size_t)n_in) return onax_op_fail(f->table, "operands are missing");
        if ((status = onax_op_outputs(f->table, context, &given))) return status;
        if (given != (size_t)n_out) return onax_op_fail(f->table, "results are missing");
    }
    if (n > 256 && !(at = malloc((size_t)n * sizeof(void *)))) return onax_op_fail(f->table, "no memory");
    status = run_fused(f, context, (const void **)at, at + n_in);
    if (at != few) free(at);
    return status;
}

const void *onax_fused(void) {
    static const onax_operator description = ONAX_OPERATOR("Fused", fused_create, fused_compute, fused_destroy);
    return &description;
}

const void *onax_looped(void) {
    static const onax_operator description = ONAX_OPERATOR("Loop", fused_create, fused_compute, fused_destroy);
    return &description;
}
