// A target with a state, compiled with XLA's headers: tests compare what JAX and onax make of one library.
#include <cstdint>
#include <memory>

#include "xla/ffi/api/ffi.h"

namespace ffi = xla::ffi;

struct Factors {
  static ffi::TypeId id;
  int64_t factor;
  int64_t uses = 0;
};
ffi::TypeId Factors::id = {};

static ffi::ErrorOr<std::unique_ptr<Factors>> Make(int64_t factor, std::string_view, ffi::Span<const int32_t>) {
  if (factor < 0) return ffi::Unexpected(ffi::Error::InvalidArgument("the factor is negative"));
  auto made = std::make_unique<Factors>();
  made->factor = factor;
  return ffi::ErrorOr<std::unique_ptr<Factors>>(std::move(made));
}

static ffi::Error Multiply(ffi::ThreadPool threads, Factors* state, ffi::AnyBuffer x,
                           int64_t, std::string_view word, ffi::Span<const int32_t> more,
                           ffi::ResultBuffer<ffi::F32> y) {
  float sum = 0;
  for (int32_t v : more) sum += v;
  const float* in = x.typed_data<float>();
  for (size_t i = 0; i < x.element_count(); i++) y->typed_data()[i] = state->factor * in[i] + sum + word.size();
  threads.Schedule([] {});
  return ffi::Error::Success();
}

static ffi::Future Later(ffi::AnyBuffer x, ffi::ResultBuffer<ffi::F32> y) {
  ffi::Promise promise;
  ffi::Future future(promise);
  y->typed_data()[0] = 7;
  promise.SetAvailable();
  return future;
}

XLA_FFI_DEFINE_HANDLER_SYMBOL(MakeFactors, Make, ffi::Ffi::BindInstantiate()
                                  .Attr<int64_t>("factor")
                                  .Attr<std::string_view>("word")
                                  .Attr<ffi::Span<const int32_t>>("more"));
XLA_FFI_DEFINE_HANDLER_SYMBOL(MultiplyByFactors, Multiply,
                              ffi::Ffi::Bind()
                                  .Ctx<ffi::ThreadPool>()
                                  .Ctx<ffi::State<Factors>>()
                                  .Arg<ffi::AnyBuffer>()
                                  .Attr<int64_t>("factor")
                                  .Attr<std::string_view>("word")
                                  .Attr<ffi::Span<const int32_t>>("more")
                                  .Ret<ffi::Buffer<ffi::F32>>());
XLA_FFI_DEFINE_HANDLER_SYMBOL(AnswerLater, Later,
                              ffi::Ffi::Bind().Arg<ffi::AnyBuffer>().Ret<ffi::Buffer<ffi::F32>>());

extern "C" void* FactorsTypeId() { return &Factors::id; }
extern "C" void* FactorsTypeInfo() {
  static auto info = ffi::MakeTypeInfo<Factors>();
  return &info;
}
