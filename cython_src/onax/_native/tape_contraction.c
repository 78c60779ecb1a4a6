/* Contractions of arrays with any strides: how each is computed is decided once, when it is planned.

   vectors   of narrow numbers, a kernel reads two of them in place
   dots      vector kernels read both operands along the summed axis
   strips    vector kernels read b along its columns; operands that they cannot read in place are packed before
   pairs     of complex numbers: strips of b, as real numbers, with the real and with the imaginary parts of a
   packed    blocks of both operands are packed so that a kernel in registers reads them in order

   An element's terms are added in an order that depends on the sizes alone, so threads make no difference. */
#include "tape_gemm.h"

#include <stdlib.h>
#include <string.h>

#define BLOCK_ROWS 120
#define BLOCK_INNER 256         /* products of 8-bit integers, so many of them, are exact in float32 */
#define BLOCK_BYTES 524288      /* of a packed block of b */
#define STRIPS_BYTES 262144     /* of b: what strips read again for each few rows */
#define SMALL_WORK 110592       /* products below which packing whole operands pays */
#define SCATTERED_ROWS 32       /* of a, for which packing b pays (256 terms and 32 columns: 2.4 ms without it, 1.5 ms with it) */
#define SCATTERED_BYTES 512
#define PAIRED_ROWS 256
#define SMALL_SIZES 8192
#define PART_WORK 250000.0      /* nanoseconds below which a part is not worth another thread */
#define PACKED_PART_WORK 700000.0   /* the same where each part packs what the others pack, too */
#define MOST_PARTS 8
#define MOST_PACKED_PARTS 4
#define MOST_STACKED_ROWS 64
#define SHORTEST_VECTOR 64      /* terms below which vectors are packed as matrices are */
#define BATCH 32                /* matrices whose offsets are computed at a time */

enum { ZEROS, VECTORS, DOTS, STRIPS, PAIRS, PACKED };
enum { NOT_QUICK, ONE_DOTS, ONE_STRIP };  /* a single call of a kernel */

struct onax_product {
    onax_contraction c;
    const onax_gemm_kernels *g;
    onax_vector_dot vector_dot; /* of VECTORS */
    onax_strip strip;           /* of STRIPS: the kernel for all columns, or NULL */
    onax_pack pack_a, pack_b;   /* of STRIPS: NULL where an operand is read in place */
    onax_unpack unpack;         /* NULL: c is written in place */
    int quick, mode, work, pairs, exact, swapped, dots_of_b;
    int is_stack;               /* of STRIPS: a kernel takes several matrices at a time */
    int64_t batch, m, n, k, am, ak, bk, bn, cm, sizes[3], size;
    int64_t mc, nc, kc;         /* of PACKED: the largest block, in numbers or groups of them */
    int64_t group;              /* terms of a group, 1 where there are none */
    int64_t parts, part_scratch, a_bytes, b_bytes, c_bytes;
    int axis;                   /* that parts divide: 0 batch, 1 rows, 2 columns */
    int64_t *tables;            /* of STRIPS that pack: offsets of all rows, columns, terms */
};

/* ---- digits */

void onax_add_digit(onax_digits *d, int64_t dim, int64_t stride) {
    d->count *= dim;
    d->dims[d->n] = dim;
    d->strides[d->n++] = stride;
}

void onax_merge_digits(onax_digits *d) {
    int n = 0;
    for (int a = 0; a < d->n && d->count; a++) {
        if (d->dims[a] == 1) continue;
        if (n && d->strides[n - 1] == d->strides[a] * d->dims[a]) d->dims[n - 1] *= d->dims[a];
        else d->dims[n++] = d->dims[a];
        d->strides[n - 1] = d->strides[a];
    }
    d->n = n;
}

void onax_offsets(const onax_digits *d, int64_t start, int64_t count, int64_t *out) {
    int64_t at[ONAX_MOST_RANK], offset = 0, rest = start;
    if (d->n == 0) { for (int64_t i = 0; i < count; i++) out[i] = 0; return; }
    if (d->n == 1) { for (int64_t i = 0; i < count; i++) out[i] = (start + i) * d->strides[0]; return; }
    for (int a = d->n - 1; a >= 0; a--) {
        at[a] = rest % d->dims[a];
        rest /= d->dims[a];
        offset += at[a] * d->strides[a];
    }
    for (int64_t i = 0; i < count;) {
        const int last = d->n - 1;
        int64_t run = d->dims[last] - at[last];
        int a = last - 1;
        run = run < count - i ? run : count - i;
        for (int64_t r = 0; r < run; r++) out[i + r] = offset + r * d->strides[last];
        i += run;
        offset -= at[last] * d->strides[last];
        at[last] = 0;
        for (; a >= 0; a--) {
            offset += d->strides[a];
            if (++at[a] < d->dims[a]) break;
            offset -= at[a] * d->strides[a];
            at[a] = 0;
        }
    }
}

int onax_digits_fit(const onax_digits *const *parts, int count, int64_t elements) {
    int64_t last = 0;
    int none = 0;
    for (int i = 0; i < count; i++) for (int a = 0; a < parts[i]->n; a++) none |= parts[i]->dims[a] == 0;
    if (none) return 1;
    for (int i = 0; i < count; i++)
        for (int a = 0; a < parts[i]->n; a++) {
            const int64_t steps = parts[i]->dims[a] - 1, stride = parts[i]->strides[a];
            if (stride < 0 || steps < 0 || (stride && steps > (elements - 1 - last) / stride)) return 0;
            last += steps * stride;
        }
    return last < elements;
}

static int is_single(const onax_digits *d) { return d->n <= 1; }
static int64_t stride_of(const onax_digits *d) { return d->n ? d->strides[0] : 0; }
static int is_unit(const onax_digits *d) { return d->count <= 1 || (d->n == 1 && d->strides[0] == 1); }

void onax_start_contraction(onax_contraction *c) {
    memset(c, 0, sizeof *c);
    for (int i = 0; i < 3; i++) c->batch[i].count = 1;
    for (int i = 0; i < 2; i++) c->rows[i].count = c->columns[i].count = c->inner[i].count = 1;
}

/* Whether an operand of so many bytes holds all elements that its digits reach. */
static int fits(int64_t type, int64_t bytes, const onax_digits *x, const onax_digits *y, const onax_digits *z) {
    const onax_digits *parts[3] = {x, y, z};
    return bytes >= 0 && onax_digits_fit(parts, 3, bytes / onax_size_of(type));
}

const char *onax_contraction_fault(const onax_contraction *c, const int64_t *bytes) {
    const int64_t *types = c->types, m = c->rows[1].count, n = c->columns[1].count, k = c->inner[0].count;
    for (int i = 0; i < 3; i++) if (onax_size_of(types[i]) == 0) return "product: no such type";
    if (!fits(types[0], bytes[1], &c->batch[0], &c->rows[0], &c->inner[0])) return "product: outside the left array";
    if (!fits(types[1], bytes[2], &c->batch[1], &c->columns[0], &c->inner[1])) return "product: outside the right array";
    if (!fits(types[2], bytes[0], &c->batch[2], &c->rows[1], &c->columns[1])) return "product: outside the result";
    if (m > 0 && n > 0 && c->batch[2].count != bytes[0] / onax_size_of(types[2]) / m / n) return "product: the size of the result";
    if (c->batch[2].count * m * n * onax_size_of(types[2]) != bytes[0]) return "product: the size of the result";
    if (bytes[0] > 0 && k > bytes[1] / onax_size_of(types[0]) / m && k > bytes[2] / onax_size_of(types[1]) / n)
        return "product: more terms than elements";
    return NULL;
}

/* ---- planning */

static int is_integer(int64_t type) { return type != ONAX_BOOL && !(type <= ONAX_F64) && type < ONAX_F16; }
static int is_complex(int64_t type) { return type == ONAX_C64 || type == ONAX_C128; }
static int is_narrow(int64_t type) { return type == ONAX_BOOL || onax_size_of(type) <= 2; }

/* The type to compute in, or -1. */
static int work_of(const int64_t *types, int *exact) {
    const int64_t a = types[0], b = types[1], c = types[2];
    *exact = 0;
    if (is_complex(a) || is_complex(b) || is_complex(c))
        return a != c || b != c ? -1 : c == ONAX_C64 ? ONAX_WORK_F32 : ONAX_WORK_F64;
    if (c == ONAX_BOOL) return a == c && b == c ? ONAX_WORK_F32 : -1;
    if (is_integer(c)) {
        if ((!is_integer(a) && a != ONAX_BOOL) || (!is_integer(b) && b != ONAX_BOOL)) return -1;
        *exact = is_narrow(a) && is_narrow(b);
        if (*exact && a == ONAX_I8 && b == ONAX_I8 && onax_gemm(ONAX_WORK_I8)) return ONAX_WORK_I8;
        if (*exact && (onax_size_of(c) <= 4 || onax_size_of(a) + onax_size_of(b) == 2) && onax_gemm(ONAX_WORK_I16)
            && onax_packer(a, ONAX_WORK_I16, 0) && onax_packer(b, ONAX_WORK_I16, 1)) return ONAX_WORK_I16;
        if (*exact) return onax_size_of(a) == 1 && onax_size_of(b) == 1 ? ONAX_WORK_F32 : ONAX_WORK_F64;
        return onax_size_of(c) == 8 ? ONAX_WORK_U64 : ONAX_WORK_U32;
    }
    if (a == ONAX_BF16 && b == ONAX_BF16 && (c == ONAX_BF16 || c == ONAX_F32) && onax_gemm(ONAX_WORK_BF16))
        return ONAX_WORK_BF16;
    if (c == ONAX_F64 || (c != ONAX_F32 && (a == ONAX_F64 || b == ONAX_F64))) return ONAX_WORK_F64;
    return ONAX_WORK_F32;
}

static int is_native(int64_t type, int work) {
    return work == ONAX_WORK_F32 || work == ONAX_WORK_BF16 ? type == ONAX_F32 : work == ONAX_WORK_F64 ? type == ONAX_F64
         : work != ONAX_WORK_U64 ? type == ONAX_I32 || type == ONAX_U32 : type == ONAX_I64 || type == ONAX_U64;
}

static int64_t size_of(int work) { return work == ONAX_WORK_F64 || work == ONAX_WORK_U64 ? 8 : 4; }

static void swap_digits(onax_digits *x, onax_digits *y) { const onax_digits z = *x; *x = *y; *y = z; }

void onax_swap_sides(onax_contraction *c) {
    const int64_t type = c->types[0];
    c->types[0] = c->types[1];
    c->types[1] = type;
    swap_digits(&c->batch[0], &c->batch[1]);
    swap_digits(&c->rows[0], &c->columns[0]);
    swap_digits(&c->rows[1], &c->columns[1]);
    swap_digits(&c->inner[0], &c->inner[1]);
}

static int64_t rounded(int64_t n, int64_t to) { return (n + to - 1) / to * to; }
static int64_t least(int64_t a, int64_t b) { return a < b ? a : b; }

static const char *plan_packed(onax_product *p) {
    const int64_t pair = p->pairs ? 2 : 1;
    int64_t wide;
    while (p->g->narrow && p->n <= p->g->narrow->nr) p->g = p->g->narrow;
    wide = BLOCK_BYTES / BLOCK_INNER / p->size / p->g->nr * p->g->nr;
    p->pack_a = onax_packer(p->c.types[0], p->work, 0);
    p->pack_b = onax_packer(p->c.types[1], p->work, 1);
    p->unpack = onax_unpacker(p->c.types[2], p->work);
    if (!p->pack_a || !p->pack_b || !p->unpack) return "a product of these types";
    if (is_native(p->c.types[2], p->work) && is_single(&p->c.rows[1]) && is_unit(&p->c.columns[1])) p->unpack = NULL;
    p->mc = least(BLOCK_ROWS, rounded(pair * p->m, p->g->mr));
    p->nc = least(wide, rounded(p->n, p->g->nr));
    p->kc = least(BLOCK_INNER, (pair * p->k + p->group - 1) / p->group);
    p->a_bytes = rounded(p->mc * p->kc * p->size, 64);
    p->b_bytes = rounded(p->nc * p->kc * p->size, 64);
    p->c_bytes = p->unpack ? rounded(p->mc * p->nc * p->size, 64) : 0;
    p->part_scratch = p->a_bytes + p->b_bytes + p->c_bytes + rounded((p->mc + p->nc + p->kc * p->group) * 2 * 8, 64);
    return NULL;
}

/* Offsets: rows of a, terms of a, columns of b, terms of b, rows of c, columns of c. */
static int make_tables(onax_product *p) {
    int64_t *t = malloc((size_t)(2 * (p->m + p->n + p->k) + 1) * sizeof(int64_t));
    if (!t) return 0;
    p->tables = t;
    onax_offsets(&p->c.rows[0], 0, p->m, t), t += p->m;
    onax_offsets(&p->c.inner[0], 0, p->k, t), t += p->k;
    onax_offsets(&p->c.columns[0], 0, p->n, t), t += p->n;
    onax_offsets(&p->c.inner[1], 0, p->k, t), t += p->k;
    onax_offsets(&p->c.rows[1], 0, p->m, t), t += p->m;
    onax_offsets(&p->c.columns[1], 0, p->n, t);
    return 1;
}

/* Whether rows of b lie so far apart that they share a few sets of the first cache, and strips read them often. */
static int is_scattered(const onax_product *p) {
    return p->batch > 1 && p->m >= SCATTERED_ROWS && p->k >= 32 && p->bk * p->size % SCATTERED_BYTES == 0;
}

/* Packs what strips cannot read or write in place, or read slowly. */
static const char *plan_small(onax_product *p) {
    const int64_t pair = p->pairs ? 2 : 1;
    const onax_contraction *c = &p->c;
    if (p->exact) p->work = onax_size_of(c->types[2]) == 8 ? ONAX_WORK_U64 : ONAX_WORK_U32;
    if (p->work == ONAX_WORK_BF16) p->work = ONAX_WORK_F32;
    p->exact = 0;
    p->g = onax_gemm(p->work);
    p->size = size_of(p->work);
    if (!is_native(c->types[0], p->work) || !is_single(&c->rows[0]) || !is_single(&c->inner[0])) {
        p->pack_a = onax_packer(c->types[0], p->work, 0);
        if (!p->pack_a) return "a product of these types";
        p->a_bytes = rounded(p->m * p->k * pair * pair * p->size, 64);
        p->am = pair * p->k, p->ak = 1;
    }
    if (!is_native(c->types[1], p->work) || !is_unit(&c->columns[0]) || !is_single(&c->inner[1]) || is_scattered(p)) {
        p->pack_b = onax_packer(c->types[1], p->work, 1);
        if (!p->pack_b) return "a product of these types";
        p->b_bytes = rounded(p->n * p->k * pair * p->size, 64);
        p->bk = p->n;
    }
    if (!is_native(c->types[2], p->work) || !is_unit(&c->columns[1]) || !is_single(&c->rows[1])) {
        p->unpack = onax_unpacker(c->types[2], p->work);
        if (!p->unpack) return "a product of these types";
        p->c_bytes = rounded(p->m * p->n * pair * p->size, 64);
        p->cm = p->n;
    }
    p->part_scratch = p->a_bytes + p->b_bytes + p->c_bytes;
    if (!make_tables(p)) return "no memory";
    p->strip = p->g->strip_of(p->n);
    return NULL;
}

/* Whether kernels read all three operands in place along the summed axis (or along columns). */
static int can_use(const onax_product *p, int mode) {
    const onax_contraction *c = &p->c;
    for (int i = 0; i < 3; i++) if (!is_native(c->types[i], p->work)) return 0;
    for (int i = 0; i < 2; i++)
        if (!is_single(&c->rows[i]) || !is_single(&c->columns[i]) || !is_single(&c->inner[i])) return 0;
    if (!is_unit(&c->columns[1])) return 0;
    if (mode == DOTS) return is_unit(&c->inner[0]) && is_unit(&c->inner[1]) && (p->m <= 3 || p->n <= 3);
    return is_unit(&c->columns[0]) && (p->m <= 8 || p->k * p->n * p->size <= STRIPS_BYTES);
}

/* Complex matrices that strips can read and write in place. */
static int can_pair(const onax_product *p) {
    const onax_contraction *c = &p->c;
    for (int i = 0; i < 2; i++)
        if (!is_single(&c->rows[i]) || !is_single(&c->inner[i]) || !is_unit(&c->columns[i])) return 0;
    return p->pairs && p->m <= PAIRED_ROWS && (p->m <= 8 || p->k * p->n * 2 * p->size <= STRIPS_BYTES);
}

static const char *plan_mode(onax_product *p) {
    const int64_t pair = p->pairs ? 2 : 1;
    if (p->m == 0 || p->n == 0 || p->k == 0 || p->batch == 0) {
        p->mode = ZEROS;
        return onax_packer(p->c.types[0], p->work, 0) ? NULL : "a product of these types";
    }
    if (can_pair(p)) {
        p->mode = PAIRS;
        p->part_scratch = rounded(2 * p->m * p->n * p->size, 64);
        return NULL;
    }
    if (p->m == 1 && p->n == 1 && p->k >= SHORTEST_VECTOR && is_unit(&p->c.inner[0]) && is_unit(&p->c.inner[1]))
        p->vector_dot = onax_narrow_dot(p->c.types);
    if (p->vector_dot) { p->mode = VECTORS; return NULL; }
    p->mode = p->n == 1 && p->k >= (p->batch > 1 ? 32 : 4) && can_use(p, DOTS) ? DOTS
            : can_use(p, STRIPS) ? STRIPS : can_use(p, DOTS) ? DOTS : PACKED;
    if (p->mode == STRIPS && is_scattered(p)) return plan_small(p);
    if (p->mode == STRIPS) { p->strip = p->g->strip_of(p->n); return NULL; }
    if (p->mode == DOTS) { p->dots_of_b = p->m <= 3 && p->n > 1; return NULL; }
    if (p->m + p->n + p->k > SMALL_SIZES || (double)p->m * (double)p->n * (double)p->k * (double)(pair * pair) > SMALL_WORK)
        return plan_packed(p);
    p->mode = STRIPS;
    return plan_small(p);
}

static int64_t count_parts(double work, double each, int64_t most) {
    return work < 2 * each ? 1 : work > each * (double)most ? most : (int64_t)(work / each);
}

static void plan_parts(onax_product *p, double work) {
    int64_t parts = count_parts(work, PART_WORK, MOST_PARTS);
    const int by_matrix = p->tables || p->mode == PAIRS || p->batch >= parts;
    if (!by_matrix && p->mode == PACKED) parts = count_parts(work, PACKED_PART_WORK, MOST_PACKED_PARTS);
    p->axis = by_matrix ? 0 : p->m >= p->n ? 1 : 2;
    p->parts = least(parts, p->axis == 0 ? p->batch : p->axis == 1 ? p->m : (p->n + p->g->nr - 1) / p->g->nr);
    if (p->parts < 1) p->parts = 1;
}

const char *onax_product_plan(onax_contraction *c, onax_product **product, int64_t *scratch, double *work) {
    static const double costs[] = {0.02, 0.04, 0.03, 0.1, 0.01, 0.006, 0.01};  /* nanoseconds of a product */
    onax_product *p = calloc(1, sizeof *p);
    const char *fault;
    double products;
    if (!p) return "no memory";
    *product = p;
    p->c = *c;
    p->work = work_of(c->types, &p->exact);
    if (p->work < 0) return "a product of these types";
    p->pairs = is_complex(c->types[2]);
    c = &p->c;
    for (int i = 0; i < 3; i++) onax_merge_digits(&c->batch[i]);
    for (int i = 0; i < 2; i++) onax_merge_digits(&c->rows[i]), onax_merge_digits(&c->columns[i]), onax_merge_digits(&c->inner[i]);
    p->swapped = is_unit(&c->rows[1]) && (!is_unit(&c->columns[1]) || (c->columns[1].count == 1 && c->rows[1].count > 1
                                                                       && is_unit(&c->rows[0])));
    if (p->swapped) onax_swap_sides(c);
    p->batch = c->batch[2].count, p->m = c->rows[1].count, p->n = c->columns[1].count, p->k = c->inner[0].count;
    p->am = stride_of(&c->rows[0]), p->ak = stride_of(&c->inner[0]);
    p->bn = stride_of(&c->columns[0]), p->bk = stride_of(&c->inner[1]), p->cm = stride_of(&c->rows[1]);
    for (int i = 0; i < 3; i++) p->sizes[i] = onax_size_of(c->types[i]);
    p->g = onax_gemm(p->work);
    p->size = size_of(p->work);
    p->group = p->work == ONAX_WORK_I8 ? 4 : p->work > ONAX_WORK_U64 ? 2 : 1;
    if ((fault = plan_mode(p))) return fault;
    products = (double)p->batch * (double)p->m * (double)p->n * (double)p->k * (p->pairs ? 4 : 1);
    *work = 10 + products * costs[p->work] + (double)p->batch * 10;
    plan_parts(p, *work);
    if (p->batch == 1 && p->parts == 1 && !p->tables)
        p->quick = p->mode == STRIPS && p->strip ? ONE_STRIP : p->mode == DOTS && p->n == 1 ? ONE_DOTS : NOT_QUICK;
    p->is_stack = p->mode == STRIPS && !p->tables && p->axis == 0 && p->g->stack && 2 * p->n <= p->g->nr
                  && p->m <= MOST_STACKED_ROWS;
    *scratch = p->parts * p->part_scratch;
    return NULL;
}

void onax_product_free(onax_product *p) {
    if (p) free(p->tables);
    free(p);
}

/* ---- running */

typedef struct { const char *a, *b; char *c, *scratch; int64_t first, past; onax_frame *f; } job;

static int run_dots(const onax_product *p, const job *t, const char *a, const char *b, char *c) {
    const int rows = p->axis == 1, columns = p->axis == 2;
    const int64_t i0 = rows ? t->first : 0, i1 = rows ? t->past : p->m, size = p->size;
    const int64_t j0 = columns ? t->first * p->g->nr : 0, j1 = columns ? least(t->past * p->g->nr, p->n) : p->n;
    if (p->dots_of_b)
        for (int64_t i = i0; i < i1; i++)
            p->g->dots(j1 - j0, p->k, b + j0 * p->bn * size, p->bn, a + i * p->am * size, c + (i * p->cm + j0) * size, 1);
    else
        for (int64_t j = j0; j < j1; j++)
            p->g->dots(i1 - i0, p->k, a + i0 * p->am * size, p->am, b + j * p->bn * size,
                       c + (i0 * p->cm + j) * size, p->cm);
    return ONAX_DONE;
}

static int run_strips(const onax_product *p, const job *t, const char *a, const char *b, char *c) {
    const int rows = p->axis == 1, columns = p->axis == 2;
    const int64_t i0 = rows ? t->first : 0, i1 = rows ? t->past : p->m;
    const int64_t j0 = columns ? t->first * p->g->nr : 0, j1 = columns ? least(t->past * p->g->nr, p->n) : p->n;
    const int64_t pair = p->pairs ? 2 : 1, *am = p->tables, *cm = NULL, *cn = NULL;
    char *out = c;
    if (am) {
        const int64_t *ak = am + p->m, *bn = ak + p->k, *bk = bn + p->n;
        cm = bk + p->k, cn = cm + p->m;
        if (p->pack_a) p->pack_a(t->scratch, pair * p->k, 1, a, am, p->m, ak, p->k), a = t->scratch;
        if (p->pack_b) p->pack_b(t->scratch + p->a_bytes, 1, p->n, b, bn, p->n, bk, p->k), b = t->scratch + p->a_bytes;
        if (p->unpack) out = t->scratch + p->a_bytes + p->b_bytes;
    }
    if (p->strip && j1 - j0 == p->n)
        p->strip(pair * (i1 - i0), pair * p->k, a + i0 * p->am * p->size, p->am, p->ak, b, p->bk,
                 out + i0 * p->cm * p->size, p->cm, 0);
    else
        p->g->strips(pair * (i1 - i0), j1 - j0, pair * p->k, a + i0 * p->am * p->size, p->am, p->ak,
                     b + j0 * p->size, p->bk, out + (i0 * p->cm + j0) * p->size, p->cm);
    if (p->unpack) p->unpack(c, cm, p->m, cn, p->n, out, p->n, 0);
    return ONAX_DONE;
}

/* c = re(a) b + i im(a) b */
#define ADD_TURNED(T) \
    for (int64_t i = 0; i < p->m; i++) { \
        T *to = (T *)c + 2 * i * p->cm; \
        const T *from = (const T *)room + 2 * i * p->n; \
        for (int64_t j = 0; j < 2 * p->n; j += 2) to[j] -= from[j + 1], to[j + 1] += from[j]; }

static int run_pairs(const onax_product *p, const job *t, const char *a, const char *b, char *c) {
    const int64_t n = 2 * p->n;
    char *room = t->scratch;
    p->g->strips(p->m, n, p->k, a, 2 * p->am, 2 * p->ak, b, 2 * p->bk, c, 2 * p->cm);
    p->g->strips(p->m, n, p->k, a + p->size, 2 * p->am, 2 * p->ak, b, 2 * p->bk, room, n);
    if (p->work == ONAX_WORK_F32) { ADD_TURNED(float) } else { ADD_TURNED(double) }
    return ONAX_DONE;
}

/* Panels of `wide` numbers side by side for each term; what is missing in the last panel is 0. */
static void pack_panels(onax_pack pack, char *to, int64_t wide, int64_t pair_i, int64_t pair_p, int64_t group,
                        int64_t size, const char *from, const int64_t *io, int64_t ni, const int64_t *po, int64_t np) {
    const int64_t step = wide / pair_i, bytes = wide * ((np + group - 1) / group) * pair_p * size;
    for (int64_t i = 0; i < ni; i += step, to += bytes) {
        const int64_t count = least(step, ni - i);
        if (count < step) memset(to, 0, (size_t)bytes);
        pack(to, 1, wide, from, io + i, count, po, np);
    }
}

/* c = a b, or += with `more`: packed operands, ci elements between the rows of c. */
static void multiply_block(const onax_product *p, const char *a, const char *b, char *c, int64_t ci, int64_t m, int64_t n,
                           int64_t k, int more) {
    const int64_t mr = p->g->mr, nr = p->g->nr, size = p->size;
    uint64_t edge[12 * 32];
    for (int64_t j = 0; j < n; j += nr)
        for (int64_t i = 0; i < m; i += mr) {
            const char *left = a + i * k * size, *right = b + j * k * size;
            char *to = c + (i * ci + j) * size;
            const int64_t rows = least(mr, m - i), columns = least(nr, n - j);
            const int height = (int)((rows - 1) / 4);
            const int64_t full = least(mr, 4 * height + 4);
            if (rows == full && columns == nr) { p->g->micros[height](k, left, right, to, ci, more); continue; }
            if (more) memset(edge, 0, sizeof edge);
            for (int64_t r = 0; more && r < rows; r++)
                memcpy((char *)edge + r * nr * size, to + r * ci * size, (size_t)(columns * size));
            p->g->micros[height](k, left, right, edge, nr, more);
            for (int64_t r = 0; r < rows; r++)
                memcpy(to + r * ci * size, (char *)edge + r * nr * size, (size_t)(columns * size));
        }
}

/* How many numbers, or groups of them, so many terms are. */
static int64_t numbers_of(const onax_product *p, int64_t terms) { return (terms + p->group - 1) / p->group; }

typedef struct { char *a, *b, *c; int64_t *am, *ak, *bn, *bk, *cm, *cn; } blocks;

static blocks blocks_of(const onax_product *p, char *scratch) {
    blocks s;
    s.a = scratch, s.b = s.a + p->a_bytes, s.c = s.b + p->b_bytes;
    s.am = (int64_t *)(s.c + p->c_bytes), s.ak = s.am + p->mc, s.bn = s.ak + p->kc * p->group;
    s.bk = s.bn + p->nc, s.cm = s.bk + p->kc * p->group, s.cn = s.cm + p->mc;
    return s;
}

/* Some terms of some columns of b; also the offsets of the terms in a. */
static void pack_right(const onax_product *p, const blocks *s, const char *b, int64_t j, int64_t columns, int64_t q,
                       int64_t terms) {
    onax_offsets(&p->c.inner[0], q, terms, s->ak);
    onax_offsets(&p->c.inner[1], q, terms, s->bk);
    onax_offsets(&p->c.columns[0], j, columns, s->bn);
    pack_panels(p->pack_b, s->b, p->g->nr, 1, p->pairs ? 2 : 1, p->group, p->size, b, s->bn, columns, s->bk, terms);
}

static void pack_left(const onax_product *p, const blocks *s, const char *a, int64_t i, int64_t rows, int64_t terms) {
    const int64_t pair = p->pairs ? 2 : 1;
    onax_offsets(&p->c.rows[0], i, rows, s->am);
    pack_panels(p->pack_a, s->a, p->g->mr, pair, pair, p->group, p->size, a, s->am, rows, s->ak, terms);
}

/* One block of c by way of a block of numbers, which is converted when all terms are in it. */
static void run_converted(const onax_product *p, const blocks *s, const char *a, const char *b, char *c, int64_t i,
                          int64_t rows, int64_t j, int64_t columns) {
    const int64_t pair = p->pairs ? 2 : 1, inner = p->kc * p->group / pair;
    onax_offsets(&p->c.rows[1], i, rows, s->cm);
    onax_offsets(&p->c.columns[1], j, columns, s->cn);
    for (int64_t q = 0; q < p->k; q += inner) {
        const int64_t terms = least(inner, p->k - q);
        pack_right(p, s, b, j, columns, q, terms);
        pack_left(p, s, a, i, rows, terms);
        multiply_block(p, s->a, s->b, s->c, p->nc, pair * rows, columns, numbers_of(p, pair * terms), q > 0 && !p->exact);
        if (p->exact || q + inner >= p->k) p->unpack(c, s->cm, rows, s->cn, columns, s->c, p->nc, p->exact && q > 0);
    }
}

static int run_packed(const onax_product *p, const job *t, const char *a, const char *b, char *c) {
    const int64_t nr = p->g->nr, height = p->mc / (p->pairs ? 2 : 1);
    const int64_t i0 = p->axis == 1 ? t->first : 0, i1 = p->axis == 1 ? t->past : p->m;
    const int64_t j0 = p->axis == 2 ? t->first * nr : 0, j1 = p->axis == 2 ? least(t->past * nr, p->n) : p->n;
    const blocks s = blocks_of(p, t->scratch);
    for (int64_t j = j0; j < j1; j += p->nc) {
        const int64_t columns = least(p->nc, j1 - j);
        for (int64_t i = i0; p->unpack && i < i1; i += height) {
            run_converted(p, &s, a, b, c, i, least(height, i1 - i), j, columns);
            if (t->f && onax_poll(t->f)) return ONAX_RAISED;
        }
        for (int64_t q = 0; !p->unpack && q < p->k; q += p->kc * p->group) {
            const int64_t terms = least(p->kc * p->group, p->k - q);
            pack_right(p, &s, b, j, columns, q, terms);
            for (int64_t i = i0; i < i1; i += height) {
                const int64_t rows = least(height, i1 - i);
                pack_left(p, &s, a, i, rows, terms);
                multiply_block(p, s.a, s.b, c + (i * p->cm + j) * p->size, p->cm, rows, columns,
                               numbers_of(p, terms), q > 0);
                if (t->f && onax_poll(t->f)) return ONAX_RAISED;
            }
        }
    }
    return ONAX_DONE;
}

static int run_matrix(const onax_product *p, const job *t, const char *a, const char *b, char *c) {
    if (p->mode == VECTORS) { p->vector_dot(c, a, b, p->k); return ONAX_DONE; }
    return p->mode == STRIPS ? run_strips(p, t, a, b, c) : p->mode == PAIRS ? run_pairs(p, t, a, b, c) : p->mode == DOTS ? run_dots(p, t, a, b, c)
         : run_packed(p, t, a, b, c);
}

static int run_job(const onax_product *p, const job *t) {
    const int64_t first = p->axis == 0 ? t->first : 0, past = p->axis == 0 ? t->past : p->batch;
    int64_t offsets[3][BATCH];
    if (p->batch == 1) return run_matrix(p, t, t->a, t->b, t->c);
    for (int64_t start = first; start < past; start += BATCH) {
        const int64_t count = least(BATCH, past - start);
        for (int i = 0; i < 3; i++) onax_offsets(&p->c.batch[i], start, count, offsets[i]);
        if (p->is_stack)
            p->g->stack(count, offsets[0], offsets[1], offsets[2], p->m, p->n, p->k, t->a, p->am, p->ak, t->b, p->bk,
                        t->c, p->cm);
        for (int64_t i = 0; i < count && !p->is_stack; i++)
            if (run_matrix(p, t, t->a + offsets[0][i] * p->sizes[0], t->b + offsets[1][i] * p->sizes[1],
                           t->c + offsets[2][i] * p->sizes[2])) return ONAX_RAISED;
        if (t->f && onax_poll(t->f)) return ONAX_RAISED;
    }
    return ONAX_DONE;
}

static int64_t range_of(const onax_product *p) {
    return p->axis == 0 ? p->batch : p->axis == 1 ? p->m : (p->n + p->g->nr - 1) / p->g->nr;
}

typedef struct { const onax_product *p; job whole; } divided;

static void run_part(void *user, size_t i) {
    const divided *d = user;
    job t = d->whole;
    const int64_t range = range_of(d->p), parts = d->p->parts;
    t.first = range * (int64_t)i / parts;
    t.past = range * ((int64_t)i + 1) / parts;
    t.scratch += (int64_t)i * d->p->part_scratch;
    t.f = NULL;
    run_job(d->p, &t);
}

int onax_product_run(const onax_product *p, const char *a, const char *b, char *c, char *scratch, onax_frame *f) {
    const char *left = p->swapped ? b : a, *right = p->swapped ? a : b;
    job t = {left, right, c, scratch, 0, 0, f};
    if (p->quick == ONE_DOTS) {
        p->g->dots(p->m, p->k, left, p->am, right, c, p->cm);
        return ONAX_DONE;
    }
    if (p->quick == ONE_STRIP) {
        p->strip(p->m, p->k, left, p->am, p->ak, right, p->bk, c, p->cm, 0);
        return ONAX_DONE;
    }
    t.past = range_of(p);
    if (p->mode == ZEROS) {
        if (p->batch && p->m && p->n) memset(c, 0, (size_t)(p->batch * p->m * p->n * p->sizes[2]));
        return ONAX_DONE;
    }
    if (p->parts > 1 && f && f->parallel) {
        divided d = {p, t};
        f->parallel(f->where, run_part, (size_t)p->parts, &d);
        return ONAX_DONE;
    }
    return run_job(p, &t);
}
