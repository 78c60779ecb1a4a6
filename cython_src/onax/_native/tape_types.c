/* Conversions of arrays of float16 and bfloat16. */
#include "tape_types.h"

#include "blocks_operations.h"

ONAX_CLONES static void widen_bf16(const uint16_t *from, float *to, int64_t n) {
    ONAX_OVER(i, n) to[i] = onax_from_bf16(from[i]);
}
ONAX_CLONES static void narrow_bf16(const float *from, uint16_t *to, int64_t n) {
    ONAX_OVER(i, n) to[i] = onax_to_bf16(from[i]);
}

void onax_widen(int64_t type, const uint16_t *from, float *to, int64_t n) {
    if (type == ONAX_F16) onax_kernels_f16[ONAX_OP_to_f32](to, from, NULL, NULL, n);
    else widen_bf16(from, to, n);
}

void onax_narrow(int64_t type, const float *from, uint16_t *to, int64_t n) {
    if (type == ONAX_F16) onax_f32_to_f16(to, from, NULL, NULL, n);
    else narrow_bf16(from, to, n);
}
