# Helpers that keep the CMakeLists of a folder to its name and what it links to.

# fusion_add_library(Name [NO_PCH] [LINK lib...] [DEPENDS target...])
# A static library of every .cpp in the folder. MLIR users share one precompiled
# header; Runtime, which never includes MLIR, says NO_PCH.
function(fusion_add_library name)
  cmake_parse_arguments(arg "NO_PCH" "" "LINK;DEPENDS" ${ARGN})
  file(GLOB sources CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/*.cpp)
  if(NOT sources)
    message(WARNING "${name} has no sources yet")
    return()
  endif()
  add_library(${name} STATIC ${sources})
  target_link_libraries(${name} PUBLIC ${arg_LINK})
  if(arg_DEPENDS)
    add_dependencies(${name} ${arg_DEPENDS})
  endif()
  if(NOT arg_NO_PCH)
    add_dependencies(${name} fusion-dialect-headers)
    target_precompile_headers(${name} REUSE_FROM FusionPCH)
  endif()
endfunction()

# fusion_add_tool(name [NO_PCH] LINK lib...)
# An executable of every .cpp in the folder. One that does not link to MLIR says
# NO_PCH: the precompiled header refers to MLIR's symbols.
function(fusion_add_tool name)
  cmake_parse_arguments(arg "NO_PCH" "" "LINK" ${ARGN})
  file(GLOB sources CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/*.cpp)
  add_executable(${name} ${sources})
  target_link_libraries(${name} PRIVATE ${arg_LINK})
  add_dependencies(${name} fusion-dialect-headers)
  if(NOT arg_NO_PCH)
    target_precompile_headers(${name} REUSE_FROM FusionPCH)
  endif()
  # The precompiled header is built with -fPIC, which -fPIE must not replace.
  set_target_properties(${name} PROPERTIES POSITION_INDEPENDENT_CODE OFF
    RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/bin
    BUILD_WITH_INSTALL_RPATH ON INSTALL_RPATH "$ORIGIN/../lib")
  target_compile_options(${name} PRIVATE -fPIC)
  target_link_options(${name} PRIVATE $<$<CONFIG:Release>:-s>)
endfunction()
