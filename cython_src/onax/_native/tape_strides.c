/* Strided copies; tape_strides.h says what they are. */
#include "vector_code.h"

#include "tape_strides.h"
#include "tape_transpose.h"

#include <string.h>

#define PART_BYTES (1 << 21)   /* written by one part of a copy: about 0.3 ms */
#define MOST_PARTS 64
#define LINE 64                /* bytes */
#define BLOCK 64               /* rows of what is transposed before the next pages are touched, and half its columns */
#define LOW_BLOCK 32           /* rows, where all rows share some lines of the caches */
#define PAGE 4096              /* bytes */
#define FAR (1 << 22)          /* bytes: more than the second cache holds */
#define TILE 32                /* parts begin at multiples of it: the squares that a transposition takes */

typedef struct { uint64_t low, high; } word128;
typedef onax_strided_copy copy;

/* ---- loops over the last two axes */

#define COPY_ELEMENT(T, to, from) do { T x; memcpy(&x, from, sizeof x); memcpy(to, &x, sizeof x); } while (0)
#define LAST_TWO_AXES \
    const int r = c->rank; \
    const int64_t m = c->dims[r - 2], n = c->dims[r - 1]; \
    const int64_t to_row = c->to[r - 2], from_row = c->from[r - 2], to_step = c->to[r - 1], from_step = c->from[r - 1];

/* How many elements, at most n, until a line of the cache begins, if lines begin at the same place in each row. */
static inline int64_t until_line(const char *p, int64_t row, int64_t size, int64_t n) {
    const int64_t bytes = (LINE - (int64_t)((uintptr_t)p % LINE)) % LINE;
    return row % LINE || bytes % size || bytes / size > n ? 0 : bytes / size;
}

/* A square of elements, which registers hold; where tape_transpose.h has none, the compiler does what it can. */
#define DEFINE_PLAIN_SQUARE(name, T, side) \
    static inline void transpose_square_##name(char *to, int64_t to_row, const char *from, int64_t from_row) { \
        T square[side][side]; \
        for (int j = 0; j < side; j++) memcpy(square[j], from + j * from_row, sizeof square[j]); \
        for (int i = 0; i < side; i++) { \
            T row[side]; \
            for (int j = 0; j < side; j++) row[j] = square[j][i]; \
            memcpy(to + i * to_row, row, sizeof row); } }

/* Whether one line of each row of the source is read after the other, and the lines that follow are asked for: where the
   source lies beyond the second cache, rows are on pages of their own and do not drive each other out of the caches. */
static inline int takes_strips(int64_t n, int64_t to_row, int64_t from_step) {
    const int64_t step = from_step < 0 ? -from_step : from_step;
    return n >= BLOCK && to_row % 1024 && step % 1024 && step >= PAGE && n > FAR / step;
}

/* Down columns of squares that are one line of the result wide, so that lines of the result are written whole.  The last
   squares may repeat elements of the ones before.  `ahead`: the lines of the source that the next block reads are asked for. */
#define DEFINE_TRANSPOSITION(name, T, side) \
    ONAX_CLONES static void transpose_block_##name(char *to, int64_t to_row, const char *from, int64_t from_step, int64_t m, int64_t n, \
                                                   int ahead) { \
        const int64_t size = sizeof(T), wide = LINE / size > side ? LINE / size : side; \
        if (m < side || n < side) { \
            for (int64_t i = 0; i < m; i++) \
                for (int64_t j = 0; j < n; j++) COPY_ELEMENT(T, to + i * to_row + j * size, from + i * size + j * from_step); \
            return; } \
        for (int64_t first = 0; first < n; first += wide) { \
            const int64_t past = first + wide < n ? first + wide : n; \
            if (ahead) \
                for (int64_t k = first; k < past; k++) onax_prefetch(from + m * size + k * from_step); \
            for (int64_t row = 0; row < m; row += side) { \
                const int64_t i = row < m - side ? row : m - side; \
                for (int64_t column = first; column < past; column += side) { \
                    const int64_t j = column < n - side ? column : n - side; \
                    transpose_square_##name(to + i * to_row + j * size, to_row, from + i * size + j * from_step, from_step); } } } } \
    /* The length of the block at i: the last one is not shorter than a square. */ \
    static int64_t length_##name(int64_t i, int64_t m, int64_t first, int64_t block) { \
        const int64_t length = i || !first ? block : first + side; \
        return m - i < length + side ? m - i : length; } \
    static void transpose_##name(const copy *c, char *to, const char *from) { \
        LAST_TWO_AXES \
        const int64_t above = until_line(to, to_row, sizeof(T), n), before = until_line(from, from_step, sizeof(T), m); \
        const int64_t line = LINE / sizeof(T) > side ? LINE / sizeof(T) : side; \
        const int strips = takes_strips(n, to_row, from_step), ahead = strips; \
        (void)from_row, (void)to_step; \
        for (int64_t i = 0, rows; i < m; i += rows) { \
            rows = length_##name(i, m, before, strips ? line : to_row % 1024 && from_step % 1024 ? BLOCK : LOW_BLOCK); \
            for (int64_t j = 0, columns; j < n; j += columns) { \
                columns = strips ? n : length_##name(j, n, above, 2 * BLOCK); \
                transpose_block_##name(to + i * to_row + j * (int64_t)sizeof(T), to_row, \
                                       from + i * (int64_t)sizeof(T) + j * from_step, from_step, rows, columns, \
                                       ahead); } } }

#if defined(ONAX_HAS_SHUFFLES)
#define transpose_square_1 onax_transpose_square_1
#define transpose_square_2 onax_transpose_square_2
#define transpose_square_4 onax_transpose_square_4
#define transpose_square_8 onax_transpose_square_8
#else
DEFINE_PLAIN_SQUARE(1, uint8_t, ONAX_SIDE(1))
DEFINE_PLAIN_SQUARE(2, uint16_t, ONAX_SIDE(2))
DEFINE_PLAIN_SQUARE(4, uint32_t, ONAX_SIDE(4))
DEFINE_PLAIN_SQUARE(8, uint64_t, ONAX_SIDE(8))
#endif
DEFINE_PLAIN_SQUARE(16, word128, 4)
DEFINE_TRANSPOSITION(1, uint8_t, ONAX_SIDE(1))
DEFINE_TRANSPOSITION(2, uint16_t, ONAX_SIDE(2))
DEFINE_TRANSPOSITION(4, uint32_t, ONAX_SIDE(4))
DEFINE_TRANSPOSITION(8, uint64_t, ONAX_SIDE(8))
DEFINE_TRANSPOSITION(16, word128, 4)

/* Elements of one width: any strides; written side by side, read with any stride, backward, or one repeated. */
#define DEFINE_LOOPS(w, T) \
    static void copy_any_##w(const copy *c, char *to, const char *from) { \
        LAST_TWO_AXES \
        for (int64_t row = 0; row < m; row++, to += to_row, from += from_row) { \
            char *d = to; \
            const char *s = from; \
            for (int64_t i = 0; i < n; i++, d += to_step, s += from_step) COPY_ELEMENT(T, d, s); } } \
    ONAX_CLONES static void copy_packed_##w(const copy *c, char *to, const char *from) { \
        LAST_TWO_AXES \
        (void)to_step; \
        for (int64_t row = 0; row < m; row++, to += to_row, from += from_row) \
            ONAX_EACH COPY_ELEMENT(T, to + i * (int64_t)sizeof(T), from + i * from_step); } \
    ONAX_CLONES static void copy_reversed_##w(const copy *c, char *to, const char *from) { \
        LAST_TWO_AXES \
        (void)to_step, (void)from_step; \
        for (int64_t row = 0; row < m; row++, to += to_row, from += from_row) \
            ONAX_EACH COPY_ELEMENT(T, to + i * (int64_t)sizeof(T), from - i * (int64_t)sizeof(T)); } \
    ONAX_CLONES static void copy_repeated_##w(const copy *c, char *to, const char *from) { \
        LAST_TWO_AXES \
        (void)to_step, (void)from_step; \
        for (int64_t row = 0; row < m; row++, to += to_row, from += from_row) { \
            T x; \
            memcpy(&x, from, sizeof x); \
            ONAX_EACH memcpy(to + i * (int64_t)sizeof(T), &x, sizeof(T)); } }
DEFINE_LOOPS(1, uint8_t)
DEFINE_LOOPS(2, uint16_t)
DEFINE_LOOPS(4, uint32_t)
DEFINE_LOOPS(8, uint64_t)
DEFINE_LOOPS(16, word128)

/* For some thousand bytes C's memmove may use the CPU's own instruction for strings.  Where the target lies less than a
   line behind the source modulo the size of a page, that of Zen 3 takes ten times as long: 1,400 us for the roll of
   f32[1000,1000] by 7, with vectors 134. */
#define OWN_CHUNK 32
ONAX_CLONES static void copy_by_vectors(char *restrict to, const char *restrict from, int64_t bytes) {
    const int64_t last = bytes - OWN_CHUNK;
    for (int64_t k = 0; k < last; k += OWN_CHUNK) memcpy(to + k, from + k, OWN_CHUNK);
    memcpy(to + last, from + last, OWN_CHUNK);
}

void onax_copy_bytes(char *to, const char *from, int64_t bytes) {
    const uintptr_t apart = (uintptr_t)to - (uintptr_t)from, behind = apart % PAGE, size = (uintptr_t)bytes;
    const int is_slow = behind && behind < LINE && bytes >= PAGE / 4 && apart >= size && (uintptr_t)0 - apart >= size;
    if (is_slow) copy_by_vectors(to, from, bytes);
    else memmove(to, from, (size_t)bytes);
}

/* Elements of any other width, or rows. */
static void copy_any_rows(const copy *c, char *to, const char *from) {
    LAST_TWO_AXES
    for (int64_t row = 0; row < m; row++, to += to_row, from += from_row) {
        char *d = to;
        const char *s = from;
        for (int64_t i = 0; i < n; i++, d += to_step, s += from_step) onax_copy_bytes(d, s, c->width);
    }
}

/* Short rows, of at least one chunk: the last chunk may repeat bytes of the one before. */
#define DEFINE_SHORT_ROWS(chunk) \
    ONAX_CLONES static void copy_rows_by_##chunk(const copy *c, char *to, const char *from) { \
        LAST_TWO_AXES \
        const int64_t last = c->width - chunk; \
        for (int64_t row = 0; row < m; row++, to += to_row, from += from_row) { \
            char *d = to; \
            const char *s = from; \
            for (int64_t i = 0; i < n; i++, d += to_step, s += from_step) { \
                for (int64_t k = 0; k < last; k += chunk) memcpy(d + k, s + k, chunk); \
                memcpy(d + last, s + last, chunk); } } }
DEFINE_SHORT_ROWS(8)
DEFINE_SHORT_ROWS(32)
#define SHORT_ROW 512

static void (*row_loop(int64_t width))(const copy *c, char *to, const char *from) {
    return width < 8 || width > SHORT_ROW ? copy_any_rows : width < 32 ? copy_rows_by_8 : copy_rows_by_32;
}

/* ---- single elements of 2 to 4 sources side by side */

#define DEFINE_INTERLEAVING(w, T) \
    typedef T __attribute__((may_alias, aligned(1))) element_##w; \
    ONAX_CLONES static void interleave_2_##w(char *to, const char *const *from, int64_t n) { \
        element_##w *d = (element_##w *)to; \
        const element_##w *a = (const element_##w *)from[0], *b = (const element_##w *)from[1]; \
        ONAX_EACH { d[2 * i] = a[i]; d[2 * i + 1] = b[i]; } } \
    ONAX_CLONES static void interleave_3_##w(char *to, const char *const *from, int64_t n) { \
        element_##w *d = (element_##w *)to; \
        const element_##w *a = (const element_##w *)from[0], *b = (const element_##w *)from[1], *c = (const element_##w *)from[2]; \
        ONAX_EACH { d[3 * i] = a[i]; d[3 * i + 1] = b[i]; d[3 * i + 2] = c[i]; } } \
    ONAX_CLONES static void interleave_4_##w(char *to, const char *const *from, int64_t n) { \
        element_##w *d = (element_##w *)to; \
        const element_##w *a = (const element_##w *)from[0], *b = (const element_##w *)from[1], *c = (const element_##w *)from[2]; \
        const element_##w *e = (const element_##w *)from[3]; \
        ONAX_EACH { d[4 * i] = a[i]; d[4 * i + 1] = b[i]; d[4 * i + 2] = c[i]; d[4 * i + 3] = e[i]; } }
DEFINE_INTERLEAVING(4, uint32_t)
DEFINE_INTERLEAVING(8, uint64_t)


onax_interleaving onax_interleaving_of(int64_t width, int64_t count) {
    static const onax_interleaving of_4[] = {interleave_2_4, interleave_3_4, interleave_4_4};
    static const onax_interleaving of_8[] = {interleave_2_8, interleave_3_8, interleave_4_8};
    return count < 2 || count > 4 ? NULL : width == 4 ? of_4[count - 2] : width == 8 ? of_8[count - 2] : NULL;
}

/* The second last axis lies side by side in the source, the last one in the result. */
static void copy_interleaved(const copy *c, char *to, const char *from) {
    LAST_TWO_AXES
    const char *rows[4];
    (void)to_row, (void)from_row, (void)to_step;
    for (int64_t i = 0; i < n; i++) rows[i] = from + i * from_step;
    onax_interleaving_of(c->width, n)(to, rows, m);
}

static int is_interleaved(const copy *c) {
    const int last = c->rank - 1;
    return onax_interleaving_of(c->width, c->dims[last]) && c->to[last] == c->width && c->to[last - 1] == c->width * c->dims[last]
           && c->from[last - 1] == c->width && c->dims[last - 1] >= 8;
}

/* ---- whole copies */

static void copy_nothing(const copy *c, char *to, const char *from) { (void)c, (void)to, (void)from; }
static void copy_whole(const copy *c, char *to, const char *from) { onax_copy_bytes(to, from, c->width); }
static void copy_whole_1(const copy *c, char *to, const char *from) { (void)c; memcpy(to, from, 1); }
static void copy_whole_4(const copy *c, char *to, const char *from) { (void)c; memcpy(to, from, 4); }
static void copy_whole_8(const copy *c, char *to, const char *from) { (void)c; memcpy(to, from, 8); }
static void copy_whole_16(const copy *c, char *to, const char *from) { (void)c; memcpy(to, from, 16); }
static void copy_whole_32(const copy *c, char *to, const char *from) { (void)c; memcpy(to, from, 32); }

/* More than two axes. */
static void copy_deep(const copy *c, char *to, const char *from) {
    int64_t at[ONAX_MOST_RANK] = {0};
    const int outer = c->rank - 2;
    for (;;) {
        int a = outer - 1;
        c->inner(c, to, from);
        for (; a >= 0; a--) {
            to += c->to[a];
            from += c->from[a];
            if (++at[a] < c->dims[a]) break;
            to -= c->to[a] * c->dims[a];
            from -= c->from[a] * c->dims[a];
            at[a] = 0;
        }
        if (a < 0) return;
    }
}

/* ---- making a copy */

static const char *add_reach(int64_t length, int64_t stride, int64_t *low, int64_t *high) {
    if (stride < -ONAX_FARTHEST || stride > ONAX_FARTHEST) return "a stride is too long";
    if (stride && length - 1 > ONAX_FARTHEST / (stride < 0 ? -stride : stride)) return "a stride is too long";
    *(stride < 0 ? low : high) += (length - 1) * stride;
    return NULL;
}

static const char *read_axes(copy *c, int64_t width, int64_t rank, const int64_t *axes) {
    int64_t count = 1, last[2] = {0, 0};
    const char *fault;
    if (width < 1 || width > ONAX_MOST_WIDTH) return "an element has no such width";
    if (rank < 0 || rank > ONAX_MOST_RANK) return "a copy has too many axes";
    memset(c, 0, sizeof *c);
    c->width = width;
    for (int64_t a = 0; a < rank; a++) {
        const int64_t length = axes[3 * a], to = axes[3 * a + 1], from = axes[3 * a + 2], limit = ONAX_FARTHEST / width;
        if (length < 0 || length > limit) return "an axis has no such length";
        if (to < -limit || to > limit || from < -limit || from > limit) return "a stride is too long";
        if (length && count > limit / length) return "a copy is too large";
        count *= length;
        c->dims[a] = length;
        c->to[a] = to * width;
        c->from[a] = from * width;
    }
    c->bytes = count * width;
    if (!count) return NULL;
    c->rank = (int)rank;
    for (int a = 0; a < c->rank; a++) {
        if ((fault = add_reach(c->dims[a], c->to[a], &c->to_low, &last[0]))) return fault;
        if ((fault = add_reach(c->dims[a], c->from[a], &c->from_low, &last[1]))) return fault;
    }
    c->to_high = last[0] + width;
    c->from_high = last[1] + width;
    return NULL;
}

static void remove_axis(copy *c, int a) {
    for (c->rank--; a < c->rank; a++) {
        c->dims[a] = c->dims[a + 1];
        c->to[a] = c->to[a + 1];
        c->from[a] = c->from[a + 1];
    }
}

static void move_axis(copy *c, int a, int b) {
    const int64_t length = c->dims[a], to = c->to[a], from = c->from[a];
    const int step = a < b ? 1 : -1;
    for (; a != b; a += step) {
        c->dims[a] = c->dims[a + step];
        c->to[a] = c->to[a + step];
        c->from[a] = c->from[a + step];
    }
    c->dims[b] = length;
    c->to[b] = to;
    c->from[b] = from;
}

static int64_t distance(int64_t stride) { return stride < 0 ? -stride : stride; }

/* Axes of length 1 go; the others are put in the order in which they are written, and merged where they can be. */
static void merge_axes(copy *c) {
    for (int a = c->rank - 1; a >= 0; a--)
        if (c->dims[a] == 1) remove_axis(c, a);
    for (int a = 1; a < c->rank; a++) {
        int b = a;
        while (b > 0 && distance(c->to[b - 1]) < distance(c->to[a])) b--;
        move_axis(c, a, b);
    }
    for (int a = c->rank - 1; a > 0; a--)
        if (c->to[a - 1] == c->to[a] * c->dims[a] && c->from[a - 1] == c->from[a] * c->dims[a]) {
            c->dims[a - 1] *= c->dims[a];
            c->to[a - 1] = c->to[a];
            c->from[a - 1] = c->from[a];
            remove_axis(c, a);
        }
}

/* Elements that lie next to each other on both sides become one, if that has a width that pays. */
static void widen_elements(copy *c) {
    const int last = c->rank - 1;
    int64_t bytes;
    if (last < 0 || c->to[last] != c->width || c->from[last] != c->width) return;
    bytes = c->width * c->dims[last];
    c->width = bytes;
    c->rank--;
}

#define BY_WIDTH(form) \
    (c->width == 1 ? form##_1 : c->width == 2 ? form##_2 : c->width == 4 ? form##_4 : c->width == 8 ? form##_8 : form##_16)
#define HAS_LOOPS(width) ((width) == 1 || (width) == 2 || (width) == 4 || (width) == 8 || (width) == 16)

/* The axis along which the source lies side by side is the second last of a transposition. */
static int find_transposition(copy *c) {
    const int last = c->rank - 1;
    if (c->to[last] != c->width || c->from[last] == c->width || c->dims[last] < 4) return 0;
    for (int a = 0; a < last; a++)
        if (c->from[a] == c->width && c->dims[a] >= 4) {
            move_axis(c, a, last - 1);
            return 1;
        }
    return 0;
}

static void choose_loop(copy *c) {
    int last;
    if (c->rank == 0) {
        c->run = c->width == 4 ? copy_whole_4 : c->width == 8 ? copy_whole_8 : c->width == 1 ? copy_whole_1
                 : c->width == 16 ? copy_whole_16 : c->width == 32 ? copy_whole_32 : copy_whole;
        return;
    }
    if (c->rank == 1) {   /* a first axis of length 1 */
        c->rank = 2;
        c->dims[1] = c->dims[0];
        c->to[1] = c->to[0];
        c->from[1] = c->from[0];
        c->dims[0] = 1;
    }
    last = c->rank - 1;
    if (!HAS_LOOPS(c->width)) c->inner = row_loop(c->width);
    else if (c->to[last] == c->width && c->from[last] == 0) c->inner = BY_WIDTH(copy_repeated);
    else if (is_interleaved(c)) c->inner = copy_interleaved;
    else if (find_transposition(c)) c->inner = BY_WIDTH(transpose);
    else if (c->to[last] == c->width && c->from[last] == -c->width) c->inner = BY_WIDTH(copy_reversed);
    else if (c->to[last] == c->width) c->inner = BY_WIDTH(copy_packed);
    else c->inner = BY_WIDTH(copy_any);
    c->run = c->rank == 2 ? c->inner : copy_deep;
}

const char *onax_strided_copy_make(onax_strided_copy *c, int64_t width, int64_t rank, const int64_t *axes) {
    const char *fault = read_axes(c, width, rank, axes);
    if (fault) return fault;
    if (!c->bytes) {
        c->run = copy_nothing;
        return NULL;
    }
    merge_axes(c);
    widen_elements(c);
    choose_loop(c);
    return NULL;
}

/* ---- parts */

/* The longest axis is divided; where all is one row, that is. */
static int divided_axis(const copy *c) {
    int found = 0;
    for (int a = 1; a < c->rank; a++)
        if (c->dims[a] > c->dims[found]) found = a;
    return found;
}

int64_t onax_strided_copy_parts(const onax_strided_copy *c) {
    const int64_t longest = c->rank ? c->dims[divided_axis(c)] : c->width;
    int64_t parts = c->bytes / PART_BYTES;
    parts = parts < longest / TILE ? parts : longest / TILE;
    return parts < 1 ? 1 : parts > MOST_PARTS ? MOST_PARTS : parts;
}

void onax_strided_copy_run_part(const onax_strided_copy *c, char *to, const char *from, int64_t part, int64_t parts) {
    const int a = divided_axis(c);
    const int64_t length = c->rank ? c->dims[a] : c->width;
    const int64_t share = (length / parts + TILE - 1) / TILE * TILE, start = part * share < length ? part * share : length;
    const int64_t stop = part == parts - 1 || start + share > length ? length : start + share;
    onax_strided_copy own = *c;
    if (start == stop || !c->bytes) return;
    if (!c->rank) {
        onax_copy_bytes(to + start, from + start, stop - start);
        return;
    }
    own.dims[a] = stop - start;
    own.run(&own, to + start * c->to[a], from + start * c->from[a]);
}

double onax_strided_copy_work(const onax_strided_copy *c) {
    const double elements = (double)c->bytes / (double)c->width;
    return 3 + (double)c->bytes / 20 + (c->rank ? (c->width > 16 ? 2.0 : 0.4) * elements : 0);
}
