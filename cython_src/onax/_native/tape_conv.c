/* The instruction `convolution`: sums of products of windows with a kernel, as a contraction over overlapping windows.

   Operands: the result, the left array (images), the right array (kernel).  Attributes:

       the types of left, right and result
       spatial axes, batch of left, features of left, output features, input features of right
       feature groups, batch groups
       strides in left of batch and features, in right of output and input features, in the result of batch and features
       for each spatial axis:  size and stride in left, in right, in the result;
                               step of the window, padding before and after, dilation of left, of right

   Padding that is below 0 cuts off.  An image that is padded or dilated is first written out with its zeros. */
#include "tape_gemm.h"

#include <stdlib.h>
#include <string.h>

#define MOST_ELEMENTS ((int64_t)1 << 40)
#define MOST_PADDING ((int64_t)1 << 31)
#define MOST_SPACE 8
#define HEAD 16
#define FEW_POSITIONS 64        /* fewer are no rows of their own */

enum { LEFT_SIZE, LEFT_STRIDE, RIGHT_SIZE, RIGHT_STRIDE, OUT_SIZE, OUT_STRIDE, STEP, BEFORE, AFTER, LEFT_GAP, RIGHT_GAP,
       WORDS };

typedef struct {
    int64_t types[3], rank, batch, features, outputs, inputs, feature_groups, batch_groups;
    int64_t left[2], right[2], out[2];
    int64_t space[MOST_SPACE][WORDS];
} convolution;

typedef struct {
    onax_product *product;
    int is_padded, images_right;    /* images_right: the images are the right operand of the product */
    int64_t bytes, scratch;         /* of the padded images, rounded; of the product */
    int64_t size, rank, dims[MOST_SPACE + 2], from[MOST_SPACE + 2], to[MOST_SPACE + 2];
    int64_t before[MOST_SPACE + 2], gap[MOST_SPACE + 2], padded[MOST_SPACE + 2];
} plan;

static int is_count(int64_t x) { return x >= 0 && x <= MOST_ELEMENTS; }

static const char *read_convolution(const onax_instruction *q, convolution *c) {
    const int64_t *at = q->attributes;
    if (q->n_operands != 3 || q->n_attributes < HEAD) return "convolution: three operands";
    memcpy(c->types, at, sizeof c->types);
    c->rank = at[3], c->batch = at[4], c->features = at[5], c->outputs = at[6], c->inputs = at[7];
    c->feature_groups = at[8], c->batch_groups = at[9];
    memcpy(c->left, at + 10, sizeof c->left);
    memcpy(c->right, at + 12, sizeof c->right);
    memcpy(c->out, at + 14, sizeof c->out);
    if (c->rank < 0 || c->rank > MOST_SPACE || q->n_attributes != HEAD + c->rank * WORDS) return "convolution: attributes";
    for (int i = 0; i < 3; i++) if (!onax_size_of(c->types[i])) return "convolution: no such type";
    for (int i = 4; i < 8; i++) if (!is_count(at[i])) return "convolution: sizes";
    for (int i = 8; i < 10; i++) if (at[i] < 1 || at[i] > MOST_ELEMENTS) return "convolution: groups";
    if (c->feature_groups > 1 && c->batch_groups > 1) return "convolution: groups of two kinds";
    for (int a = 0; a < c->rank; a++) {
        int64_t *s = c->space[a];
        memcpy(s, at + HEAD + a * WORDS, sizeof c->space[a]);
        for (int i = 0; i <= STEP; i++) if (!is_count(s[i])) return "convolution: sizes";
        for (int i = BEFORE; i <= AFTER; i++)
            if (s[i] > MOST_PADDING || s[i] < -MOST_PADDING) return "convolution: padding";
        if (s[STEP] < 1 || s[LEFT_GAP] < 1 || s[LEFT_GAP] > MOST_PADDING || s[RIGHT_GAP] < 1 || s[RIGHT_GAP] > MOST_PADDING)
            return "convolution: steps";
    }
    if (c->features % c->feature_groups || c->outputs % c->feature_groups || c->batch % c->batch_groups
        || c->outputs % c->batch_groups || c->features / c->feature_groups != c->inputs) return "convolution: groups";
    return NULL;
}

/* One more factor of a number of elements; 0 if they become too many. */
static int grow(int64_t *total, int64_t factor) {
    if (factor < 0 || (factor && *total > MOST_ELEMENTS / factor)) return 0;
    *total *= factor;
    return 1;
}

/* The layout of the padded images: features last where the images have them so. */
static const char *plan_padding(convolution *c, plan *p, int64_t bytes) {
    const int last = c->left[1] <= 1 && c->features > 1, n = (int)c->rank + 2;
    const int64_t elements = bytes / onax_size_of(c->types[0]);
    int64_t total = 1;
    onax_digits source = {0};
    const onax_digits *parts[1] = {&source};
    source.count = 1;
    for (int a = 0; a < c->rank; a++) {
        const int64_t *s = c->space[a];
        p->is_padded |= s[BEFORE] || s[AFTER] || s[LEFT_GAP] > 1;
    }
    if (!p->is_padded) return NULL;
    for (int i = 0; i < n; i++) {
        const int space = i - (last ? 1 : 2);
        const int64_t *s = space >= 0 && space < c->rank ? c->space[space] : NULL;
        p->dims[i] = s ? s[LEFT_SIZE] : i == 0 ? c->batch : c->features;
        p->from[i] = s ? s[LEFT_STRIDE] : c->left[i == 0 ? 0 : 1];
        p->before[i] = s ? s[BEFORE] : 0;
        p->gap[i] = s ? s[LEFT_GAP] : 1;
        if (p->dims[i] > MOST_ELEMENTS / p->gap[i]) return "convolution: too many elements";
        p->padded[i] = s ? (p->dims[i] ? (p->dims[i] - 1) * p->gap[i] + 1 : 0) + s[BEFORE] + s[AFTER] : p->dims[i];
        if (p->padded[i] < 0) p->padded[i] = 0;
        if (!grow(&total, p->padded[i])) return "convolution: too many elements";
        onax_add_digit(&source, p->dims[i], p->from[i]);
    }
    if (!onax_digits_fit(parts, 1, elements)) return "convolution: outside the left array";
    p->rank = n;
    p->size = onax_size_of(c->types[0]);
    p->bytes = (total * p->size + 63) / 64 * 64;
    for (int64_t i = n - 1, step = 1; i >= 0; step *= p->padded[i--]) p->to[i] = step;
    c->left[0] = p->to[0];
    c->left[1] = p->to[last ? n - 1 : 1];
    for (int a = 0; a < c->rank; a++) c->space[a][LEFT_STRIDE] = p->to[a + (last ? 1 : 2)];
    return NULL;
}

/* One axis of a role in the product: its strides in images, kernel, result (-1 where an operand does not have it). */
static void add_axis(onax_contraction *t, int images_right, char role, int64_t dim, int64_t image, int64_t kernel,
                     int64_t out) {
    const int64_t a = images_right ? kernel : image, b = images_right ? image : kernel;
    if (role == 'b') {
        onax_add_digit(&t->batch[0], dim, a);
        onax_add_digit(&t->batch[1], dim, b);
        onax_add_digit(&t->batch[2], dim, out);
    } else if (role == 'k') onax_add_digit(&t->inner[0], dim, a), onax_add_digit(&t->inner[1], dim, b);
    else if (role == 'm') onax_add_digit(&t->rows[0], dim, a), onax_add_digit(&t->rows[1], dim, out);
    else onax_add_digit(&t->columns[0], dim, b), onax_add_digit(&t->columns[1], dim, out);
}

/* Columns are features, or positions: whichever lie side by side in the result, or are many. */
static void describe(const convolution *c, plan *p, onax_contraction *t) {
    const int64_t groups = c->feature_groups * c->batch_groups, outputs = c->outputs / groups;
    const int64_t batch = c->batch / c->batch_groups;
    const int64_t group_image = c->batch_groups > 1 ? batch * c->left[0] : c->inputs * c->left[1];
    int64_t positions = 1;
    int right, together;
    for (int a = 0; a < c->rank; a++) positions *= c->space[a][OUT_SIZE];
    right = p->images_right = !(c->out[1] == 1 && outputs > 1) && !(positions < FEW_POSITIONS / 2 && outputs > positions);
    together = !right || positions < FEW_POSITIONS;
    onax_start_contraction(t);
    t->types[0] = c->types[right], t->types[1] = c->types[!right], t->types[2] = c->types[2];
    if (groups > 1) add_axis(t, right, 'b', groups, group_image, outputs * c->right[0], outputs * c->out[1]);
    add_axis(t, right, !together ? 'b' : right ? 'n' : 'm', batch, c->left[0], 0, c->out[0]);
    add_axis(t, right, right ? 'm' : 'n', outputs, 0, c->right[0], c->out[1]);
    add_axis(t, right, 'k', c->inputs, c->left[1], c->right[1], 0);
    for (int a = 0; a < c->rank; a++) {
        const int64_t *s = c->space[a];
        add_axis(t, right, right ? 'n' : 'm', s[OUT_SIZE], s[LEFT_STRIDE] * s[STEP], 0, s[OUT_STRIDE]);
        add_axis(t, right, 'k', s[RIGHT_SIZE], s[LEFT_STRIDE] * s[RIGHT_GAP], s[RIGHT_STRIDE], 0);
    }
}

/* With features last, terms go along features within a position of the window. */
static void order_terms(const convolution *c, onax_contraction *t) {
    if (c->left[1] != 1 || c->rank == 0) return;
    for (int i = 0; i < 2; i++) {
        onax_digits *d = &t->inner[i];
        const int64_t dim = d->dims[0], stride = d->strides[0];
        memmove(d->dims, d->dims + 1, (size_t)(d->n - 1) * sizeof(int64_t));
        memmove(d->strides, d->strides + 1, (size_t)(d->n - 1) * sizeof(int64_t));
        d->dims[d->n - 1] = dim;
        d->strides[d->n - 1] = stride;
    }
}

static const char *check_sizes(const convolution *c) {
    int64_t outer = 1, inner = 1;
    if (!grow(&outer, c->batch ? c->batch : 1) || !grow(&outer, c->outputs ? c->outputs : 1)
        || !grow(&inner, c->inputs ? c->inputs : 1)) return "convolution: too many elements";
    for (int a = 0; a < c->rank; a++) {
        const int64_t *s = c->space[a];
        if (!grow(&outer, s[OUT_SIZE] ? s[OUT_SIZE] : 1) || !grow(&inner, s[RIGHT_SIZE] ? s[RIGHT_SIZE] : 1))
            return "convolution: too many elements";
        if (s[LEFT_STRIDE] > MOST_ELEMENTS / s[STEP] || s[LEFT_STRIDE] > MOST_ELEMENTS / s[RIGHT_GAP])
            return "convolution: strides";
    }
    for (int i = 0; i < 2; i++)
        if (!is_count(c->left[i]) || !is_count(c->right[i]) || !is_count(c->out[i])
            || c->left[i] > MOST_PADDING || c->right[i] > MOST_PADDING || c->out[i] > MOST_PADDING)
            return "convolution: strides";
    if (c->batch > MOST_PADDING || c->inputs > MOST_PADDING || c->outputs > MOST_PADDING) return "convolution: sizes";
    return NULL;
}

static const char *verify_convolution(onax_instruction *q, const int64_t *bytes) {
    convolution c;
    onax_contraction t;
    plan *p;
    const char *fault = read_convolution(q, &c);
    int64_t operands[3] = {bytes[0], 0, 0}, scratch = 0;
    if (fault) return fault;
    if (!(p = q->state = calloc(1, sizeof *p))) return "no memory";
    if ((fault = plan_padding(&c, p, bytes[1])) || (fault = check_sizes(&c))) return fault;
    describe(&c, p, &t);
    order_terms(&c, &t);
    operands[1 + p->images_right] = p->is_padded ? p->bytes : bytes[1];
    operands[2 - p->images_right] = bytes[2];
    if ((fault = onax_contraction_fault(&t, operands))) return fault;
    if ((fault = onax_product_plan(&t, &p->product, &scratch, &q->work))) return fault;
    q->scratch = p->bytes + scratch;
    q->work += (double)p->bytes * 0.1;
    return NULL;
}

/* One row along the last axis. */
static void copy_row(const plan *p, const char *from, char *to) {
    const int last = (int)p->rank - 1;
    const int64_t gap = p->gap[last], before = p->before[last], size = p->size, step = p->from[last] * size;
    int64_t first = before < 0 ? (-before + gap - 1) / gap : 0, past = p->dims[last];
    if (past && (past - 1) * gap + before >= p->padded[last])
        past = p->padded[last] > before ? (p->padded[last] - 1 - before) / gap + 1 : 0;
    if (first >= past) return;
    from += first * step;
    to += (first * gap + before) * size;
    if (gap == 1 && step == size) { memcpy(to, from, (size_t)((past - first) * size)); return; }
    for (int64_t i = first; i < past; i++, from += step, to += gap * size) memcpy(to, from, (size_t)size);
}

/* Writes the images and the zeros between and around them. */
static void pad_images(const plan *p, const char *from, char *to) {
    int64_t at[MOST_SPACE + 2] = {0}, rows = 1;
    const int outer = (int)p->rank - 1;
    memset(to, 0, (size_t)p->bytes);
    for (int a = 0; a < outer; a++) rows *= p->dims[a];
    for (int64_t r = 0; r < rows && p->bytes; r++) {
        const char *source = from;
        char *target = to;
        int inside = 1;
        for (int a = 0; a < outer; a++) {
            const int64_t place = at[a] * p->gap[a] + p->before[a];
            inside &= place >= 0 && place < p->padded[a];
            source += at[a] * p->from[a] * p->size;
            if (inside) target += place * p->to[a] * p->size;
        }
        if (inside) copy_row(p, source, target);
        for (int a = outer - 1; a >= 0 && ++at[a] == p->dims[a]; a--) at[a] = 0;
    }
}

static int run_convolution(const onax_instruction *q, onax_frame *f) {
    const plan *p = q->state;
    const char *images = ONAX_BUFFER(q, f, 1), *kernel = ONAX_BUFFER(q, f, 2);
    if (p->is_padded) {
        pad_images(p, images, f->scratch);
        images = f->scratch;
    }
    return onax_product_run(p->product, p->images_right ? kernel : images, p->images_right ? images : kernel,
                            ONAX_BUFFER(q, f, 0), f->scratch + p->bytes, f);
}

static void release_convolution(onax_instruction *q) {
    plan *p = q->state;
    if (p) onax_product_free(p->product);
    free(p);
}

const onax_tape_operation onax_tape_conv[] = {
    {"convolution", 1, verify_convolution, run_convolution, release_convolution},
    {0},
};
