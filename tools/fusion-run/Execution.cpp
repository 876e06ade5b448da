//===- Execution.cpp - runs of a graph ------------------------------------===//

#include "Execution.h"
#include "Arguments.h"
#include "common/Device.h"
#include <chrono>

using namespace fusion::tools;
using namespace llvm;

static std::vector<fusion_tensor> getViews(ArrayRef<HostTensor> tensors) {
  std::vector<fusion_tensor> views;
  for (const HostTensor &tensor : tensors)
    views.push_back(tensor.view());
  return views;
}

namespace {
/// An executable with the arguments and results of its runs.
struct Launch {
  fusion_executable *executable;
  /// The GPU, or null where tensors stay in host memory.
  Device *device;
  std::vector<fusion_tensor> arguments, results;

  Error run() const {
    return toError(fusion_executable_run(
        executable, arguments.data(), arguments.size(), results.data(),
        results.size(), /*stream=*/nullptr, /*workspace=*/nullptr));
  }
  Error synchronize() const {
    return device ? device->synchronize() : Error::success();
  }
};
} // namespace

/// Replaces views of host tensors by copies on the GPU.
static Error moveToDevice(Device &device, ArrayRef<HostTensor> tensors,
                          std::vector<fusion_tensor> &views) {
  for (auto [tensor, view] : zip_equal(tensors, views)) {
    Expected<fusion_tensor> copy = device.copyToDevice(tensor);
    if (!copy)
      return copy.takeError();
    view = *copy;
  }
  return Error::success();
}

/// Milliseconds of `count` runs one after the other, for one of them.
static Expected<double> timeRuns(const Launch &launch, int count) {
  auto start = std::chrono::steady_clock::now();
  for (int i = 0; i < count; ++i)
    if (Error error = launch.run())
      return std::move(error);
  if (Error error = launch.synchronize())
    return std::move(error);
  std::chrono::duration<double, std::milli> elapsed =
      std::chrono::steady_clock::now() - start;
  return elapsed.count() / count;
}

static Expected<Timing> measure(const Launch &launch) {
  // A sample on a GPU is of many runs, or it would time the synchronisation.
  const int runsPerSample = launch.device ? 50 : 1;
  const size_t minSamples = 5, maxSamples = 200, warmUps = 3;
  const double budget = 1000; // ms
  std::vector<double> samples;
  double total = 0;
  for (size_t i = 0; i < warmUps + maxSamples; ++i) {
    Expected<double> sample = timeRuns(launch, runsPerSample);
    if (!sample)
      return sample.takeError();
    if (i < warmUps)
      continue;
    samples.push_back(*sample);
    total += *sample * runsPerSample;
    if (total > budget && samples.size() >= minSamples)
      break;
  }
  llvm::sort(samples);
  return Timing{samples[samples.size() / 2], samples.front(),
                samples.size() * runsPerSample};
}

Expected<std::vector<HostTensor>>
fusion::tools::execute(const Executable &executable,
                       ArrayRef<HostTensor> arguments, Timing *timing) {
  std::unique_ptr<Device> device;
  if (isGpuTarget()) {
    Expected<std::unique_ptr<Device>> opened = Device::open();
    if (!opened)
      return opened.takeError();
    device = std::move(*opened);
  }
  Launch launch{executable.get(), device.get(), getViews(arguments), {}};
  if (device)
    if (Error error = moveToDevice(*device, arguments, launch.arguments))
      return std::move(error);

  launch.results.resize(fusion_executable_num_results(executable.get()));
  if (Error error = toError(fusion_executable_infer(
          executable.get(), launch.arguments.data(), launch.arguments.size(),
          launch.results.data())))
    return std::move(error);
  std::vector<HostTensor> results;
  for (const fusion_tensor &form : launch.results) {
    results.push_back(HostTensor::like(form));
    results.back().poison();
  }
  launch.results = getViews(results);
  if (device)
    if (Error error = moveToDevice(*device, results, launch.results))
      return std::move(error);

  if (Error error = launch.run())
    return std::move(error);
  if (Error error = launch.synchronize())
    return std::move(error);
  if (device)
    for (auto [copy, result] : zip_equal(launch.results, results))
      if (Error error = device->copyToHost(copy, result))
        return std::move(error);
  if (timing) {
    Expected<Timing> measured = measure(launch);
    if (!measured)
      return measured.takeError();
    *timing = *measured;
  }
  return results;
}

Expected<std::vector<HostTensor>>
fusion::tools::evaluateReference(StringRef text,
                                 ArrayRef<HostTensor> arguments) {
  Expected<size_t> numResults = getNumResults(text);
  if (!numResults)
    return numResults.takeError();
  std::vector<fusion_tensor> views = getViews(arguments);
  std::vector<fusion_tensor> outputs(*numResults, fusion_tensor());
  if (Error error = toError(
          fusion_reference_run(text.data(), text.size(), views.data(),
                               views.size(), outputs.data(), outputs.size())))
    return std::move(error);
  std::vector<HostTensor> results;
  for (const fusion_tensor &output : outputs)
    results.push_back(HostTensor::adopt(output));
  return results;
}
