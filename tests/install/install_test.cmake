# cmake -D SOURCE=... -D BUILD=... -D COMPILER=... -D VERSION=... -P install_test.cmake
#
# The installed package must stand on its own: no path of the build or the sources in it, no internal header,
# and a program of one's own builds against it with find_package(bagwise) and runs.

set(work ${BUILD}/install_test)
set(prefix ${work}/prefix)
file(REMOVE_RECURSE ${work})

function(run)
  execute_process(COMMAND ${ARGN} RESULT_VARIABLE status OUTPUT_VARIABLE out ERROR_VARIABLE err)
  if(NOT status EQUAL 0)
    list(JOIN ARGN " " command)
    message(FATAL_ERROR "${command}\nended with ${status}\n${out}${err}")
  endif()
  set(output "${out}" PARENT_SCOPE)
endfunction()

run(${CMAKE_COMMAND} --install ${BUILD} --prefix ${prefix})

file(GLOB_RECURSE package ${prefix}/*.cmake)
if(NOT package)
  message(FATAL_ERROR "no CMake package was installed below ${prefix}")
endif()
foreach(file ${package})
  file(READ ${file} text)
  # The prefix lies below the build folder, but an installed file must not even name that.
  foreach(path ${SOURCE} ${BUILD})
    string(FIND "${text}" "${path}" at)
    if(NOT at EQUAL -1)
      message(FATAL_ERROR "${file} names ${path}")
    endif()
  endforeach()
  if(text MATCHES "-Werror|bagwise::flags|bagwise_flags|-fsanitize")
    message(FATAL_ERROR "${file} hands our own warning flags to users: ${CMAKE_MATCH_0}")
  endif()
endforeach()

file(GLOB_RECURSE headers RELATIVE ${prefix}/include ${prefix}/include/*.h)
foreach(header ${headers})
  if(header MATCHES "/internal/" OR header MATCHES "_test")
    message(FATAL_ERROR "${header} is not for users, but it is installed")
  endif()
  # A public header must not need one that is not installed.
  file(STRINGS ${prefix}/include/${header} includes REGEX "^#include \"bagwise/")
  foreach(line ${includes})
    string(REGEX REPLACE "^#include \"([^\"]+)\".*" "\\1" included "${line}")
    if(NOT EXISTS ${prefix}/include/${included})
      message(FATAL_ERROR "${header} includes ${included}, which is not installed")
    endif()
  endforeach()
endforeach()

run(${CMAKE_COMMAND} -G Ninja -S ${SOURCE}/examples/cpp/first_fit -B ${work}/first_fit
    -D CMAKE_PREFIX_PATH=${prefix} -D CMAKE_CXX_COMPILER=${COMPILER} -D CMAKE_BUILD_TYPE=Release)
run(${CMAKE_COMMAND} --build ${work}/first_fit)
run(${work}/first_fit/first_fit)
set(expected "age 21: negative\nage 25: negative\n.*age 62: positive\nage 70: positive\n")
if(NOT output MATCHES "^${expected}$")
  message(FATAL_ERROR "first_fit printed\n${output}expected\n${expected}")
endif()

run(${prefix}/bin/bagwise --version)
if(NOT output MATCHES "${VERSION}")
  message(FATAL_ERROR "the installed bagwise --version printed \"${output}\", expected ${VERSION}")
endif()

file(REMOVE_RECURSE ${work})
