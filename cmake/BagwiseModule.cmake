# One target per module: the link line states who may know whom, as tools/check_layers.py does.

add_library(bagwise_flags INTERFACE)
add_library(bagwise::flags ALIAS bagwise_flags)
# Same bits on every machine: no fused multiply-add unless the code asks for it.
target_compile_options(bagwise_flags INTERFACE -Wall -Wextra -Wconversion -Wshadow -ffp-contract=off)
if(BAGWISE_WERROR)
  target_compile_options(bagwise_flags INTERFACE -Werror)
endif()
if(BAGWISE_SANITIZE)
  # Without the checks of every single pointer, which a fault or the address sanitizer shows as well: with them
  # the build takes twice as long.
  set(bagwise_unchecked null,alignment,object-size,vptr)
  add_compile_options(-fsanitize=${BAGWISE_SANITIZE} -fno-sanitize=${bagwise_unchecked}
                      -fno-omit-frame-pointer -fno-sanitize-recover=all)
  add_link_options(-fsanitize=${BAGWISE_SANITIZE})
endif()

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
  # A name that ctest garbled matches no test, which Catch2 takes for success.
  catch_discover_tests(${name} TEST_PREFIX "${name}/"
    PROPERTIES TIMEOUT 600 FAIL_REGULAR_EXPRESSION "No test cases matched")
endfunction()
