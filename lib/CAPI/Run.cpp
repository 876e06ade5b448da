//===- Run.cpp - execution, memory and threads of the C ABI ---------------===//

#include "Wrap.h"
#include "fusion/Runtime/Driver.h"
#include "fusion/Runtime/MemoryPool.h"
#include "fusion/Runtime/ThreadPool.h"

using namespace fusion;
using runtime::MemoryPool;
using runtime::ThreadPool;

int fusion_executable_is_gpu(const fusion_executable *executable) {
  return executable->executable->getPlan().target == runtime::TargetKind::CUDA;
}

size_t fusion_executable_num_arguments(const fusion_executable *executable) {
  return executable->executable->getPlan().arguments.size();
}

size_t fusion_executable_num_results(const fusion_executable *executable) {
  return executable->executable->getPlan().results.size();
}

fusion_error *fusion_executable_infer(fusion_executable *executable,
                                      const fusion_tensor *arguments,
                                      size_t num_arguments,
                                      fusion_tensor *results) {
  return wrap(executable->executable->infer(arguments, num_arguments, results));
}

fusion_error *fusion_executable_run(fusion_executable *executable,
                                    const fusion_tensor *arguments,
                                    size_t num_arguments,
                                    const fusion_tensor *results,
                                    size_t num_results, void *stream,
                                    const fusion_allocator *workspace) {
  return wrap(executable->executable->run(arguments, num_arguments, results,
                                          num_results, stream, workspace));
}

void *fusion_cpu_allocate(size_t bytes) {
  return MemoryPool::get().allocate(bytes);
}
void fusion_cpu_release(void *data) { MemoryPool::get().release(data); }
void fusion_cpu_trim(void) { MemoryPool::get().trim(); }

fusion_error *fusion_gpu_allocate(int device, size_t bytes, void *stream,
                                  void **data) {
  *data = nullptr;
  runtime::Status status;
  const runtime::Driver *driver = runtime::Driver::get(status);
  if (driver)
    status = driver->allocate(
        device, bytes, static_cast<runtime::cuda::CUstream>(stream), *data);
  return wrap(std::move(status));
}

void fusion_gpu_release(int device, void *data) {
  runtime::Status status;
  if (const runtime::Driver *driver = runtime::Driver::get(status))
    driver->release(device, data);
}

void fusion_set_num_threads(int threads) {
  ThreadPool::get().setNumThreads(threads);
}
int fusion_get_num_threads(void) { return ThreadPool::get().getNumThreads(); }
