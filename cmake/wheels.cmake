# Injected by setup.py (CMAKE_PROJECT_INCLUDE) when building against the ROS wheels.
#
# Their exported targets name include directories of the machine that built them, which CMake refuses when
# absent. And the generated Python target names numpy's headers, which CMake refuses to export when the
# environment lies inside the checkout; they serve this build only.
function(mend_include_directories)
  get_property(imported DIRECTORY PROPERTY IMPORTED_TARGETS)
  get_property(own DIRECTORY PROPERTY BUILDSYSTEM_TARGETS)
  foreach(target IN LISTS imported own)
    get_target_property(directories ${target} INTERFACE_INCLUDE_DIRECTORIES)
    if(NOT directories)
      continue()
    endif()
    set(kept "")
    foreach(directory IN LISTS directories)
      if(directory MATCHES "\\$<")
        list(APPEND kept "${directory}")
      elseif(target IN_LIST own)
        list(APPEND kept "$<BUILD_INTERFACE:${directory}>")
      elseif(EXISTS "${directory}")
        list(APPEND kept "${directory}")
      endif()
    endforeach()
    set_target_properties(${target} PROPERTIES INTERFACE_INCLUDE_DIRECTORIES "${kept}")
  endforeach()
endfunction()
cmake_language(DEFER CALL mend_include_directories)
