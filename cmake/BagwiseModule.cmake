# One target per module: the link line states who may know whom, as tools/check_layers.py does.

add_library(bagwise_flags INTERFACE)
add_library(bagwise::flags ALIAS bagwise_flags)
# Same bits on every machine: no fused multiply-add unless the code asks for it.
target_compile_options(bagwise_flags INTERFACE -Wall -Wextra -Wconversion -Wshadow -ffp-contract=off)
if(CMAKE_CXX_COMPILER_ID MATCHES Clang)
  # What g++ leaves out of -Wconversion, and what is written for g++ alone.
  target_compile_options(bagwise_flags INTERFACE -Wno-sign-conversion -Wno-unknown-pragmas)
endif()
if(BAGWISE_WERROR)
  target_compile_options(bagwise_flags INTERFACE -Werror)
endif()
if(BAGWISE_SANITIZE)
  # Without the checks of every single pointer, which a fault or the address sanitizer shows as well: with them
  # the build takes twice as long.
  set(bagwise_unchecked null,alignment,object-size,vptr,pointer-overflow)
  add_compile_options(-fsanitize=${BAGWISE_SANITIZE} -fno-sanitize=${bagwise_unchecked}
                      -fno-omit-frame-pointer -fno-sanitize-recover=all)
  add_link_options(-fsanitize=${BAGWISE_SANITIZE})
endif()

# bagwise_batches(TARGET source...): with BAGWISE_UNITY, compiles sources that go together as one; only those of tests
# with TESTS, so that a change to the library compiles one file.
function(bagwise_batches target)
  if(NOT (BAGWISE_UNITY STREQUAL "ALL" OR (BAGWISE_UNITY STREQUAL "TESTS" AND target MATCHES "^test_")))
    return()
  endif()
  find_package(Python3 REQUIRED COMPONENTS Interpreter)
  list(TRANSFORM ARGN REPLACE "^([^/].*)$" "${CMAKE_CURRENT_SOURCE_DIR}/\\1" OUTPUT_VARIABLE sources)
  execute_process(COMMAND ${Python3_EXECUTABLE} -B ${PROJECT_SOURCE_DIR}/tools/batches.py 8 ${sources}
                  OUTPUT_VARIABLE batches OUTPUT_STRIP_TRAILING_WHITESPACE COMMAND_ERROR_IS_FATAL ANY)
  string(REPLACE ";" "\\;" batches "${batches}")
  string(REPLACE "\n" ";" batches "${batches}")
  set(number 0)
  foreach(batch ${batches})
    set_source_files_properties(${batch} PROPERTIES UNITY_GROUP "${number}")
    math(EXPR number "${number} + 1")
  endforeach()
  set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_MODE GROUP)
  # A source in a batch is a header to g++, which then warns of what is hidden in it.
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    target_compile_options(${target} PRIVATE -Wno-subobject-linkage)
  endif()
endfunction()

# bagwise_module(NAME PUBLIC module... PRIVATE library...)
# Builds every .cpp of src/bagwise/NAME into bagwise_NAME and every *_test.cpp into test_NAME.
function(bagwise_module name)
  cmake_parse_arguments(ARG "" "" "PUBLIC;PRIVATE" ${ARGN})
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${name}/*.cpp)
  set(tests ${sources})
  list(FILTER sources EXCLUDE REGEX "_test\\.cpp$")
  list(FILTER tests INCLUDE REGEX "_test\\.cpp$")

  add_library(bagwise_${name} STATIC ${sources})
  add_library(bagwise::${name} ALIAS bagwise_${name})
  set_target_properties(bagwise_${name} PROPERTIES EXPORT_NAME ${name})
  target_compile_features(bagwise_${name} PUBLIC cxx_std_20)
  target_include_directories(bagwise_${name} PUBLIC
    $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/src> $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
  target_link_libraries(bagwise_${name} PUBLIC ${ARG_PUBLIC} PRIVATE ${ARG_PRIVATE})
  # Compiled with our flags, not linked to them: the installed package does not know of them.
  target_compile_options(bagwise_${name} PRIVATE $<TARGET_PROPERTY:bagwise_flags,INTERFACE_COMPILE_OPTIONS>)
  if(BAGWISE_SANITIZE AND name STREQUAL "report")
    # Files and pages: nothing that takes time, and much that takes long to optimise.
    target_compile_options(bagwise_${name} PRIVATE -O0)
  endif()
  bagwise_batches(bagwise_${name} ${sources})
  install(TARGETS bagwise_${name} EXPORT bagwise-targets)

  if(BAGWISE_DEVELOPER AND tests)
    bagwise_test(test_${name} SOURCES ${tests} LINK bagwise::${name} ${ARG_PRIVATE})
  endif()
endfunction()

# bagwise_test(NAME SOURCES file... LINK library...)
function(bagwise_test name)
  cmake_parse_arguments(ARG "" "" "SOURCES;LINK" ${ARGN})
  add_executable(${name} ${ARG_SOURCES})
  target_include_directories(${name} PRIVATE ${PROJECT_SOURCE_DIR}/tests)
  target_link_libraries(${name} PRIVATE bagwise_catch_main bagwise::flags fmt::fmt ${ARG_LINK})
  # What is tested is optimised; the tests need not be, and compile in half the time.
  target_compile_options(${name} PRIVATE -O0)
  bagwise_batches(${name} ${ARG_SOURCES})
  # A name that ctest garbled matches no test, which Catch2 takes for success.
  catch_discover_tests(${name} TEST_PREFIX "${name}/"
    PROPERTIES TIMEOUT 600 FAIL_REGULAR_EXPRESSION "No test cases matched")
endfunction()
