# Finds LLVM and MLIR 22.1 and makes every import link statically.
#
# Debian exports some MLIR targets linked against libLLVM.so and libMLIR.so. A
# process must never hold two copies of LLVM, so the interface library LLVM is
# replaced by the component archives and MLIR is dropped.

if(NOT MLIR_DIR)
  find_program(LLVM_CONFIG NAMES llvm-config-22 REQUIRED)
  execute_process(COMMAND ${LLVM_CONFIG} --libdir OUTPUT_VARIABLE LLVM_LIBDIR
                  OUTPUT_STRIP_TRAILING_WHITESPACE COMMAND_ERROR_IS_FATAL ANY)
  set(MLIR_DIR ${LLVM_LIBDIR}/cmake/mlir)
endif()
find_package(MLIR 22.1 REQUIRED CONFIG)
message(STATUS "LLVM ${LLVM_PACKAGE_VERSION}, MLIR in ${MLIR_DIR}")
set(LLVM_LINK_LLVM_DYLIB OFF)
set(MLIR_LINK_MLIR_DYLIB OFF)

list(APPEND CMAKE_MODULE_PATH "${MLIR_CMAKE_DIR}" "${LLVM_CMAKE_DIR}")
set(LLVM_RUNTIME_OUTPUT_INTDIR ${CMAKE_BINARY_DIR}/bin)
set(LLVM_LIBRARY_OUTPUT_INTDIR ${CMAKE_BINARY_DIR}/lib)
set(MLIR_BINARY_DIR ${CMAKE_BINARY_DIR})
include(TableGen)
include(AddLLVM)
include(AddMLIR)

set(FUSION_LLVM_COMPONENTS core support orcjit native passes bitwriter linker
    irreader NVPTXCodeGen NVPTXDesc NVPTXInfo)
llvm_map_components_to_libnames(FUSION_LLVM_LIBS ${FUSION_LLVM_COMPONENTS})

get_property(MLIR_ALL_TARGETS GLOBAL PROPERTY MLIR_STATIC_LIBS)
foreach(target IN LISTS MLIR_EXPORTED_TARGETS MLIR_ALL_TARGETS)
  if(NOT TARGET ${target})
    continue()
  endif()
  get_target_property(links ${target} INTERFACE_LINK_LIBRARIES)
  if(links)
    list(TRANSFORM links REPLACE "^LLVM$" "${FUSION_LLVM_LIBS}")
    list(FILTER links EXCLUDE REGEX "^MLIR$")
    set_target_properties(${target} PROPERTIES INTERFACE_LINK_LIBRARIES "${links}")
  endif()
endforeach()

include_directories(SYSTEM ${LLVM_INCLUDE_DIRS} ${MLIR_INCLUDE_DIRS})
separate_arguments(LLVM_DEFINITIONS_LIST NATIVE_COMMAND ${LLVM_DEFINITIONS})
add_definitions(${LLVM_DEFINITIONS_LIST})

# Debian's LLVM has RTTI and no exceptions.
add_compile_options($<$<COMPILE_LANGUAGE:CXX>:-fno-exceptions>
                    -Wall -Wextra -Wno-unused-parameter -Wno-comment
                    -ffunction-sections -fdata-sections -fvisibility=hidden)
add_link_options(-fuse-ld=lld -Wl,--gc-sections -Wl,--as-needed)
find_program(CCACHE ccache)
if(CCACHE)
  # Without both of these ccache refuses every file that uses a precompiled header.
  set(launcher ${CMAKE_COMMAND} -E env
      CCACHE_SLOPPINESS=pch_defines,time_macros ${CCACHE})
  set(CMAKE_C_COMPILER_LAUNCHER ${launcher})
  set(CMAKE_CXX_COMPILER_LAUNCHER ${launcher})
  add_compile_options("$<$<COMPILE_LANG_AND_ID:CXX,Clang>:SHELL:-Xclang -fno-pch-timestamp>")
endif()
