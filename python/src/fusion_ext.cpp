//===- fusion_ext.cpp - the Python module _fusion -------------------------===//
//
// A thin layer over the C ABI that compiles with a C++17 compiler and pybind11
// alone, for any Python, in seconds; all of the compiler is in libfusion.so
// beside it. Arrays come in and go out without copies.
//
//===----------------------------------------------------------------------===//

#include "argument.h"
#include <optional>

namespace {

/// Calls that touch so much memory let other Python threads run meanwhile.
constexpr size_t bytesToReleaseGil = 64 << 10;

std::string takeString(char *text) {
  std::string copy = text ? text : "";
  fusion_string_free(text);
  return copy;
}

/// Workspace from a Python function: `allocate(bytes)` returns a tensor, which
/// is kept until the launches that use it are enqueued.
class PythonAllocator {
public:
  PythonAllocator(py::object function, intptr_t stream)
      : function(std::move(function)), stream(stream) {}

  /// What the C ABI takes; null leaves the workspace to the runtime.
  const fusion_allocator *get() const {
    return function.is_none() ? nullptr : &table;
  }
  /// Throws what the function threw.
  void rethrow() {
    if (problem)
      std::rethrow_exception(problem);
  }

private:
  static void *allocate(void *context, size_t bytes, void *) {
    auto *self = static_cast<PythonAllocator *>(context);
    py::gil_scoped_acquire gil;
    try {
      py::object tensor = self->function(bytes);
      Arguments arguments("workspace", self->stream);
      arguments.addAll(py::make_tuple(tensor));
      if (arguments.getBytes() < bytes)
        return nullptr;
      self->tensors.push_back(tensor);
      return arguments.data()[0].data;
    } catch (...) {
      self->problem = std::current_exception();
      return nullptr;
    }
  }
  static void release(void *, void *, void *) {} // with this object

  py::object function;
  intptr_t stream;
  fusion_allocator table = {this, allocate, release};
  std::vector<py::object> tensors;
  std::exception_ptr problem;
};

class Executable {
public:
  explicit Executable(fusion_executable *handle) : handle(handle) {}
  ~Executable() { fusion_executable_free(handle); }
  Executable(const Executable &) = delete;
  Executable &operator=(const Executable &) = delete;

  static std::unique_ptr<Executable> compile(const std::string &text,
                                             const std::string &options) {
    fusion_executable *handle = nullptr;
    {
      py::gil_scoped_release release;
      check(fusion_compile(text.data(), text.size(), options.c_str(), &handle));
    }
    return std::make_unique<Executable>(handle);
  }

  static std::unique_ptr<Executable> load(const py::bytes &data) {
    std::string_view bytes = data;
    fusion_executable *handle = nullptr;
    check(fusion_executable_load(bytes.data(), bytes.size(), &handle));
    return std::make_unique<Executable>(handle);
  }

  py::bytes save() const {
    char *data = nullptr;
    size_t length = 0;
    check(fusion_executable_save(handle, &data, &length));
    py::bytes bytes(data, length);
    fusion_string_free(data);
    return bytes;
  }

  const char *getReport() const { return fusion_executable_report(handle); }
  size_t getNumKernels() const { return fusion_executable_num_kernels(handle); }
  py::bytes getKernelCode(size_t kernel) const {
    size_t length = 0;
    const char *code = fusion_executable_kernel_code(handle, kernel, &length);
    if (!code)
      throw py::index_error("no kernel " + std::to_string(kernel));
    return py::bytes(code, length);
  }

  /// (dtype, sizes, strides) of each result.
  py::list infer(py::handle args) {
    Arguments arguments("argument");
    arguments.addAll(args);
    py::list forms;
    for (const fusion_tensor &form : inferForms(arguments)) {
      py::tuple sizes(form.rank), strides(form.rank);
      for (int32_t i = 0; i < form.rank; ++i) {
        sizes[i] = form.sizes[i];
        strides[i] = form.strides[i];
      }
      forms.append(py::make_tuple(typeInfos[form.dtype].name, sizes, strides));
    }
    return forms;
  }

  /// Runs into `out` where it is given, else into new tensors.
  py::object run(py::handle args, intptr_t stream, py::object out,
                 py::object workspace) {
    bool onGpu = fusion_executable_is_gpu(handle);
    Arguments arguments("argument", stream);
    arguments.addAll(args);
    arguments.checkDevice(onGpu);
    PythonAllocator allocator(std::move(workspace), stream);
    if (!out.is_none()) {
      Arguments results("result", stream);
      results.addAll(out, /*written=*/true);
      results.checkDevice(onGpu);
      launch(arguments, results.data(), results.size(), stream, allocator);
      return out;
    }
    py::list made;
    std::vector<fusion_tensor> forms = inferForms(arguments);
    for (fusion_tensor &form : forms) {
      Result result = Result::allocate(form, arguments.getDevice(),
                                       reinterpret_cast<void *>(stream));
      form = result.getForm();
      made.append(py::cast(std::move(result)));
    }
    launch(arguments, forms.data(), forms.size(), stream, allocator);
    return made;
  }

private:
  std::vector<fusion_tensor> inferForms(const Arguments &arguments) {
    std::vector<fusion_tensor> forms(fusion_executable_num_results(handle));
    check(fusion_executable_infer(handle, arguments.data(), arguments.size(),
                                  forms.data()));
    return forms;
  }

  void launch(const Arguments &arguments, const fusion_tensor *results,
              size_t numResults, intptr_t stream, PythonAllocator &allocator) {
    fusion_error *error;
    {
      std::optional<py::gil_scoped_release> release;
      if (arguments.getBytes() > bytesToReleaseGil)
        release.emplace();
      error = fusion_executable_run(
          handle, arguments.data(), arguments.size(), results, numResults,
          reinterpret_cast<void *>(stream), allocator.get());
    }
    if (error)
      allocator.rethrow();
    check(error);
  }

  fusion_executable *handle;
};

std::string getSignature(const std::string &text) {
  char *json = nullptr;
  check(fusion_signature(text.data(), text.size(), &json));
  return takeString(json);
}

py::list runReference(const std::string &text, py::handle args) {
  Arguments arguments("argument");
  arguments.addAll(args);
  arguments.checkDevice(/*onGpu=*/false);
  py::object signature =
      py::module_::import("json").attr("loads")(getSignature(text));
  std::vector<fusion_tensor> results(py::len(signature["results"]));
  {
    py::gil_scoped_release release;
    check(fusion_reference_run(text.data(), text.size(), arguments.data(),
                               arguments.size(), results.data(),
                               results.size()));
  }
  py::list arrays;
  for (const fusion_tensor &result : results)
    arrays.append(Result(result, {dlpack::deviceCpu, 0}).toNumpy());
  return arrays;
}

/// `_fusion.Error`, a RuntimeError with args (kind, message, location, remedy).
PyObject *errorType = nullptr;

void translateError(std::exception_ptr pointer) {
  try {
    if (pointer)
      std::rethrow_exception(pointer);
  } catch (const FusionError &error) {
    py::tuple args =
        py::make_tuple(error.kind, error.message, error.location, error.remedy);
    PyErr_SetObject(errorType, args.ptr());
  }
}

} // namespace

PYBIND11_MODULE(_fusion, m) {
  m.doc() = "The compiled part of fusion: compile, run, inspect.";
  if (fusion_abi_version() != FUSION_ABI_VERSION)
    throw py::import_error(
        "libfusion.so is of another version; rebuild _fusion");
  errorType =
      PyErr_NewException("fusion._fusion.Error", PyExc_RuntimeError, nullptr);
  m.attr("Error") = py::handle(errorType);
  py::register_local_exception_translator(translateError);

  py::class_<Result>(m, "Tensor", py::module_local(),
                     "A result in memory of the runtime's pools.")
      .def("numpy", &Result::toNumpy)
      .def("__array__",
           [](const Result &self, py::args args, py::kwargs options) {
             return py::module_::import("numpy").attr("array")(
                 self.toNumpy(), *args, **options);
           })
      .def("__dlpack__", &Result::toDlpack, py::kw_only(),
           py::arg("stream") = py::none(), py::arg("max_version") = py::none(),
           py::arg("dl_device") = py::none(), py::arg("copy") = py::none())
      .def("__dlpack_device__", &Result::getDlpackDevice)
      .def_property_readonly("shape", &Result::getShape)
      .def_property_readonly("dtype", &Result::getTypeName);

  py::class_<Executable>(m, "Executable", py::module_local(),
                         "A compiled graph.")
      .def("run", &Executable::run, py::arg("args"), py::arg("stream") = 0,
           py::arg("out") = py::none(), py::arg("workspace") = py::none(),
           "Runs on a sequence of arrays; returns `out`, or new tensors.")
      .def("infer", &Executable::infer, py::arg("args"),
           "(dtype, sizes, strides) of each result for these arrays.")
      .def("report", &Executable::getReport, "What was compiled, as JSON.")
      .def("kernel_code", &Executable::getKernelCode, py::arg("kernel"))
      .def_property_readonly("num_kernels", &Executable::getNumKernels)
      .def("save", &Executable::save);

  m.def("compile", &Executable::compile, py::arg("text"),
        py::arg("options") = "",
        "Compiles a module in MLIR text; options are JSON.");
  m.def("load", &Executable::load, py::arg("data"), "Reads what save wrote.");
  m.def("signature", &getSignature, py::arg("text"),
        "What @main takes and returns, as JSON.");
  m.def("reference_run", &runReference, py::arg("text"), py::arg("args"),
        "Evaluates op by op, on the host, into numpy arrays.");
  m.def("doctor", [] { return takeString(fusion_doctor()); });
  m.def("set_num_threads", &fusion_set_num_threads, py::arg("threads"));
  m.def("get_num_threads", &fusion_get_num_threads);
  m.def("trim", &fusion_cpu_trim);
}
