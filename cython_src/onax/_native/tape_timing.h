/* How long each instruction of a tape takes (tape_machine.c includes this).

   A tape that is timed has another `run` in each of its instructions, which looks at the clock around the one that the
   operation chose, and runs no micro-operations of programs over blocks; other tapes pay nothing.  The time of a branch or loop includes that of the parts it holds. */

typedef struct { int (*run)(const onax_instruction *q, onax_frame *f); int64_t runs, nanoseconds; } timing;

#if defined(_MSC_VER)
static void add_to(int64_t *where, int64_t value) { _InterlockedExchangeAdd64((volatile long long *)where, value); }
static int64_t value_at(int64_t *where) { return _InterlockedExchangeAdd64((volatile long long *)where, 0); }
#else
static void add_to(int64_t *where, int64_t value) { __atomic_fetch_add(where, value, __ATOMIC_RELAXED); }
static int64_t value_at(int64_t *where) { return __atomic_load_n(where, __ATOMIC_RELAXED); }
#endif

static int run_timed(const onax_instruction *q, onax_frame *f) {
    timing *t = &((timing *)f->tape->timings)[q - f->tape->instructions];
    const int64_t before = now();
    const int status = t->run(q, f);
    add_to(&t->nanoseconds, now() - before);
    add_to(&t->runs, 1);
    return status;
}

int onax_tape_time(onax_tape *t) {
    if (t->timings) return 1;
    timing *timings = calloc((size_t)t->n_instructions + 1, sizeof(timing));
    onax_micro_op *ops = malloc(((size_t)t->n_instructions + 1) * sizeof *ops);
    if (!timings || !ops) { free(timings); free(ops); return 0; }
    for (int64_t i = 0; i < t->n_instructions; i++) {
        timings[i].run = t->instructions[i].run;
        t->instructions[i].run = run_timed;
        ops[i] = (onax_micro_op){.code = ONAX_MICRO_INSTRUCTION, .what = &t->instructions[i]};
    }
    for (int k = 0; k < t->n_parts; k++) {
        t->parts[k].ops = ops + t->parts[k].first;
        t->parts[k].end = ops + t->parts[k].past;
    }
    free(t->micro_ops);
    t->micro_ops = ops;
    t->timings = timings;
    return 1;
}

int64_t onax_tape_instructions(const onax_tape *t) { return t->n_instructions; }

void onax_tape_timing(const onax_tape *t, int64_t i, int64_t *runs, int64_t *nanoseconds) {
    timing *timings = t->timings;
    *runs = timings ? value_at(&timings[i].runs) : 0;
    *nanoseconds = timings ? value_at(&timings[i].nanoseconds) : 0;
}
