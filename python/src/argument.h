//===- argument.h - arrays of any framework as fusion_tensor --------------===//
//
// numpy arrays through numpy's structure, torch tensors through their methods
// (their DLPack export takes microseconds), all else by DLPack or as numpy sees
// it. How a type is read is found once and remembered.
//
//===----------------------------------------------------------------------===//

#ifndef FUSION_PYTHON_ARGUMENT_H
#define FUSION_PYTHON_ARGUMENT_H

#include "result.h"
#include <unordered_map>
#include <vector>

/// Tensors of one call, with what keeps them alive.
class Arguments {
public:
  explicit Arguments(const char *what, intptr_t stream = 0)
      : what(what), stream(stream) {}
  ~Arguments() {
    for (dlpack::ManagedTensor *managed : managedTensors)
      if (managed->deleter)
        managed->deleter(managed);
    for (dlpack::ManagedTensorVersioned *managed : versionedTensors)
      if (managed->deleter)
        managed->deleter(managed);
  }
  Arguments(const Arguments &) = delete;
  Arguments &operator=(const Arguments &) = delete;

  /// Reads all of a sequence; `written` refuses arrays that are read-only.
  void addAll(py::handle sequence, bool written = false) {
    py::object fast = py::reinterpret_steal<py::object>(
        PySequence_Fast(sequence.ptr(), "arrays must be given as a sequence"));
    if (!fast)
      throw py::error_already_set();
    Py_ssize_t count = PySequence_Fast_GET_SIZE(fast.ptr());
    tensors.reserve(count);
    for (Py_ssize_t i = 0; i < count; ++i)
      add(PySequence_Fast_GET_ITEM(fast.ptr(), i), written);
  }

  const fusion_tensor *data() const { return tensors.data(); }
  size_t size() const { return tensors.size(); }
  /// Of the first tensor on a GPU, or else the CPU.
  dlpack::Device getDevice() const { return device; }

  /// Throws unless all tensors are where the executable runs.
  void checkDevice(bool onGpu) const {
    for (size_t i = 0; i < size(); ++i)
      if (onGpus[i] != onGpu)
        throw FusionError(
            "device",
            describe(i) + (onGpu ? " is in host memory, and the executable "
                                   "runs on a GPU"
                                 : " is in the memory of a GPU, and the "
                                   "executable runs on the CPU"),
            onGpu ? "move it to the GPU or compile for target \"cpu\""
                  : "move it to the host or compile for target \"cuda\"");
  }

  size_t getBytes() const {
    size_t bytes = 0;
    for (const fusion_tensor &tensor : tensors)
      bytes += getByteExtent(tensor);
    return bytes;
  }

private:
  enum class Reader { Numpy, Torch, Own, Dlpack, Buffer, None };

  std::string describe(size_t index) const {
    return std::string(what) + " " + std::to_string(index);
  }
  std::string describeNext() const { return describe(tensors.size()); }

  /// Whether a class of `type`'s bases is torch's Tensor.
  static bool isTorch(PyTypeObject *type) {
    for (py::handle base : py::reinterpret_borrow<py::tuple>(type->tp_mro))
      if (py::cast<std::string>(base.attr("__name__")) == "Tensor" &&
          py::cast<std::string>(base.attr("__module__")).rfind("torch", 0) == 0)
        return true;
    return false;
  }

  static Reader findReader(py::handle object) {
    if (py::isinstance<py::array>(object))
      return Reader::Numpy;
    if (py::isinstance<Result>(object))
      return Reader::Own;
    if (isTorch(Py_TYPE(object.ptr())))
      return Reader::Torch;
    if (py::hasattr(object, "__dlpack__"))
      return Reader::Dlpack;
    if (PyObject_CheckBuffer(object.ptr()) ||
        py::hasattr(object, "__array_interface__"))
      return Reader::Buffer;
    return Reader::None;
  }

  static Reader getReader(py::handle object) {
    // Types are kept alive, so that an address is never another type's.
    static auto *readers = new std::unordered_map<PyTypeObject *, Reader>;
    PyTypeObject *type = Py_TYPE(object.ptr());
    auto found = readers->find(type);
    if (found != readers->end())
      return found->second;
    Reader reader = findReader(object);
    py::handle(reinterpret_cast<PyObject *>(type)).inc_ref();
    return (*readers)[type] = reader;
  }

  void add(py::handle object, bool written) {
    switch (getReader(object)) {
    case Reader::Numpy:
      return addNumpy(py::reinterpret_borrow<py::array>(object), written);
    case Reader::Torch:
      return addTorch(object);
    case Reader::Own: {
      const Result &result = py::cast<const Result &>(object);
      return push(result.getForm(), result.getDevice());
    }
    case Reader::Dlpack:
      return addDlpack(object, written);
    case Reader::Buffer: {
      py::object array = py::module_::import("numpy").attr("asarray")(object);
      owners.push_back(array);
      return addNumpy(py::reinterpret_borrow<py::array>(array), written);
    }
    case Reader::None:
      break;
    }
    throw FusionError("argument",
                      describeNext() + " is of type '" +
                          Py_TYPE(object.ptr())->tp_name +
                          "', which is no array",
                      "pass a numpy, torch, cupy or jax array");
  }

  void push(const fusion_tensor &tensor, dlpack::Device where) {
    bool onGpu = where.type == dlpack::deviceCuda;
    if (onGpu && device.type != dlpack::deviceCuda)
      device = where;
    tensors.push_back(tensor);
    onGpus.push_back(onGpu);
  }

  /// A tensor whose sizes are still to come. `typeName` is called for a
  /// message.
  template <class TypeName>
  fusion_tensor start(int dtype, int64_t rank, TypeName typeName) {
    if (dtype < 0)
      throw FusionError("argument",
                        describeNext() + " has element type " +
                            py::cast<std::string>(py::str(typeName())) +
                            ", which is not supported",
                        "convert it to float64, float32, float16, bfloat16, "
                        "int8 to int64, uint8 or bool");
    if (rank > FUSION_MAX_RANK)
      throw FusionError("argument",
                        describeNext() + " has " + std::to_string(rank) +
                            " dimensions, at most " +
                            std::to_string(FUSION_MAX_RANK) + " are supported",
                        "merge some by reshape");
    fusion_tensor tensor = {};
    tensor.dtype = dtype;
    tensor.rank = static_cast<int32_t>(rank);
    return tensor;
  }

  //===-- numpy ----------------------------------------------------------===//

  static int findNumpyType(const py::array &array) {
    // Numbers of numpy's C interface; the other types have none that is fixed.
    switch (py::detail::array_descriptor_proxy(
                py::detail::array_proxy(array.ptr())->descr)
                ->type_num) {
    case 0:
      return FUSION_BOOL;
    case 1:
      return FUSION_I8;
    case 2:
      return FUSION_U8;
    case 3:
      return FUSION_I16;
    case 5:
      return FUSION_I32;
    case 7: // long
    case 9: // long long
      return FUSION_I64;
    case 11:
      return FUSION_F32;
    case 12:
      return FUSION_F64;
    case 23:
      return FUSION_F16;
    default:
      return findType(py::cast<std::string>(array.dtype().attr("name")));
    }
  }

  void addNumpy(const py::array &array, bool written) {
    fusion_tensor tensor = start(findNumpyType(array), array.ndim(),
                                 [&] { return array.dtype(); });
    char order = py::detail::array_descriptor_proxy(
                     py::detail::array_proxy(array.ptr())->descr)
                     ->byteorder;
    if (order == '>')
      throw FusionError("argument", describeNext() + " is big-endian",
                        "convert it by astype(dtype.newbyteorder('='))");
    if (written && !array.writeable())
      throw FusionError("argument", describeNext() + " is read-only",
                        "pass an array that can be written");
    tensor.data = const_cast<void *>(array.data());
    int64_t bytes = typeInfos[tensor.dtype].bytes;
    for (int32_t dim = 0; dim < tensor.rank; ++dim) {
      tensor.sizes[dim] = array.shape(dim);
      tensor.strides[dim] = array.strides(dim) / bytes;
      if (array.strides(dim) % bytes != 0 && array.shape(dim) > 1)
        throw FusionError("argument",
                          describeNext() + " has elements that are not a whole "
                                           "number of elements apart",
                          "pass a copy");
    }
    push(tensor, {dlpack::deviceCpu, 0});
  }

  //===-- torch ----------------------------------------------------------===//

  static int findTorchType(py::handle dtype) {
    // torch has one object for each type; they live as long as torch.
    static auto *types = new std::unordered_map<PyObject *, int>;
    auto found = types->find(dtype.ptr());
    if (found != types->end())
      return found->second;
    std::string name = py::cast<std::string>(py::str(dtype));
    dtype.inc_ref();
    return (*types)[dtype.ptr()] = findType(name.substr(name.rfind('.') + 1));
  }

  static py::object call(py::handle object, const py::str &method) {
    PyObject *result = PyObject_CallMethodNoArgs(object.ptr(), method.ptr());
    if (!result)
      throw py::error_already_set();
    return py::reinterpret_steal<py::object>(result);
  }

  void addTorch(py::handle object) {
    struct Names {
      py::str dtype{"dtype"}, shape{"shape"}, stride{"stride"},
          pointer{"data_ptr"}, device{"get_device"}, isCuda{"is_cuda"};
    };
    static auto *names = new Names;
    py::object dtype = object.attr(names->dtype);
    py::tuple shape = object.attr(names->shape);
    py::tuple strides = call(object, names->stride);
    fusion_tensor tensor =
        start(findTorchType(dtype), shape.size(), [&] { return dtype; });
    for (int32_t dim = 0; dim < tensor.rank; ++dim) {
      tensor.sizes[dim] = PyLong_AsLongLong(PyTuple_GET_ITEM(shape.ptr(), dim));
      tensor.strides[dim] =
          PyLong_AsLongLong(PyTuple_GET_ITEM(strides.ptr(), dim));
    }
    tensor.data = PyLong_AsVoidPtr(call(object, names->pointer).ptr());
    long device = PyLong_AsLong(call(object, names->device).ptr());
    if (PyErr_Occurred())
      throw py::error_already_set();
    if (device < 0)
      return push(tensor, {dlpack::deviceCpu, 0});
    if (!py::cast<bool>(object.attr(names->isCuda)))
      throw FusionError(
          "device",
          describeNext() + " is on the device " +
              py::cast<std::string>(py::str(object.attr("device"))),
          "move it to the CPU or to a CUDA device");
    push(tensor, {dlpack::deviceCuda, static_cast<int32_t>(device)});
  }

  //===-- DLPack ---------------------------------------------------------===//

  py::object getCapsule(py::handle object, bool onGpu) {
    py::dict options;
    if (onGpu) // 1 is DLPack's name for the default stream
      options["stream"] = stream ? stream : 1;
    py::dict newOptions = options.attr("copy")();
    newOptions["max_version"] = py::make_tuple(1, 0);
    py::object method = object.attr("__dlpack__");
    try {
      return method(**newOptions);
    } catch (py::error_already_set &problem) {
      if (!problem.matches(PyExc_TypeError)) // older producers
        throw;
    }
    return method(**options);
  }

  void addDlpack(py::handle object, bool written) {
    py::tuple where = object.attr("__dlpack_device__")();
    int32_t type = py::cast<int32_t>(py::int_(where[0]));
    if (type != dlpack::deviceCpu && type != dlpack::deviceCuda &&
        type != dlpack::deviceCudaHost)
      throw FusionError("device",
                        describeNext() + " is on a device of DLPack's number " +
                            std::to_string(type),
                        "move it to the CPU or to a CUDA device");
    py::object capsule = getCapsule(object, type == dlpack::deviceCuda);
    const char *name = PyCapsule_GetName(capsule.ptr());
    if (!name)
      throw py::error_already_set();
    void *pointer = PyCapsule_GetPointer(capsule.ptr(), name);
    const dlpack::Tensor *source;
    if (std::strcmp(name, "dltensor_versioned") == 0) {
      auto *managed = static_cast<dlpack::ManagedTensorVersioned *>(pointer);
      PyCapsule_SetName(capsule.ptr(), "used_dltensor_versioned");
      versionedTensors.push_back(managed);
      if (written && (managed->flags & dlpack::flagReadOnly))
        throw FusionError("argument", describeNext() + " is read-only",
                          "pass an array that can be written");
      source = &managed->tensor;
    } else if (std::strcmp(name, "dltensor") == 0) {
      auto *managed = static_cast<dlpack::ManagedTensor *>(pointer);
      PyCapsule_SetName(capsule.ptr(), "used_dltensor");
      managedTensors.push_back(managed);
      source = &managed->tensor;
    } else {
      throw FusionError("argument",
                        describeNext() + " gives no DLPack tensor, but '" +
                            name + "'",
                        "pass a numpy, torch, cupy or jax array");
    }
    fusion_tensor tensor = start(findType(source->dtype), source->rank, [&] {
      return py::make_tuple("DLPack code", source->dtype.code,
                            source->dtype.bits, "bits");
    });
    tensor.data = static_cast<char *>(source->data) + source->byteOffset;
    int64_t rowMajor = 1;
    for (int32_t dim = tensor.rank - 1; dim >= 0; --dim) {
      tensor.sizes[dim] = source->sizes[dim];
      tensor.strides[dim] = source->strides ? source->strides[dim] : rowMajor;
      rowMajor *= source->sizes[dim];
    }
    push(tensor, source->device);
  }

  const char *what; // "argument" or "result", for messages
  intptr_t stream;
  dlpack::Device device = {dlpack::deviceCpu, 0};
  std::vector<fusion_tensor> tensors;
  std::vector<bool> onGpus;
  std::vector<py::object> owners;
  std::vector<dlpack::ManagedTensor *> managedTensors;
  std::vector<dlpack::ManagedTensorVersioned *> versionedTensors;
};

#endif // FUSION_PYTHON_ARGUMENT_H
