# C users get headers, both libraries, tutti.pc and find_package(tutti); a wheel gets the module alone.
if(TARGET _core)
  install(TARGETS _core LIBRARY DESTINATION tutti COMPONENT python EXCLUDE_FROM_ALL)
  install(DIRECTORY ${PROJECT_BINARY_DIR}/python/tutti/ DESTINATION tutti COMPONENT python EXCLUDE_FROM_ALL
          FILES_MATCHING PATTERN "*.pyi")
endif()
if(DEFINED SKBUILD)
  return()
endif()

install(TARGETS tutti_shared tutti_static EXPORT tutti-targets
        LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(DIRECTORY ${PROJECT_SOURCE_DIR}/include/tutti DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} FILES_MATCHING PATTERN "*.h" PATTERN "*.def")
install(FILES ${PROJECT_SOURCE_DIR}/LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR})
install(FILES ${PROJECT_SOURCE_DIR}/third_party/xxhash/LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR} RENAME LICENSE.xxhash)

# From where it lies, so that it is right wherever `cmake --install --prefix` puts it.
file(RELATIVE_PATH TUTTI_PC_PREFIX /prefix/${CMAKE_INSTALL_LIBDIR}/pkgconfig /prefix)
string(REGEX REPLACE "/$" "" TUTTI_PC_PREFIX "${TUTTI_PC_PREFIX}")
configure_file(${PROJECT_SOURCE_DIR}/cmake/tutti.pc.in ${PROJECT_BINARY_DIR}/tutti.pc @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/tutti.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)

set(tutti_cmake_dir ${CMAKE_INSTALL_LIBDIR}/cmake/tutti)
configure_package_config_file(${PROJECT_SOURCE_DIR}/cmake/tutti-config.cmake.in
                              ${PROJECT_BINARY_DIR}/tutti-config.cmake INSTALL_DESTINATION ${tutti_cmake_dir})
write_basic_package_version_file(${PROJECT_BINARY_DIR}/tutti-config-version.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/tutti-config.cmake ${PROJECT_BINARY_DIR}/tutti-config-version.cmake
        DESTINATION ${tutti_cmake_dir})
install(EXPORT tutti-targets NAMESPACE tutti:: DESTINATION ${tutti_cmake_dir})
