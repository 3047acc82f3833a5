# The extension `tutti._core`: one stable-ABI module that links the whole core statically.
# build/python/tutti holds the module beside links to the package's files, so that
# PYTHONPATH=build/python runs the checkout, and two build folders never share a module.
file(GLOB_RECURSE tutti_core_sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/python/tutti/_core/*.c)
if(NOT TUTTI_PYTHON OR NOT tutti_core_sources)
  return()
endif()
set(Python_FIND_VIRTUALENV FIRST)
find_package(Python 3.11 COMPONENTS Interpreter Development.Module)
if(NOT Python_Development.Module_FOUND)
  message(WARNING "Python >= 3.11 headers not found (python3-dev): building the C library only")
  return()
endif()

# What its functions document of themselves: rows, and tables beside the sources.
set(tutti_documents ${PROJECT_BINARY_DIR}/generated/documents.inc)
set(tutti_core_folder ${PROJECT_SOURCE_DIR}/python/tutti/_core)
set(tutti_documented module insight line dtype array/array array/method array/subclass)
list(TRANSFORM tutti_documented REPLACE "(.+)" "${tutti_core_folder}/\\1.c")
add_custom_command(OUTPUT ${tutti_documents} VERBATIM
  COMMAND ${Python_EXECUTABLE} -B ${PROJECT_SOURCE_DIR}/tools/documents.py ${tutti_documents}
  DEPENDS ${PROJECT_SOURCE_DIR}/tools/documents.py ${PROJECT_SOURCE_DIR}/src/fn/functions.def
          ${PROJECT_SOURCE_DIR}/include/tutti/ops.def ${tutti_core_folder}/parameters.txt
          ${tutti_core_folder}/examples.txt ${tutti_documented}
  COMMENT "Writing the documentation of functions")

add_library(_core MODULE ${tutti_core_sources} ${tutti_documents} ${tutti_object_files})
target_include_directories(_core PRIVATE ${tutti_core_folder} ${PROJECT_BINARY_DIR}/generated)
tutti_compile(_core)
target_compile_definitions(_core PRIVATE Py_LIMITED_API=0x030B0000)
target_include_directories(_core SYSTEM PRIVATE ${Python_INCLUDE_DIRS})
target_link_libraries(_core PRIVATE Threads::Threads ${CMAKE_DL_LIBS} m)
# Its copy of the core must never mix with a libtutti.so in the same process.
target_link_options(_core PRIVATE -Wl,--version-script=${PROJECT_SOURCE_DIR}/cmake/core.map -Wl,-z,nodelete)
set_target_properties(_core PROPERTIES PREFIX "" SUFFIX ".abi3.so"
                      LIBRARY_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/python/tutti)
# Type stubs come from the tables; a machine that cannot load the module here goes without.
if(NOT TUTTI_SANITIZE AND NOT CMAKE_CROSSCOMPILING)
  add_custom_command(TARGET _core POST_BUILD VERBATIM
    COMMAND ${Python_EXECUTABLE} -B ${PROJECT_SOURCE_DIR}/tools/stubs.py $<TARGET_FILE:_core> $<TARGET_FILE_DIR:_core>
            || ${CMAKE_COMMAND} -E echo "type stubs were not made"
    COMMENT "Writing type stubs")
endif()
if(DEFINED SKBUILD)
  return()
endif()

file(GLOB_RECURSE tutti_package CONFIGURE_DEPENDS RELATIVE ${PROJECT_SOURCE_DIR}/python/tutti
     ${PROJECT_SOURCE_DIR}/python/tutti/*.py ${PROJECT_SOURCE_DIR}/python/tutti/py.typed)
# Folders are real, their files links: stubs are written beside them. Links whose file is gone go too.
file(GLOB_RECURSE tutti_links LIST_DIRECTORIES true ${PROJECT_BINARY_DIR}/python/tutti/*)
foreach(link ${tutti_links})
  if(IS_SYMLINK ${link} AND (IS_DIRECTORY ${link} OR NOT EXISTS ${link}))
    file(REMOVE ${link})
  endif()
endforeach()
foreach(name ${tutti_package})
  get_filename_component(folder ${PROJECT_BINARY_DIR}/python/tutti/${name} DIRECTORY)
  file(MAKE_DIRECTORY ${folder})
  file(CREATE_LINK ${PROJECT_SOURCE_DIR}/python/tutti/${name} ${PROJECT_BINARY_DIR}/python/tutti/${name} SYMBOLIC)
endforeach()
