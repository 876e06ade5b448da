//===- fusion.h - the C ABI of the fusion compiler ------------------------===//
//
// The one boundary that other languages cross. Objects are opaque; a function
// that can fail returns a `fusion_error *`, null on success, which the caller
// frees. All functions are thread-safe unless they say otherwise; strings are
// UTF-8 and belong to the callee unless they say otherwise.
//
//===----------------------------------------------------------------------===//

#ifndef FUSION_C_FUSION_H
#define FUSION_C_FUSION_H

#include <stddef.h>
#include <stdint.h>

#if defined(_WIN32)
#define FUSION_API __declspec(dllexport)
#else
#define FUSION_API __attribute__((visibility("default")))
#endif

#ifdef __cplusplus
extern "C" {
#endif

/// Version of this interface; a change of it breaks binary compatibility.
#define FUSION_ABI_VERSION 1
FUSION_API int fusion_abi_version(void);
/// Version of the product, "0.1.0".
FUSION_API const char *fusion_version(void);

//===-- Errors -----------------------------------------------------------===//

typedef struct fusion_error fusion_error;
/// What failed: "parse", "verify", "compile", "argument", "device", "memory",
/// "io" or "unsupported".
FUSION_API const char *fusion_error_kind(const fusion_error *);
/// One sentence: op, shapes and rule.
FUSION_API const char *fusion_error_message(const fusion_error *);
/// Source location, "file:line:column", or "".
FUSION_API const char *fusion_error_location(const fusion_error *);
/// What the user can do about it, or "".
FUSION_API const char *fusion_error_remedy(const fusion_error *);
FUSION_API void fusion_error_free(fusion_error *);

/// A string owned by the caller, freed by fusion_string_free.
FUSION_API void fusion_string_free(char *);

//===-- Tensors ----------------------------------------------------------===//

/// Element types. FUSION_I8..I64 are signed.
typedef enum {
  FUSION_F64 = 0,
  FUSION_F32 = 1,
  FUSION_F16 = 2,
  FUSION_BF16 = 3,
  FUSION_I8 = 4,
  FUSION_I16 = 5,
  FUSION_I32 = 6,
  FUSION_I64 = 7,
  FUSION_U8 = 8,
  FUSION_BOOL = 9
} fusion_dtype;

#define FUSION_MAX_RANK 8

/// A tensor that somebody else owns. Strides are in elements.
typedef struct {
  void *data;
  int32_t dtype; // fusion_dtype
  int32_t rank;
  int64_t sizes[FUSION_MAX_RANK];
  int64_t strides[FUSION_MAX_RANK];
} fusion_tensor;

//===-- Compilation ------------------------------------------------------===//

typedef struct fusion_executable fusion_executable;

/// Compiles `func.func @main` of a module in MLIR text.
///
/// `options` is a JSON object, or null for defaults:
///   "target":   "cpu" (default), "emulator", "sm_80" ... "sm_120", or "cuda"
///               (the architecture of the current device)
///   "numerics": "strict" (default) or "fast"
///   "cache":    true (default) to use the disk cache, false not to, or a
///   folder "disable":  list of names of rewrites not to run
/// Other keys and values are errors.
FUSION_API fusion_error *fusion_compile(const char *text, size_t length,
                                        const char *options,
                                        fusion_executable **result);

/// Writes the executable to a buffer that fusion_string_free frees, or reads
/// it.
FUSION_API fusion_error *fusion_executable_save(const fusion_executable *,
                                                char **data, size_t *length);
FUSION_API fusion_error *fusion_executable_load(const char *data, size_t length,
                                                fusion_executable **result);
FUSION_API void fusion_executable_free(fusion_executable *);

/// A JSON object that describes what was compiled:
///   {"target", "numerics", "arguments": [{"dtype", "shape", "order",
///   "align"}],
///    "results": [{"dtype", "shape", "order"}],
///    "kernels": [{"name", "hero", "schedule", "ops": [...], "grid", "threads",
///                 "bytes_read", "bytes_written", "ops_before": n,
///                 "producers": [kernels whose results it reads], "location"}],
///    "remarks": [{"rule", "fused", "producer", "producer_location",
///    "consumer",
///                 "consumer_location", "bytes", "reason"}],
///    "traffic": {"unfused_bytes", "fused_bytes", "minimum_bytes",
///    "unfused_kernels"}, "peak_bytes", "timing": [{"phase", "ms"}],
///    "from_cache": bool}
/// Byte counts of symbolic sizes are strings. The pointer lives as long as the
/// executable.
FUSION_API const char *fusion_executable_report(const fusion_executable *);

/// The code of each kernel: PTX on a GPU, assembly-free object code on the CPU.
FUSION_API size_t fusion_executable_num_kernels(const fusion_executable *);
FUSION_API const char *fusion_executable_kernel_code(const fusion_executable *,
                                                     size_t kernel,
                                                     size_t *length);

//===-- Execution --------------------------------------------------------===//

/// 1 where tensors must lie in the memory of a GPU, 0 where in the host's.
FUSION_API int fusion_executable_is_gpu(const fusion_executable *);

FUSION_API size_t fusion_executable_num_arguments(const fusion_executable *);
FUSION_API size_t fusion_executable_num_results(const fusion_executable *);

/// Sizes, strides and types of the results for these arguments; `results` has
/// room for all, `data` is left null.
FUSION_API fusion_error *fusion_executable_infer(fusion_executable *,
                                                 const fusion_tensor *arguments,
                                                 size_t num_arguments,
                                                 fusion_tensor *results);

/// Allocator of the caller: `allocate` returns null on failure. `stream` is the
/// CUstream of the run (null on the CPU).
typedef struct {
  void *context;
  void *(*allocate)(void *context, size_t bytes, void *stream);
  void (*release)(void *context, void *data, void *stream);
} fusion_allocator;

/// Runs on `arguments` into the `results` that the caller allocated, in the
/// form that fusion_executable_infer gave. Asynchronous on a GPU, in `stream`;
/// done on return elsewhere. `workspace` may be null: a pool then provides it.
FUSION_API fusion_error *
fusion_executable_run(fusion_executable *, const fusion_tensor *arguments,
                      size_t num_arguments, const fusion_tensor *results,
                      size_t num_results, void *stream,
                      const fusion_allocator *workspace);

/// Evaluates `@main` op by op by the reference evaluator, on the CPU, into
/// `results`, of any strides. A result whose `data` is null is given its form,
/// row-major, and memory that the caller frees by fusion_cpu_release.
FUSION_API fusion_error *fusion_reference_run(const char *text, size_t length,
                                              const fusion_tensor *arguments,
                                              size_t num_arguments,
                                              fusion_tensor *results,
                                              size_t num_results);

/// What `@main` takes and returns, without compiling it: a JSON object
///   {"arguments": [{"dtype", "shape", "order"}], "results": [...]}
/// where a size is a number, the name of a symbol, or "?", and `order` is the
/// order of dimensions in memory. The caller frees it by fusion_string_free.
FUSION_API fusion_error *fusion_signature(const char *text, size_t length,
                                          char **json);

//===-- Memory and machine -----------------------------------------------===//

/// Memory for CPU results from a pool that keeps and reuses freed buffers,
/// aligned to 64 bytes. Safe on any thread.
FUSION_API void *fusion_cpu_allocate(size_t bytes);
FUSION_API void fusion_cpu_release(void *data);
/// Returns unused pooled memory to the system.
FUSION_API void fusion_cpu_trim(void);

/// Memory of GPU `device` from a pool, in order with the work of `stream`. It
/// is released at once, so its owner must be done with it on every stream.
FUSION_API fusion_error *fusion_gpu_allocate(int device, size_t bytes,
                                             void *stream, void **data);
FUSION_API void fusion_gpu_release(int device, void *data);

/// Number of threads that CPU kernels use; 0 restores the default (affinity and
/// cgroup limits).
FUSION_API void fusion_set_num_threads(int threads);
FUSION_API int fusion_get_num_threads(void);

/// A JSON object that tells what this machine has: CPU features, driver
/// version, devices, cache folder, and why something is not usable.
FUSION_API char *fusion_doctor(void);

#ifdef __cplusplus
}
#endif
#endif // FUSION_C_FUSION_H
