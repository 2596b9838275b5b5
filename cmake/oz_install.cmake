# The parts that `cmake --install` and `cpack` put in place: the program, both libraries, headers, a
# CMake package, pkg-config files, licence, manual page, completions and the example scenes.
# SPDX-License-Identifier: Apache-2.0
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

set(oz_libraries ooze_headers ooze_core ooze_shared ooze_io)
set_target_properties(ooze_headers PROPERTIES EXPORT_NAME headers)
set_target_properties(ooze_core PROPERTIES EXPORT_NAME core)
set_target_properties(ooze_shared PROPERTIES EXPORT_NAME ooze)
set_target_properties(ooze_io PROPERTIES EXPORT_NAME io)
install(TARGETS ooze RUNTIME DESTINATION "${CMAKE_INSTALL_BINDIR}" COMPONENT program)
install(TARGETS ${oz_libraries} EXPORT ooze COMPONENT library
        RUNTIME DESTINATION "${CMAKE_INSTALL_BINDIR}" COMPONENT library
        LIBRARY DESTINATION "${CMAKE_INSTALL_LIBDIR}" COMPONENT library
        ARCHIVE DESTINATION "${CMAKE_INSTALL_LIBDIR}" COMPONENT library
        INCLUDES DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}")
install(DIRECTORY "${PROJECT_SOURCE_DIR}/solver_c/include/ooze" DESTINATION
    "${CMAKE_INSTALL_INCLUDEDIR}" COMPONENT library
        FILES_MATCHING PATTERN "*.h")

# ---- find_package(ooze): ooze::ooze (shared), ooze::core (static), ooze::io (files, scenes,
# surfaces; static) ----
set(oz_package "${CMAKE_INSTALL_LIBDIR}/cmake/ooze")
install(EXPORT ooze NAMESPACE ooze:: FILE ooze-targets.cmake DESTINATION "${oz_package}" COMPONENT
    library)
set(oz_needs "find_dependency(Threads)\n")
get_target_property(oz_links ooze_io INTERFACE_LINK_LIBRARIES)
get_target_property(oz_core_links ooze_core INTERFACE_LINK_LIBRARIES)
list(APPEND oz_links ${oz_core_links})
if("TBB::tbb" IN_LIST oz_links)
  string(APPEND oz_needs "find_dependency(TBB CONFIG)\n")
endif()
if("Alembic::Alembic" IN_LIST oz_links)
  string(APPEND oz_needs "find_dependency(Alembic CONFIG)\n")
endif()
if("PNG::PNG" IN_LIST oz_links)
  string(APPEND oz_needs "find_dependency(PNG)\n")
endif()
file(WRITE "${PROJECT_BINARY_DIR}/package/ooze-config.cmake"
     "include(CMakeFindDependencyMacro)\nset(THREADS_PREFER_PTHREAD_FLAG ON)\n${oz_needs}"
     "include(\"\${CMAKE_CURRENT_LIST_DIR}/ooze-targets.cmake\")\n")
write_basic_package_version_file("${PROJECT_BINARY_DIR}/package/ooze-config-version.cmake"
    COMPATIBILITY SameMinorVersion)
install(FILES "${PROJECT_BINARY_DIR}/package/ooze-config.cmake"
    "${PROJECT_BINARY_DIR}/package/ooze-config-version.cmake"
        DESTINATION "${oz_package}" COMPONENT library)

# ---- pkg-config: ooze (shared; with --static ooze_core) and ooze-io ----
# Names as a linker wants them, from targets and paths.
function(oz_link_words target out)
  set(words "")
  get_target_property(links ${target} INTERFACE_LINK_LIBRARIES)
  foreach(link IN LISTS links)
    if(link MATCHES "LINK_ONLY:(.*)>")
      set(link "${CMAKE_MATCH_1}")
    endif()
    if(link MATCHES "^ooze_" OR link MATCHES "^\\$")
      continue()
    elseif(link STREQUAL Threads::Threads)
      list(APPEND words -pthread)
    elseif(link STREQUAL TBB::tbb)
      list(APPEND words -ltbb)
    elseif(link STREQUAL Alembic::Alembic)
      list(APPEND words -lAlembic)
    elseif(link STREQUAL PNG::PNG)
      list(APPEND words -lpng)
    elseif(IS_ABSOLUTE "${link}")
      get_filename_component(name "${link}" NAME)
      string(REGEX REPLACE "^lib(.*)\\.(so|a|dylib).*$" "\\1" name "${name}")
      list(APPEND words -l${name})
    elseif(link MATCHES "^-")
      list(APPEND words ${link})
    else()
      list(APPEND words -l${link})
    endif()
  endforeach()
  list(REMOVE_DUPLICATES words)
  list(JOIN words " " words)
  set(${out} "${words}" PARENT_SCOPE)
endfunction()
oz_link_words(ooze_core oz_core_words)
oz_link_words(ooze_io oz_io_words)
string(CONCAT oz_pc "prefix=\${pcfiledir}/../..\nlibdir=\${prefix}/${CMAKE_INSTALL_LIBDIR}\n"
       "includedir=\${prefix}/${CMAKE_INSTALL_INCLUDEDIR}\n\n")
string(REGEX MATCHALL "/" oz_depth "${CMAKE_INSTALL_LIBDIR}") # lib/x86_64-linux-gnu lies one deeper
foreach(slash IN LISTS oz_depth)
  string(REPLACE "\${pcfiledir}/../.." "\${pcfiledir}/../../.." oz_pc "${oz_pc}")
endforeach()
file(WRITE "${PROJECT_BINARY_DIR}/package/ooze.pc"
     "${oz_pc}Name: ooze\nDescription: viscoelastic particle-fluid solver\n"
     "Version: ${PROJECT_VERSION}\nCflags: -I\${includedir}\nLibs: -L\${libdir} -looze\n")
file(WRITE "${PROJECT_BINARY_DIR}/package/ooze-core.pc"
     "${oz_pc}Name: ooze-core\nDescription: viscoelastic particle-fluid solver, static\n"
     "Version: ${PROJECT_VERSION}\nCflags: -I\${includedir}\n"
     "Libs: -L\${libdir} -looze_core ${oz_core_words}\n")
file(WRITE "${PROJECT_BINARY_DIR}/package/ooze-io.pc"
     "${oz_pc}Name: ooze-io\nDescription: files, scenes, surfaces and runs of ooze, static\n"
     "Version: ${PROJECT_VERSION}\nRequires: ooze-core\nCflags: -I\${includedir}\n"
     "Libs: -L\${libdir} -looze_io -looze_core ${oz_io_words} ${oz_core_words}\n")
install(FILES "${PROJECT_BINARY_DIR}/package/ooze.pc" "${PROJECT_BINARY_DIR}/package/ooze-core.pc"
    "${PROJECT_BINARY_DIR}/package/ooze-io.pc"
        DESTINATION "${CMAKE_INSTALL_LIBDIR}/pkgconfig" COMPONENT library)

# ---- words: licence, manual, completions, scenes ----
install(FILES "${PROJECT_SOURCE_DIR}/LICENSE" "${PROJECT_SOURCE_DIR}/README.md"
    "${PROJECT_SOURCE_DIR}/CHANGELOG.md"
        DESTINATION "${CMAKE_INSTALL_DOCDIR}" COMPONENT program)
install(DIRECTORY "${PROJECT_SOURCE_DIR}/examples/scenes" DESTINATION
    "${CMAKE_INSTALL_DATADIR}/ooze" COMPONENT program)
# the program itself prints them, from the tables that parse its command line
if(NOT CMAKE_CROSSCOMPILING)
  set(oz_words "${PROJECT_BINARY_DIR}/package/words")
  add_custom_command(
    OUTPUT "${oz_words}/ooze.1"
    COMMAND ${CMAKE_COMMAND} -E make_directory "${oz_words}"
    COMMAND ooze --man > "${oz_words}/ooze.1"
    COMMAND ooze --completions bash > "${oz_words}/ooze"
    COMMAND ooze --completions zsh > "${oz_words}/_ooze"
    COMMAND ooze --completions fish > "${oz_words}/ooze.fish"
    DEPENDS ooze VERBATIM)
  add_custom_target(ooze_words ALL DEPENDS "${oz_words}/ooze.1")
  install(FILES "${oz_words}/ooze.1" DESTINATION "${CMAKE_INSTALL_MANDIR}/man1" COMPONENT program)
  install(FILES "${oz_words}/ooze" DESTINATION
      "${CMAKE_INSTALL_DATADIR}/bash-completion/completions" COMPONENT program)
  install(FILES "${oz_words}/_ooze" DESTINATION "${CMAKE_INSTALL_DATADIR}/zsh/site-functions"
      COMPONENT program)
  install(FILES "${oz_words}/ooze.fish" DESTINATION
      "${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d" COMPONENT program)
endif()

# ---- cpack: ooze_VERSION_ARCH.deb and ooze-VERSION-SYSTEM.tar.gz ----
set(CPACK_PACKAGE_NAME ooze)
set(CPACK_PACKAGE_VENDOR "The Ooze authors")
set(CPACK_PACKAGE_CONTACT "The Ooze authors <ooze@localhost>")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY
    "viscoelastic particle-fluid solver: honey, cream, slime, dough")
set(CPACK_RESOURCE_FILE_LICENSE "${PROJECT_SOURCE_DIR}/LICENSE")
set(CPACK_GENERATOR TGZ)
find_program(OZ_DPKG dpkg-shlibdeps)
mark_as_advanced(OZ_DPKG)
if(OZ_DPKG)
  list(APPEND CPACK_GENERATOR DEB)
endif()
set(CPACK_STRIP_FILES ON)
set(CPACK_COMPONENTS_ALL program library)
set(CPACK_COMPONENTS_GROUPING ALL_COMPONENTS_IN_ONE)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_SECTION graphics)
set(CPACK_DEBIAN_PACKAGE_SUGGESTS ffmpeg)
include(CPack)
