//===- result.h - tensors that the runtime allocated ----------------------===//
//
// A result owns memory of the runtime's pools and hands it on, without a copy,
// as a numpy array or by DLPack; the last of those that use it frees it.
//
//===----------------------------------------------------------------------===//

#ifndef FUSION_PYTHON_RESULT_H
#define FUSION_PYTHON_RESULT_H

#include "dtypes.h"
#include "errors.h"
#include <memory>
#include <pybind11/numpy.h>
#include <pybind11/pybind11.h>

namespace py = pybind11;

class Result {
public:
  /// Takes `form.data`, which is memory of the pool of `device`.
  Result(const fusion_tensor &form, dlpack::Device device)
      : form(form), device(device), memory(form.data, [device](void *data) {
          if (device.type == dlpack::deviceCuda)
            fusion_gpu_release(device.id, data);
          else
            fusion_cpu_release(data);
        }) {}

  /// Allocates for a form that the runtime inferred.
  static Result allocate(fusion_tensor form, dlpack::Device device,
                         void *stream) {
    size_t bytes = getByteExtent(form);
    if (device.type == dlpack::deviceCuda)
      check(fusion_gpu_allocate(device.id, bytes, stream, &form.data));
    else
      form.data = fusion_cpu_allocate(bytes);
    if (!form.data)
      throw FusionError("memory",
                        "no memory for a result of " + std::to_string(bytes) +
                            " bytes",
                        "use smaller inputs or free memory");
    return Result(form, device);
  }

  const fusion_tensor &getForm() const { return form; }
  dlpack::Device getDevice() const { return device; }

  py::tuple getShape() const { return toTuple(form.sizes, 1); }
  const char *getTypeName() const { return typeInfos[form.dtype].name; }

  /// A numpy array on the same memory. numpy has no bfloat16: its values come
  /// as ml_dtypes.bfloat16 where that package is installed, else as float32.
  py::object toNumpy() const {
    if (device.type == dlpack::deviceCuda)
      throw FusionError("unsupported", "a tensor on a GPU is no numpy array",
                        "use __dlpack__");
    if (form.dtype != FUSION_BF16)
      return toArray(py::dtype(typeInfos[form.dtype].name));
    try {
      py::object type = py::module_::import("ml_dtypes").attr("bfloat16");
      return toArray(py::dtype("uint16")).attr("view")(type);
    } catch (py::error_already_set &problem) {
      if (!problem.matches(PyExc_ImportError))
        throw;
    }
    py::object bits = toArray(py::dtype("uint16")).attr("astype")("uint32");
    return bits.attr("__lshift__")(16).attr("view")("float32");
  }

  /// A capsule: versioned where the consumer says that it takes version 1. The
  /// consumer's stream is the one that the result was enqueued in.
  py::capsule toDlpack(py::object, py::object maxVersion, py::object onDevice,
                       py::object copy) const {
    if (!onDevice.is_none() && !onDevice.equal(getDlpackDevice()))
      throw py::buffer_error("the tensor lies on another device");
    if (!copy.is_none() && py::cast<bool>(copy))
      throw py::buffer_error("the tensor can only be shared");
    bool versioned =
        !maxVersion.is_none() && py::cast<int>(maxVersion[py::int_(0)]) >= 1;
    return versioned ? makeCapsule<dlpack::ManagedTensorVersioned>(
                           "dltensor_versioned")
                     : makeCapsule<dlpack::ManagedTensor>("dltensor");
  }

  py::tuple getDlpackDevice() const {
    return py::make_tuple(device.type, device.id);
  }

private:
  py::tuple toTuple(const int64_t *values, int64_t factor) const {
    py::tuple tuple(form.rank);
    for (int32_t i = 0; i < form.rank; ++i)
      tuple[i] = values[i] * factor;
    return tuple;
  }

  py::array toArray(py::dtype dtype) const {
    auto *owner = new std::shared_ptr<void>(memory);
    py::capsule base(owner, [](void *pointer) {
      delete static_cast<std::shared_ptr<void> *>(pointer);
    });
    std::vector<py::ssize_t> sizes(form.sizes, form.sizes + form.rank), strides;
    for (int32_t i = 0; i < form.rank; ++i)
      strides.push_back(form.strides[i] * typeInfos[form.dtype].bytes);
    return py::array(dtype, sizes, strides, form.data, base);
  }

  template <class Managed> struct Export {
    Managed managed = {};
    fusion_tensor form;
    std::shared_ptr<void> memory;
  };

  template <class Managed> py::capsule makeCapsule(const char *name) const {
    auto *exported = new Export<Managed>{{}, form, memory};
    Managed &managed = exported->managed;
    if constexpr (std::is_same_v<Managed, dlpack::ManagedTensorVersioned>)
      managed.major = 1;
    managed.context = exported;
    managed.deleter = [](Managed *self) {
      delete static_cast<Export<Managed> *>(self->context);
    };
    const TypeInfo &type = typeInfos[form.dtype];
    managed.tensor = {form.data,
                      device,
                      form.rank,
                      {type.code, static_cast<uint8_t>(8 * type.bytes), 1},
                      exported->form.sizes,
                      exported->form.strides,
                      0};
    // A consumer renames the capsule; an unused one frees what it holds.
    PyObject *capsule = PyCapsule_New(&managed, name, [](PyObject *self) {
      for (const char *unused : {"dltensor", "dltensor_versioned"})
        if (PyCapsule_IsValid(self, unused)) {
          auto *left =
              static_cast<Managed *>(PyCapsule_GetPointer(self, unused));
          left->deleter(left);
        }
    });
    if (!capsule) {
      managed.deleter(&managed);
      throw py::error_already_set();
    }
    return py::reinterpret_steal<py::capsule>(capsule);
  }

  fusion_tensor form;
  dlpack::Device device;
  std::shared_ptr<void> memory;
};

#endif // FUSION_PYTHON_RESULT_H
