/* The Threefry-2x32 block function (threefry.pyx says where it is from) on words x0 and x1, with k2 = k0 ^ k1 ^
   ONAX_PARITY. */
#ifndef ONAX_THREEFRY_MATHS_H
#define ONAX_THREEFRY_MATHS_H

#define ONAX_ROUND(r) x0 += x1; x1 = (x1 << (r)) | (x1 >> (32 - (r))); x1 ^= x0;
#define ONAX_EVEN ONAX_ROUND(13) ONAX_ROUND(15) ONAX_ROUND(26) ONAX_ROUND(6)
#define ONAX_ODD ONAX_ROUND(17) ONAX_ROUND(29) ONAX_ROUND(16) ONAX_ROUND(24)
#define ONAX_THREEFRY(k0, k1, k2) \
    x0 += k0; x1 += k1; \
    ONAX_EVEN x0 += k1; x1 += k2 + 1u; \
    ONAX_ODD  x0 += k2; x1 += k0 + 2u; \
    ONAX_EVEN x0 += k0; x1 += k1 + 3u; \
    ONAX_ODD  x0 += k1; x1 += k2 + 4u; \
    ONAX_EVEN x0 += k2; x1 += k0 + 5u;
#define ONAX_PARITY 0x1BD11BDAu

#endif
