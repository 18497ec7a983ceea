# One executable a node under lib/<package>, where `ros2 run` and launch look for it. The list is
# scripts/executables.txt, a line each: the executable's name and the module whose main() it calls. Beside them, for
# `ros2 run esar_ros esar`, and under bin, which a sourced setup file puts on the PATH, lies `esar`; pip makes its own.
#
# NODE_PYTHON is what the scripts start with. colcon takes the interpreter it configured with, so that
# a virtual environment over a ROS install is honoured; setup.py asks for the one on the PATH, because a
# wheel may be installed elsewhere than it was built.
set(NODE_PYTHON "" CACHE STRING "Interpreter line of the node scripts; empty: the Python of this build")

function(install_node_scripts)
  set(list "${CMAKE_CURRENT_SOURCE_DIR}/scripts/executables.txt")
  set(template "${CMAKE_CURRENT_SOURCE_DIR}/scripts/node.py.in")
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS "${list}" "${template}")
  if(NODE_PYTHON)
    set(INTERPRETER "${NODE_PYTHON}")
  else()
    set(INTERPRETER "${Python3_EXECUTABLE}")
  endif()
  file(STRINGS "${list}" lines REGEX "^[a-z]")
  foreach(line IN LISTS lines)
    string(REGEX MATCH "^([a-z0-9_]+) +([a-z0-9_.]+)$" matched "${line}")
    if(NOT matched)
      message(FATAL_ERROR "${list}: expected '<executable> <module>', got '${line}'")
    endif()
    set(MODULE "${CMAKE_MATCH_2}")
    set(script "${CMAKE_CURRENT_BINARY_DIR}/node_scripts/${CMAKE_MATCH_1}")
    configure_file("${template}" "${script}" @ONLY)
    install(PROGRAMS "${script}" DESTINATION "lib/${PROJECT_NAME}")
  endforeach()
  if(NOT NODE_PYTHON)
    set(script "${CMAKE_CURRENT_BINARY_DIR}/node_scripts/esar")
    configure_file("${CMAKE_CURRENT_SOURCE_DIR}/scripts/esar.py.in" "${script}" @ONLY)
    install(PROGRAMS "${script}" DESTINATION "lib/${PROJECT_NAME}")
    install(PROGRAMS "${script}" DESTINATION bin)
  endif()
endfunction()
