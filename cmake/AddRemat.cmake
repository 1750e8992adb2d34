# remat_add_library(NAME source... [LINK target...] [MLIR] [DEPENDS target...]): a static library of the project, installed and exported.
# MLIR: may include MLIR's headers (it links nothing of MLIR: the tool or the host that loads it brings libMLIR).
function(remat_add_library name)
  cmake_parse_arguments(ARG "MLIR" "" "LINK;DEPENDS" ${ARGN})
  add_library(${name} STATIC ${ARG_UNPARSED_ARGUMENTS})
  add_library(Remat::${name} ALIAS ${name})
  target_include_directories(${name} PUBLIC
    $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include>
    $<BUILD_INTERFACE:${PROJECT_BINARY_DIR}/include>
    $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
  target_compile_features(${name} PUBLIC cxx_std_20)
  target_link_libraries(${name} PUBLIC ${ARG_LINK})
  remat_warnings(${name})
  if(ARG_MLIR)
    target_include_directories(${name} SYSTEM PUBLIC ${MLIR_INCLUDE_DIRS} ${LLVM_INCLUDE_DIRS})
    target_compile_definitions(${name} PUBLIC ${LLVM_DEFINITIONS_LIST})
  endif()
  if(ARG_DEPENDS)
    add_dependencies(${name} ${ARG_DEPENDS})
  endif()
  install(TARGETS ${name} EXPORT RematTargets ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
endfunction()

function(remat_warnings name)
  target_compile_options(${name} PRIVATE -Wall -Wextra -Wno-unused-parameter -Werror=return-type)
endfunction()

# Headers, libraries and the files that find_package(Remat) reads.
function(remat_install_package)
  include(CMakePackageConfigHelpers)
  install(DIRECTORY ${PROJECT_SOURCE_DIR}/include/remat ${PROJECT_SOURCE_DIR}/include/remat-c DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} FILES_MATCHING PATTERN "*.h" PATTERN "*.td" PATTERN "*.def")
  install(DIRECTORY ${PROJECT_BINARY_DIR}/include/remat DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} FILES_MATCHING PATTERN "*.h.inc")
  install(EXPORT RematTargets NAMESPACE Remat:: DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/Remat)
  configure_package_config_file(cmake/RematConfig.cmake.in ${PROJECT_BINARY_DIR}/RematConfig.cmake
    INSTALL_DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/Remat)
  write_basic_package_version_file(${PROJECT_BINARY_DIR}/RematConfigVersion.cmake COMPATIBILITY SameMinorVersion)
  install(FILES ${PROJECT_BINARY_DIR}/RematConfig.cmake ${PROJECT_BINARY_DIR}/RematConfigVersion.cmake
    ${PROJECT_SOURCE_DIR}/cmake/FindRE2.cmake
    DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/Remat)
endfunction()
