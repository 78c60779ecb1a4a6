/* Handlers of onax.ffi in C: the structures that a handler is called with.

   A handler is a function `onax_ffi_error *name(onax_ffi_frame *frame)`.  It reads frame->args and frame->attrs, writes
   the buffers of frame->rets, and returns NULL or what onax_ffi_fail returns.  The layout of the structures is that of
   the typed foreign function interface of XLA, version 0.3, so that handlers compiled with XLA's headers run here and
   handlers compiled with this header run under JAX.

       onax_ffi_error *Twice(onax_ffi_frame *frame) {
         ONAX_FFI_BEGIN(frame);
         const onax_ffi_buffer *x = ONAX_FFI_ARG(frame, 0);
         onax_ffi_buffer *y = ONAX_FFI_RET(frame, 0);
         ...
         return NULL;
       }
*/
#ifndef ONAX_FFI_H
#define ONAX_FFI_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct onax_ffi_error onax_ffi_error;
typedef struct onax_ffi_context onax_ffi_context;

/* element types of buffers and attributes */
enum {
  ONAX_FFI_BOOL = 1,
  ONAX_FFI_S8 = 2,
  ONAX_FFI_S16 = 3,
  ONAX_FFI_S32 = 4,
  ONAX_FFI_S64 = 5,
  ONAX_FFI_U8 = 6,
  ONAX_FFI_U16 = 7,
  ONAX_FFI_U32 = 8,
  ONAX_FFI_U64 = 9,
  ONAX_FFI_F16 = 10,
  ONAX_FFI_F32 = 11,
  ONAX_FFI_F64 = 12,
  ONAX_FFI_C64 = 15,
  ONAX_FFI_BF16 = 16,
  ONAX_FFI_C128 = 18
};

/* kinds of attributes */
enum { ONAX_FFI_ATTR_ARRAY = 1, ONAX_FFI_ATTR_DICT = 2, ONAX_FFI_ATTR_SCALAR = 3, ONAX_FFI_ATTR_STRING = 4 };

/* codes of errors */
enum { ONAX_FFI_INVALID_ARGUMENT = 3, ONAX_FFI_UNIMPLEMENTED = 12, ONAX_FFI_INTERNAL = 13 };

typedef struct onax_ffi_extension {
  size_t struct_size;
  int type; /* 1: the caller asks for the metadata of the handler */
  struct onax_ffi_extension *next;
} onax_ffi_extension;

typedef struct onax_ffi_version {
  size_t struct_size;
  onax_ffi_extension *extensions;
  int major, minor;
} onax_ffi_version;

typedef struct onax_ffi_metadata {
  size_t struct_size;
  onax_ffi_version version;
  uint32_t traits;
  int64_t state_type;
} onax_ffi_metadata;

typedef struct onax_ffi_metadata_extension {
  onax_ffi_extension base;
  onax_ffi_metadata *metadata;
} onax_ffi_metadata_extension;

typedef struct onax_ffi_error_args {
  size_t struct_size;
  onax_ffi_extension *extensions;
  const char *message;
  int code;
} onax_ffi_error_args;

typedef struct onax_ffi_api {
  size_t struct_size;
  onax_ffi_extension *extensions;
  onax_ffi_version version;
  const void *reserved;
  onax_ffi_error *(*make_error)(onax_ffi_error_args *);
  /* more functions follow, which XLA's headers declare */
} onax_ffi_api;

typedef struct onax_ffi_buffer {
  size_t struct_size;
  onax_ffi_extension *extensions;
  int dtype;
  void *data;
  int64_t rank;
  int64_t *dims;
} onax_ffi_buffer;

typedef struct onax_ffi_text {
  const char *data;
  size_t size;
} onax_ffi_text;

typedef struct onax_ffi_scalar {
  int dtype;
  void *value;
} onax_ffi_scalar;

typedef struct onax_ffi_array {
  int dtype;
  size_t size;
  void *data;
} onax_ffi_array;

typedef struct onax_ffi_buffers {
  size_t struct_size;
  onax_ffi_extension *extensions;
  int64_t size;
  int *types;
  void **items;
} onax_ffi_buffers;

/* the attributes, sorted by name */
typedef struct onax_ffi_attributes {
  size_t struct_size;
  onax_ffi_extension *extensions;
  int64_t size;
  int *types;
  onax_ffi_text **names;
  void **items;
} onax_ffi_attributes;

typedef struct onax_ffi_frame {
  size_t struct_size;
  onax_ffi_extension *extensions;
  const onax_ffi_api *api;
  onax_ffi_context *context;
  int stage; /* 0 to 3: instantiate, prepare, initialize, execute */
  onax_ffi_buffers args, rets;
  onax_ffi_attributes attrs;
  void *future;
} onax_ffi_frame;

/* The first line of a handler: answers the caller's question for the version, and returns. */
#define ONAX_FFI_BEGIN(frame)                                                                      \
  do {                                                                                             \
    if ((frame)->extensions != NULL && (frame)->extensions->type == 1) {                           \
      onax_ffi_metadata *metadata_ = ((onax_ffi_metadata_extension *)(frame)->extensions)->metadata; \
      metadata_->version.major = 0;                                                                \
      metadata_->version.minor = 3;                                                                \
      return NULL;                                                                                 \
    }                                                                                              \
  } while (0)

#define ONAX_FFI_ARG(frame, i) ((const onax_ffi_buffer *)(frame)->args.items[i])
#define ONAX_FFI_RET(frame, i) ((onax_ffi_buffer *)(frame)->rets.items[i])

/* The error that a handler returns; the call raises it with this message. */
static inline onax_ffi_error *onax_ffi_fail(const onax_ffi_frame *frame, int code, const char *message) {
  onax_ffi_error_args args = {sizeof(onax_ffi_error_args), NULL, message, code};
  return frame->api->make_error(&args);
}

/* The scalar attribute of this name and element type; NULL if there is none. */
static inline const void *onax_ffi_scalar_of(const onax_ffi_frame *frame, const char *name, int dtype) {
  for (int64_t i = 0; i < frame->attrs.size; i++) {
    const onax_ffi_text *own = frame->attrs.names[i];
    if (frame->attrs.types[i] == ONAX_FFI_ATTR_SCALAR && own->size == strlen(name) &&
        memcmp(own->data, name, own->size) == 0) {
      const onax_ffi_scalar *scalar = (const onax_ffi_scalar *)frame->attrs.items[i];
      return scalar->dtype == dtype ? scalar->value : NULL;
    }
  }
  return NULL;
}

#ifdef __cplusplus
}
#endif

#endif
