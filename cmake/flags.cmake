# Flags of every C file of ours, and how a text file becomes a C array.
if(NOT CMAKE_BUILD_TYPE)
  set(CMAKE_BUILD_TYPE Release CACHE STRING "" FORCE)
endif()
set(CMAKE_C_STANDARD 11)
set(CMAKE_C_EXTENSIONS ON)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
set(CMAKE_C_FLAGS_RELEASE "-O2 -g1") # names and lines for whoever sees a crash; variables take a sixth of the time
set(TUTTI_BULK -O3) # loops that are worth it
if(TUTTI_ASSERT OR TUTTI_SANITIZE)
  set(CMAKE_C_FLAGS_RELEASE "-O1 -g1") # only tests run it: half the time of compilation
  set(TUTTI_BULK "")
endif()
if(NOT TUTTI_ASSERT AND NOT TUTTI_SANITIZE)
  string(APPEND CMAKE_C_FLAGS_RELEASE " -DNDEBUG")
else()
  add_compile_definitions(TT_LOCK_CHECK=1) # base/lock.h
endif()

# IEEE results, whatever the compiler would like to assume: no contraction, no reassociation.
add_compile_options(-fno-math-errno -fno-trapping-math -ffp-contract=off -fwrapv -fno-strict-aliasing)
# Small structs are zeroed by stores: the string instructions that GCC takes else need 30 cycles to start, at every node.
include(CheckCCompilerFlag)
set(TUTTI_STORES -mmemset-strategy=vector_loop:512:noalign,libcall:-1:noalign)
check_c_compiler_flag("${TUTTI_STORES}" TUTTI_HAS_STORES)
if(TUTTI_HAS_STORES)
  add_compile_options("${TUTTI_STORES}")
endif()
if(TUTTI_SANITIZE)
  add_compile_options(-fsanitize=${TUTTI_SANITIZE} -fno-omit-frame-pointer -fno-sanitize-recover=all)
  add_link_options(-fsanitize=${TUTTI_SANITIZE})
endif()

if(TUTTI_WIDE)
  add_compile_options(-DTT_WIDE=1 -Wno-psabi) # such vectors are no arguments here: what calls would look like does not matter
endif()

set(TUTTI_WARNINGS -Wall -Wextra -Wshadow -Wstrict-prototypes -Wconversion -Wno-sign-conversion)
if(CMAKE_C_COMPILER_ID MATCHES Clang)
  # "vectorize this" and an empty format are requests here, not mistakes.
  list(APPEND TUTTI_WARNINGS -Wno-pass-failed -Wno-format-zero-length)
endif()
if(TUTTI_SANITIZE AND CMAKE_C_COMPILER_ID STREQUAL GNU)
  list(APPEND TUTTI_WARNINGS -Wno-maybe-uninitialized -Wno-stringop-overflow -Wno-format-truncation) # the added checks lead its flow analysis astray
endif()
if(TUTTI_WERROR)
  list(APPEND TUTTI_WARNINGS -Werror)
endif()

function(tutti_compile target)
  set_target_properties(${target} PROPERTIES POSITION_INDEPENDENT_CODE ON C_VISIBILITY_PRESET hidden)
  target_include_directories(${target} PUBLIC ${PROJECT_SOURCE_DIR}/include ${PROJECT_SOURCE_DIR}/src)
  target_include_directories(${target} SYSTEM PRIVATE ${PROJECT_SOURCE_DIR}/third_party)
  target_compile_definitions(${target} PRIVATE _GNU_SOURCE)
  target_compile_options(${target} PRIVATE ${TUTTI_WARNINGS})
endfunction()

# A C file that defines `const char name[]` with the text of `files` in order, rebuilt when the text changes.
function(tutti_embed files name out)
  set(c_file ${PROJECT_BINARY_DIR}/generated/${name}.c)
  add_custom_command(
    OUTPUT ${c_file}
    COMMAND ${CMAKE_COMMAND} "-DIN=${files}" -DOUT=${c_file} -DNAME=${name} -P ${PROJECT_SOURCE_DIR}/cmake/embed.cmake
    DEPENDS ${files} ${PROJECT_SOURCE_DIR}/cmake/embed.cmake
    VERBATIM
    COMMENT "Embedding ${name}")
  set(${out} ${c_file} PARENT_SCOPE)
endfunction()
