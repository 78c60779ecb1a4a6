/* Handlers for the tests of onax.ffi. */
#include "onax/ffi.h"

/* y = scale * x for float32, with the attribute scale */
onax_ffi_error *Scale(onax_ffi_frame *frame) {
  ONAX_FFI_BEGIN(frame);
  const onax_ffi_buffer *x = ONAX_FFI_ARG(frame, 0);
  onax_ffi_buffer *y = ONAX_FFI_RET(frame, 0);
  const float *scale = (const float *)onax_ffi_scalar_of(frame, "scale", ONAX_FFI_F32);
  if (x->dtype != ONAX_FFI_F32 || scale == NULL) {
    return onax_ffi_fail(frame, ONAX_FFI_INVALID_ARGUMENT, "Scale takes float32 and a float32 attribute scale");
  }
  int64_t n = 1;
  for (int64_t i = 0; i < x->rank; i++) n *= x->dims[i];
  for (int64_t i = 0; i < n; i++) ((float *)y->data)[i] = *scale * ((const float *)x->data)[i];
  return NULL;
}

/* float64 results: rank, dims and the elements of a float32 argument in memory order */
onax_ffi_error *Describe(onax_ffi_frame *frame) {
  ONAX_FFI_BEGIN(frame);
  const onax_ffi_buffer *x = ONAX_FFI_ARG(frame, 0);
  double *out = (double *)ONAX_FFI_RET(frame, 0)->data;
  int64_t n = 1;
  *out++ = (double)x->rank;
  for (int64_t i = 0; i < x->rank; i++) {
    *out++ = (double)x->dims[i];
    n *= x->dims[i];
  }
  for (int64_t i = 0; i < n; i++) *out++ = ((const float *)x->data)[i];
  return NULL;
}

static int calls = 0;

/* the number of calls so far, as int32 */
onax_ffi_error *Count(onax_ffi_frame *frame) {
  ONAX_FFI_BEGIN(frame);
  *(int32_t *)ONAX_FFI_RET(frame, 0)->data = ++calls;
  return NULL;
}

/* adds 1 in place: argument and result are one buffer */
onax_ffi_error *Increment(onax_ffi_frame *frame) {
  ONAX_FFI_BEGIN(frame);
  onax_ffi_buffer *y = ONAX_FFI_RET(frame, 0);
  if (y->data != ONAX_FFI_ARG(frame, 0)->data) return onax_ffi_fail(frame, ONAX_FFI_INTERNAL, "not aliased");
  for (int64_t i = 0; i < y->dims[0]; i++) ((float *)y->data)[i] += 1;
  return NULL;
}

/* kind, element type and number of elements of each attribute, as float64 */
onax_ffi_error *Attributes(onax_ffi_frame *frame) {
  ONAX_FFI_BEGIN(frame);
  double *out = (double *)ONAX_FFI_RET(frame, 0)->data;
  for (int64_t i = 0; i < frame->attrs.size; i++) {
    const void *item = frame->attrs.items[i];
    *out++ = frame->attrs.types[i];
    switch (frame->attrs.types[i]) {
      case ONAX_FFI_ATTR_SCALAR:
        *out++ = ((const onax_ffi_scalar *)item)->dtype;
        *out++ = 1;
        break;
      case ONAX_FFI_ATTR_ARRAY:
        *out++ = ((const onax_ffi_array *)item)->dtype;
        *out++ = (double)((const onax_ffi_array *)item)->size;
        break;
      case ONAX_FFI_ATTR_STRING:
        *out++ = 0;
        *out++ = (double)((const onax_ffi_text *)item)->size;
        break;
      default:
        *out++ = 0;
        *out++ = (double)((const onax_ffi_attributes *)item)->size;
    }
  }
  return NULL;
}

/* does not say for which version it was compiled */
onax_ffi_error *Silent(onax_ffi_frame *frame) {
  (void)frame;
  return NULL;
}
