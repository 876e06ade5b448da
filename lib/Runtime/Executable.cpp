//===- Executable.cpp - a plan made ready to run --------------------------===//
//
// A call reads its symbols, finds what they decide in a small table (or
// evaluates it), checks the tensors and hands over to the target's program.
//
//===----------------------------------------------------------------------===//

#include "fusion/Runtime/Executable.h"
#include "Program.h"
#include <array>
#include <mutex>

using namespace fusion::runtime;

namespace {

/// The shapes of the last few calls. Never waits: who finds the table in use
/// evaluates for itself, so neither threads nor a fork can block on it.
class ShapeTable {
public:
  std::shared_ptr<const CallShape> find(const std::vector<int64_t> &symbols) {
    std::unique_lock<std::mutex> lock(mutex, std::try_to_lock);
    if (lock.owns_lock())
      for (const std::shared_ptr<const CallShape> &shape : shapes)
        if (shape && shape->symbols == symbols)
          return shape;
    return nullptr;
  }
  void add(std::shared_ptr<const CallShape> shape) {
    std::unique_lock<std::mutex> lock(mutex, std::try_to_lock);
    if (lock.owns_lock())
      shapes[next++ % shapes.size()].swap(shape);
  }

private:
  std::mutex mutex;
  std::array<std::shared_ptr<const CallShape>, 16> shapes;
  size_t next = 0;
};

} // namespace

struct Executable::Impl {
  Plan plan;
  std::unique_ptr<Program> program; // refers to `plan`
  ShapeTable shapes;

  /// The evaluated plan for these arguments, which are checked.
  Status bind(const fusion_tensor *arguments, size_t numArguments,
              std::shared_ptr<const CallShape> &shape) {
    std::vector<int64_t> symbols;
    Status status = readSymbols(plan, arguments, numArguments, symbols);
    if (status.failed())
      return status;
    shape = shapes.find(symbols);
    if (shape)
      return checkArguments(plan, *shape, arguments);
    auto fresh = std::make_shared<CallShape>();
    fresh->symbols = std::move(symbols);
    status = evaluate(plan, arguments, *fresh);
    if (status.failed())
      return status;
    shape = fresh;
    shapes.add(std::move(fresh));
    return Status::success();
  }
};

Executable::Executable() : impl(std::make_unique<Impl>()) {}
Executable::~Executable() = default;

Status Executable::create(Plan plan, std::unique_ptr<Executable> &result,
                          CacheOptions cache) {
  if (std::string problem = check(plan); !problem.empty())
    return Status::error("compile", "the plan holds " + problem,
                         "report this as a defect of the compiler");
  std::unique_ptr<Executable> executable(new Executable);
  Impl &impl = *executable->impl;
  impl.plan = std::move(plan);
  if (impl.plan.target == TargetKind::CUDA)
    impl.program = createCudaProgram(impl.plan, std::move(cache));
  else if (Status status = createHostProgram(impl.plan, impl.program);
           status.failed())
    return status;
  result = std::move(executable);
  return Status::success();
}

const Plan &Executable::getPlan() const { return impl->plan; }

Status Executable::infer(const fusion_tensor *arguments, size_t numArguments,
                         fusion_tensor *results) {
  std::shared_ptr<const CallShape> shape;
  if (Status status = impl->bind(arguments, numArguments, shape);
      status.failed())
    return status;
  std::copy(shape->results.begin(), shape->results.end(), results);
  return Status::success();
}

Status Executable::run(const fusion_tensor *arguments, size_t numArguments,
                       const fusion_tensor *results, size_t numResults,
                       void *stream, const fusion_allocator *workspace) {
  std::shared_ptr<const CallShape> shape;
  Status status = impl->bind(arguments, numArguments, shape);
  if (!status.failed())
    status = checkArgumentData(impl->plan, arguments);
  if (!status.failed())
    status = checkResults(impl->plan, *shape, arguments, results, numResults);
  if (status.failed())
    return status;
  return impl->program->run({*shape, arguments, results, stream, workspace});
}
