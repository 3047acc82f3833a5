# Each tests/unit/**/*.c is one program over the internal interfaces; each examples/c/*.c one over the public header.
enable_testing()
# Out of memory is an answer of ours, not the sanitizer's; a child of a threaded program starts threads.
set(tutti_test_env ASAN_OPTIONS=allocator_may_return_null=1 TSAN_OPTIONS=die_after_fork=0:report_thread_leaks=0)
file(GLOB_RECURSE tutti_unit CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/tests/unit/*.c)
foreach(file ${tutti_unit})
  get_filename_component(name ${file} NAME_WE)
  add_executable(unit_${name} ${file})
  target_include_directories(unit_${name} PRIVATE ${PROJECT_SOURCE_DIR}/include ${PROJECT_SOURCE_DIR}/src
                                              ${PROJECT_SOURCE_DIR}/tests/unit)
  target_link_libraries(unit_${name} PRIVATE tutti_static) # only the objects that it calls
  if(name MATCHES "^api_")
    target_link_options(unit_${name} PRIVATE ${TUTTI_STATIC_NEEDS}) # those that register themselves too
  endif()
  target_compile_definitions(unit_${name} PRIVATE _GNU_SOURCE TT_TEST_SOURCE="${PROJECT_SOURCE_DIR}")
  target_compile_options(unit_${name} PRIVATE -Wall -Wextra)
  set_target_properties(unit_${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/tests)
  add_test(NAME unit_${name} COMMAND unit_${name})
  set_tests_properties(unit_${name} PROPERTIES TIMEOUT 600 LABELS unit ENVIRONMENT "${tutti_test_env}")
endforeach()
# The longest first, or one processor waits for the other at the end.
foreach(name test_threads test_device_attention test_device_nvrtc test_device_pick test_threads_nvrtc test_render)
  set_tests_properties(unit_${name} PROPERTIES COST 100)
endforeach()

# Stand-ins for NVIDIA's driver and its compiler, loaded by name at run time.
add_library(fake_cuda MODULE ${PROJECT_SOURCE_DIR}/tests/fake/cuda_driver.c)
add_library(fake_nvrtc MODULE ${PROJECT_SOURCE_DIR}/tests/fake/nvrtc.c)
foreach(lib fake_cuda fake_nvrtc)
  target_compile_options(${lib} PRIVATE -Wall -Wextra)
  set_target_properties(${lib} PROPERTIES LIBRARY_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/tests)
endforeach()
target_compile_definitions(unit_test_device_driver PRIVATE FAKE_CUDA="$<TARGET_FILE:fake_cuda>")
add_dependencies(unit_test_device_driver fake_cuda)

# One before the real loader of OpenCL, where that is.
find_library(TUTTI_OPENCL_LOADER NAMES OpenCL libOpenCL.so.1)
if(TUTTI_OPENCL_LOADER)
  add_library(fake_opencl MODULE ${PROJECT_SOURCE_DIR}/tests/fake/opencl.c)
  target_link_libraries(fake_opencl PRIVATE -Wl,--no-as-needed ${TUTTI_OPENCL_LOADER})
  target_compile_options(fake_opencl PRIVATE -Wall -Wextra)
  set_target_properties(fake_opencl PROPERTIES LIBRARY_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/tests)
endif()

file(GLOB tutti_examples CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/examples/c/*.c)
foreach(file ${tutti_examples})
  foreach(kind shared static)
    get_filename_component(name ${file} NAME_WE)
    set(name example_${name}_${kind})
    add_executable(${name} ${file})
    target_link_libraries(${name} PRIVATE tutti_${kind} m)
    if(kind STREQUAL static)
      target_link_options(${name} PRIVATE ${TUTTI_STATIC_NEEDS}) # as installed; unit tests do with less
    endif()
    target_compile_options(${name} PRIVATE -Wall -Wextra)
    set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/examples)
    add_test(NAME ${name} COMMAND ${name})
    set_tests_properties(${name} PROPERTIES TIMEOUT 240 LABELS example ENVIRONMENT "${tutti_test_env}")
  endforeach()
endforeach()

# What a C user does: install, find the library by pkg-config and by find_package, build, run.
if(NOT TUTTI_SANITIZE)
  add_test(NAME install COMMAND ${PROJECT_SOURCE_DIR}/tests/install/check.sh ${CMAKE_COMMAND} ${PROJECT_BINARY_DIR})
  set_tests_properties(install PROPERTIES TIMEOUT 240 SKIP_RETURN_CODE 77)
endif()
