/* Code for quotients and remainders of 32-bit integers (blocks_compiler.c includes this). */

/* ---- by known numbers: the upper half of a product with a multiple of the reciprocal, as in Granlund and Montgomery,
   "Division by invariant integers using multiplication" (1994) */

/* Whether a register holds one number by whose size it can be done, and the number. */
static int known_divisor(const compiler *c, int type, int32_t r, int64_t *divisor) {
    const reg *g = &c->l->registers[r];
    if (g->kind != ONAX_CONSTANT || c->width != 4) return 0;
    *divisor = type == ONAX_I32 ? (int64_t)(int32_t)g->bits[0] : (int64_t)(uint32_t)g->bits[0];
    return *divisor > 1 || (*divisor < -1 && *divisor > INT32_MIN);
}

/* The upper halves of the products of 32-bit integers with a factor. */
static void emit_upper_products(compiler *c, int type, int d, int x, uint32_t factor) {
    const int product = type == ONAX_I32 ? MUL_HALVES_SIGNED : MUL_HALVES_UNSIGNED, odd = new_vector(c);
    emit(c, SHIFT_64_BY, RIGHT_64, odd, VECTOR(x), 32);
    emit(c, product, odd, odd, literal_of_8_bytes(c, factor), -1);
    emit(c, product, d, x, literal_of_8_bytes(c, factor), -1);
    emit(c, SHIFT_64_BY, RIGHT_64, d, VECTOR(d), 32);
    if (c->is_narrow) emit(c, BLEND_32_BY, d, d, VECTOR(odd), 0xAA);
    else emit(c, THREE_BITS, d, odd, literal_of_8_bytes(c, INT64_MIN >> 31), FIRST_OR_BOTH_OTHERS);
    free_vector(c, odd);
}

/* With l the bits of d - 1, h the upper half of x times the factor, which is 2**32 less than one that has 33 bits:
   x / d is (h + (x - h) / 2) shifted by l - 1, of signed numbers h + x shifted by l - 1, and 1 more below 0. */
static void emit_known_quotient(compiler *c, int type, int d, int x, int64_t divisor) {
    const uint64_t size = (uint64_t)(divisor < 0 ? -divisor : divisor);
    const int t = new_vector(c);
    int bits = 1;
    while ((UINT64_C(1) << bits) < size) bits++;
    if (type == ONAX_U32) {
        emit_upper_products(c, type, d, x, (uint32_t)((((UINT64_C(1) << bits) - size) << 32) / size + 1));
        emit(c, SUB_I32, t, x, VECTOR(d), -1);
        emit(c, SHIFT_32_BY, RIGHT_32, t, VECTOR(t), 1);
        emit(c, ADD_I32, d, d, VECTOR(t), -1);
        emit(c, SHIFT_32_BY, RIGHT_32, d, VECTOR(d), bits - 1);
    } else {
        emit_upper_products(c, type, d, x, (uint32_t)((UINT64_C(1) << (31 + bits)) / size + 1));
        emit(c, ADD_I32, d, d, VECTOR(x), -1);
        emit(c, SHIFT_32_BY, SIGNED_32, d, VECTOR(d), bits - 1);
        emit(c, SHIFT_32_BY, SIGNED_32, t, VECTOR(x), 31);
        if (divisor > 0) emit(c, SUB_I32, d, d, VECTOR(t), -1);
        else emit(c, SUB_I32, d, t, VECTOR(d), -1);
    }
    free_vector(c, t);
}

/* ---- by other numbers */

/* AVX2 has no conversions between float64 and integers without a sign. */
static int converts(const compiler *c, int type) { return type == ONAX_I32 || !c->is_narrow; }

/* Quotients of 32-bit integers x by y, rounded towards zero, by float64; a division by 0 gives -1, all bits.

   Of a divisor that is the same everywhere there is a reciprocal, which is 2 to 4 units in the last place too large: so is
   x times it, so that whole quotients are not rounded down, and by less than 2**-49 |x / y|, which is less than 1 / |y|. */
static void emit_half(compiler *c, int type, int d, int x, int y, int reciprocal) {
    const int wide = type == ONAX_I32 ? I32_TO_F64 : U32_TO_F64, t = reciprocal < 0 ? new_vector(c) : reciprocal;
    emit(c, wide, d, 0, VECTOR(x), -1);
    if (reciprocal < 0) emit(c, wide, t, 0, VECTOR(y), -1);
    emit(c, OP_FLOAT(reciprocal < 0 ? DIV_FLOATS : MUL_FLOATS, 1), d, d, VECTOR(t), -1);
    emit(c, type == ONAX_I32 ? F64_TO_I32 : F64_TO_U32, d, 0, VECTOR(d), -1);
    if (reciprocal < 0) free_vector(c, t);
}

static int reciprocal_of(const compiler *c, int32_t divisor) {
    for (int i = 0; i < c->n_reciprocals; i++)
        if (c->reciprocals[i].divisor == divisor) return c->reciprocals[i].vector;
    return NOWHERE;
}

static void emit_quotient(compiler *c, int type, int d, int x, int y) {
    const int reciprocal = reciprocal_of(c, c->l->steps[c->step].second);
    const int high = new_vector(c), k = new_mask(c), upper_y = reciprocal < 0 ? new_vector(c) : y;
    const int upper = c->is_narrow ? UPPER_128 : UPPER_HALF;
    emit(c, upper, x, 0, VECTOR(high), 1);
    if (reciprocal < 0) emit(c, upper, y, 0, VECTOR(upper_y), 1);
    emit_half(c, type, high, high, upper_y, reciprocal);
    emit_half(c, type, d, x, y, reciprocal);
    emit(c, c->is_narrow ? JOIN_128 : JOIN_HALVES, d, d, VECTOR(high), 1);
    compare(c, ONAX_I32, k, y, literal(c, 0), INTEGER_EQ);
    choose(c, d, d, literal(c, -1), k);
    free_mask(c, k);
    free_vector(c, high);
    if (reciprocal < 0) free_vector(c, upper_y);
}

/* The vector that holds the quotient of the same numbers, if an earlier step has computed it. */
static int known_quotient(compiler *c) {
    const step *steps = c->l->steps, *s = &steps[c->step];
    for (int i = c->step - 1; i >= c->first; i--) {
        const step *t = &steps[i];
        if (t->operation == ONAX_OP_div && t->first == s->first && t->second == s->second) {
            for (int k = i + 1; k < c->step; k++)
                if (steps[k].target == t->target) return NOWHERE;
            return t->target == s->first || t->target == s->second ? NOWHERE : place_of(c, t->target)->vector;
        }
        if (t->target == s->first || t->target == s->second) return NOWHERE;
    }
    return NOWHERE;
}

static int emit_division(compiler *c, int operation, int type, int d, int x, int y) {
    const int known = operation == ONAX_OP_rem ? known_quotient(c) : NOWHERE;
    int64_t divisor;
    if (c->width != 4) return 0;
    if (known < 0) {
        if (known_divisor(c, type, c->l->steps[c->step].second, &divisor)) emit_known_quotient(c, type, d, x, divisor);
        else if (!converts(c, type)) return 0;
        else emit_quotient(c, type, d, x, y);
    }
    if (operation == ONAX_OP_div) return 1;
    emit(c, MUL_INTEGERS, d, known < 0 ? d : known, VECTOR(y), -1);
    emit(c, SUB_I32, d, x, VECTOR(d), -1);
    return 1;
}

/* ---- what runs once */

/* The reciprocal of a pinned divisor of 32-bit integers, in float64, is computed once. */
static void pin_reciprocal(compiler *c, const step *s) {
    const int type = type_of(c->l, s);
    const double larger = 1 + 0x3p-52, one = 1;
    int64_t factor, unit, divisor;
    int v;
    if ((s->operation != ONAX_OP_div && s->operation != ONAX_OP_rem) || (type != ONAX_I32 && type != ONAX_U32)) return;
    if (c->width != 4 || !converts(c, type) || c->n_reciprocals == MOST_RECIPROCALS || reciprocal_of(c, s->second) >= 0) return;
    if (!place_of(c, s->second)->is_pinned || known_divisor(c, type, s->second, &divisor)) return;
    memcpy(&factor, &larger, 8);
    memcpy(&unit, &one, 8);
    v = new_vector(c);
    c->reciprocals[c->n_reciprocals].divisor = s->second;
    c->reciprocals[c->n_reciprocals++].vector = v;
    emit_to(c, &c->head, type == ONAX_I32 ? I32_TO_F64 : U32_TO_F64, v, 0, VECTOR(place_of(c, s->second)->vector), -1);
    {
        const int t = new_vector(c);
        operand numerator = literal_of_8_bytes(c, unit);
        numerator.kind = IN_POOL;
        emit_to(c, &c->head, c->is_narrow ? LOAD : OP_W(BROADCAST, 1) + 1, t, 0, numerator, -1);
        emit_to(c, &c->head, OP_FLOAT(DIV_FLOATS, 1), v, t, VECTOR(v), -1);
        emit_to(c, &c->head, OP_FLOAT(MUL_FLOATS, 1), v, v, literal_of_8_bytes(c, factor), -1);
        free_vector(c, t);
    }
}

