/* The shape of windows, for the instructions that go over them. */
#ifndef ONAX_TAPE_WINDOWS_H
#define ONAX_TAPE_WINDOWS_H

#include "tape_types.h"

#define ONAX_MOST_WINDOW_AXES 16
#define ONAX_WINDOW_WORDS 7    /* size, window, stride, padding before and after, dilation of operand and of window */

/* padded: the size with holes and padding; count: how many windows there are. */
typedef struct { int64_t size, window, stride, low, base, gap, padded, count; int is_trivial; } onax_window_axis;

/* NULL and the axes and numbers of elements and of windows, or what is wrong with the words. */
const char *onax_read_windows(const int64_t *words, onax_window_axis *axes, int rank, int64_t *in, int64_t *out);

/* tape_windows_select.c */
const char *onax_verify_gather(onax_instruction *q, const int64_t *bytes);
int onax_run_gather(const onax_instruction *q, onax_frame *f);
const char *onax_verify_scatter(onax_instruction *q, const int64_t *bytes);
int onax_run_scatter(const onax_instruction *q, onax_frame *f);

#endif
