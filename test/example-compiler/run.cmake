# Installs the project, then configures, builds and runs the example compiler against what was installed.
# Variables: BUILD (the project's build folder), SOURCE (this folder), INPUT (a graph), WORK (a folder of its own), and the
# compiler and MLIR settings of the project's own build.
function(run)
  execute_process(COMMAND ${ARGN} RESULT_VARIABLE result OUTPUT_VARIABLE output ERROR_VARIABLE error)
  if(result)
    list(JOIN ARGN " " command)
    message(FATAL_ERROR "${command}\n${output}${error}")
  endif()
  set(output "${output}" PARENT_SCOPE)
endfunction()

file(REMOVE_RECURSE ${WORK})
run(${CMAKE_COMMAND} --install ${BUILD} --prefix ${WORK}/prefix)
run(${CMAKE_COMMAND} -G Ninja -S ${SOURCE} -B ${WORK}/build -DCMAKE_BUILD_TYPE=Release -DCMAKE_PREFIX_PATH=${WORK}/prefix
    -DCMAKE_C_COMPILER=${C_COMPILER} -DCMAKE_CXX_COMPILER=${CXX_COMPILER} "-DCMAKE_CXX_FLAGS=${CXX_FLAGS}"
    -DCMAKE_CXX_COMPILER_LAUNCHER=${LAUNCHER} "-DCMAKE_EXE_LINKER_FLAGS=${LINKER_FLAGS}" -DMLIR_DIR=${MLIR_DIR} -DLLVM_DIR=${LLVM_DIR})
run(${CMAKE_COMMAND} --build ${WORK}/build)
run(${WORK}/build/example-compiler ${INPUT} save-dots)
if(NOT output MATCHES "stablehlo.optimization_barrier")
  message(FATAL_ERROR "the compiled graph holds no recomputation:\n${output}")
endif()
