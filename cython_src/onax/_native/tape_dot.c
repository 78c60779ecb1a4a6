/* The instruction `dot`: a sum of products over any axes of two arrays.

   Operands: the result, the left array, the right array.  Attributes:

       the types of left, right and result
       how many axes are batch axes, rows (of left alone), columns (of right alone), summed
       for each axis, in this order:  size, stride in left, stride in right, stride in the result

   A stride is a number of elements; where an operand does not have the axis, its stride is ignored. */
#include "tape_gemm.h"

#include <stdlib.h>
#include <string.h>

#define MOST_ELEMENTS ((int64_t)1 << 40)
#define HEAD 7

/* Reads one axis; 0 if it makes too many elements. */
static int read_axis(onax_contraction *c, int group, const int64_t *axis, int64_t *total) {
    const int64_t dim = axis[0];
    if (dim < 0 || dim > MOST_ELEMENTS || (dim && *total > MOST_ELEMENTS / dim)) return 0;
    *total *= dim ? dim : 1;
    if (group == 0) for (int i = 0; i < 3; i++) onax_add_digit(&c->batch[i], dim, axis[1 + i]);
    if (group == 1) onax_add_digit(&c->rows[0], dim, axis[1]), onax_add_digit(&c->rows[1], dim, axis[3]);
    if (group == 2) onax_add_digit(&c->columns[0], dim, axis[2]), onax_add_digit(&c->columns[1], dim, axis[3]);
    if (group == 3) onax_add_digit(&c->inner[0], dim, axis[1]), onax_add_digit(&c->inner[1], dim, axis[2]);
    return 1;
}

const char *onax_read_contraction(onax_contraction *c, const int64_t *attributes, int64_t count) {
    const int64_t *at = attributes, *axis = at + HEAD;
    int64_t outer = 1, inner = 1, axes = 0;
    if (count < HEAD) return "dot: attributes";
    onax_start_contraction(c);
    for (int i = 0; i < 3; i++) c->types[i] = at[i];
    for (int group = 0; group < 4; group++) {
        if (at[3 + group] < 0 || at[3 + group] > ONAX_MOST_RANK) return "dot: too many axes";
        axes += at[3 + group];
    }
    if (count != HEAD + 4 * axes) return "dot: attributes";
    for (int group = 0; group < 4; group++)
        for (int64_t i = 0; i < at[3 + group]; i++, axis += 4)
            if (!read_axis(c, group, axis, group == 3 ? &inner : &outer)) return "dot: too many elements";
    return NULL;
}

static const char *verify_dot(onax_instruction *q, const int64_t *bytes) {
    onax_contraction c;
    const char *fault;
    if (q->n_operands != 3) return "dot: three operands";
    if ((fault = onax_read_contraction(&c, q->attributes, q->n_attributes))) return fault;
    if ((fault = onax_contraction_fault(&c, bytes))) return fault;
    return onax_product_plan(&c, (onax_product **)&q->state, &q->scratch, &q->work);
}

static int run_dot(const onax_instruction *q, onax_frame *f) {
    return onax_product_run(q->state, ONAX_BUFFER(q, f, 1), ONAX_BUFFER(q, f, 2), ONAX_BUFFER(q, f, 0), f->scratch, f);
}

static void release_dot(onax_instruction *q) { onax_product_free(q->state); }

const onax_tape_operation onax_tape_dot[] = {
    {"dot", 1, verify_dot, run_dot, release_dot},
    {0},
};
