# SPDX-License-Identifier: Apache-2.0
# The package that artists install: cmake --install build --component houdini --prefix DIR, or ./dev
# package. It holds the files that every Houdini shares (help, icons, shelf, networks); the plug-in
# itself goes to DIR/<system>-<version>/dso, one folder for each Houdini.
# packages/ooze.json stands in the tree: the tree can be moved
set(OOZE_PLACE "$HOUDINI_PACKAGE_PATH/..")
configure_file("${CMAKE_CURRENT_LIST_DIR}/package/packages/ooze.json.in"
    "${PROJECT_BINARY_DIR}/package/ooze.json" @ONLY)

set(oz_package COMPONENT houdini EXCLUDE_FROM_ALL)
install(FILES "${PROJECT_BINARY_DIR}/package/ooze.json" DESTINATION packages ${oz_package})
install(DIRECTORY "${CMAKE_CURRENT_LIST_DIR}/package/toolbar"
    "${CMAKE_CURRENT_LIST_DIR}/package/config" DESTINATION . ${oz_package})
file(GLOB oz_networks CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/examples/houdini/*.py")
install(FILES ${oz_networks} DESTINATION scripts/python ${oz_package})
install(FILES "${PROJECT_SOURCE_DIR}/otls/build_assets.py"
    "${PROJECT_SOURCE_DIR}/otls/build_recipes.py" DESTINATION otls ${oz_package})
install(DIRECTORY "${PROJECT_SOURCE_DIR}/otls/" DESTINATION otls ${oz_package} FILES_MATCHING
    PATTERN "*.hda*")
install(DIRECTORY "${PROJECT_SOURCE_DIR}/examples/farm/houdini/" DESTINATION farm
    USE_SOURCE_PERMISSIONS ${oz_package} PATTERN "__pycache__" EXCLUDE)
install(FILES "${PROJECT_SOURCE_DIR}/LICENSE" DESTINATION . ${oz_package})

# Help is made when it is installed, by the program itself and from the list that the nodes' dialogs
# are made of.
find_program(OZ_PYTHON3 NAMES python3 python)
mark_as_advanced(OZ_PYTHON3)
if(TARGET ooze AND OZ_PYTHON3 AND OZ_JANSSON_LIBRARY AND NOT CMAKE_CROSSCOMPILING)
  install(CODE "
    execute_process(COMMAND \"${OZ_PYTHON3}\" -B \"${CMAKE_CURRENT_LIST_DIR}/help/make_help.py\"
                            \"$<TARGET_FILE:ooze>\"
                            \"\$ENV{DESTDIR}\${CMAKE_INSTALL_PREFIX}/help\" RESULT_VARIABLE oz_bad)
    if(oz_bad)
      message(FATAL_ERROR \"the help pages could not be made\")
    endif()
    execute_process(COMMAND \"$<TARGET_FILE:ooze>\" schema presets --json
        OUTPUT_FILE \"\$ENV{DESTDIR}\${CMAKE_INSTALL_PREFIX}/scripts/python/ooze_presets.json\"
        RESULT_VARIABLE oz_bad)
    if(oz_bad)
      message(FATAL_ERROR \"the presets could not be written\")
    endif()" COMPONENT houdini EXCLUDE_FROM_ALL)
endif()
