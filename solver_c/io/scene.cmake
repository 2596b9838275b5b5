# Scenes and runs, as a part of ooze_io, where Jansson is found. Presets and the list of keys need nothing.
target_sources(ooze_io PRIVATE presets.c scene_words.c nodes.c nodes_dialog.c fill.c fill_inside.c fill_shape.c pose.c)
find_path(OZ_JANSSON_INCLUDE jansson.h)
find_library(OZ_JANSSON_LIBRARY jansson)
mark_as_advanced(OZ_JANSSON_INCLUDE OZ_JANSSON_LIBRARY)
if(OZ_JANSSON_INCLUDE AND OZ_JANSSON_LIBRARY)
  target_sources(ooze_io PRIVATE
    scene.c scene_json.c scene_read.c scene_parts.c scene_materials.c scene_bodies.c scene_shape.c scene_check.c scene_models.c scene_state.c scene_build.c scene_estimate.c
    scene_picture.c scene_shown.c fill_solid.c session.c session_os.c session_files.c session_resume.c session_watch.c session_deform.c)
  target_include_directories(ooze_io SYSTEM PRIVATE "${OZ_JANSSON_INCLUDE}")
  target_link_libraries(ooze_io PUBLIC "${OZ_JANSSON_LIBRARY}")
  target_compile_definitions(ooze_io PUBLIC OOZE_HAVE_SCENE)
  message(STATUS "scenes: Jansson ON")
else()
  message(STATUS "scenes: Jansson not found, no scene files")
endif()
