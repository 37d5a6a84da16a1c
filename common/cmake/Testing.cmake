# CTest, and how many seconds a test may take: a kernel that hangs must not hold up the others for the 25
# minutes that CTest would give it. A test that needs more says so with TIMEOUT, and with COST, so that CTest starts it
# before the others even where it has not run yet: the last one should be short. The presets for tests
# name the same number, because a newer CTest that is called with one of them passes over this one.
set(DART_TESTING_TIMEOUT 120)
include(CTest)

# All tests share one cache of PoCL's compiled kernels, which goes with the build.
file(CONFIGURE OUTPUT ${CMAKE_BINARY_DIR}/pocl-cache.cmake @ONLY CONTENT [[
if(NOT DEFINED ENV{POCL_CACHE_DIR})
    set(ENV{POCL_CACHE_DIR} "@CMAKE_BINARY_DIR@/pocl-cache")
endif()
]])
set_property(DIRECTORY APPEND PROPERTY TEST_INCLUDE_FILES ${CMAKE_BINARY_DIR}/pocl-cache.cmake)

# Optional detectors, for the tests in Python (common/tests/programs.py).
find_program(OCLGRIND oclgrind)
find_program(COMPUTE_SANITIZER compute-sanitizer HINTS /usr/local/cuda/bin)

# discover_tests(target name labels [strategy that may skip...]): the tests of a chapter's program, such as
# 03-local-atomics/opencl, are found whenever it is built. Before that there is one test, which says that it was not.
function(discover_tests target name labels)
    string(REPLACE "/" "." prefix ${name})
    set(found ${CMAKE_CURRENT_BINARY_DIR}/${prefix}.tests.cmake)
    add_custom_command(TARGET ${target} POST_BUILD VERBATIM
        COMMAND ${Python3_EXECUTABLE} -B ${PROJECT_SOURCE_DIR}/common/tests/discover.py ${found} ${Python3_EXECUTABLE}
                ${CMAKE_BINARY_DIR} ${name} "${labels}" $<TARGET_FILE:${target}> ${ARGN})
    set(include ${CMAKE_CURRENT_BINARY_DIR}/${prefix}.include.cmake)
    file(CONFIGURE OUTPUT ${include} @ONLY CONTENT [[
if(EXISTS "@found@")
    include("@found@")
else()
    add_test("@prefix@.not-built" NOT_BUILT)
endif()
]])
    set_property(DIRECTORY APPEND PROPERTY TEST_INCLUDE_FILES ${include})
endfunction()

# add_python_tests(NAME prefix FILE file LABELS l... [TIMEOUT s] [ENVIRONMENT e...]): a file of tests in Python,
# one test for each of its classes, which are called PREFIX.Class. A class whose name begins with OpenCL or Cuda gets
# that label, too.
function(add_python_tests)
    cmake_parse_arguments(PARSE_ARGV 0 arg "" "NAME;FILE;TIMEOUT" "LABELS;ENVIRONMENT")
    cmake_path(ABSOLUTE_PATH arg_FILE)
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${arg_FILE})
    file(STRINGS ${arg_FILE} classes REGEX "^class [A-Za-z]+\\(([A-Za-z]+, )?Test\\)")
    foreach(class IN LISTS classes)
        string(REGEX REPLACE "^class ([A-Za-z]+).*" "\\1" class ${class})
        string(REGEX MATCH "^(OpenCL|Cuda)" api ${class})
        string(TOLOWER "${api}" api)
        add_python_test(NAME ${arg_NAME}.${class} LABELS ${arg_LABELS} ${api}
            COMMAND ${arg_FILE} --build ${CMAKE_BINARY_DIR} ${class})
        # Skipped where all of its tests are, which its exit status tells.
        set_tests_properties(${arg_NAME}.${class} PROPERTIES ENVIRONMENT "${arg_ENVIRONMENT}"
            SKIP_REGULAR_EXPRESSION "^skipped: ")
        if(arg_TIMEOUT)
            set_tests_properties(${arg_NAME}.${class} PROPERTIES TIMEOUT ${arg_TIMEOUT} COST 10)
        endif()
    endforeach()
endfunction()

# add_gtests(target PREFIX prefix LABELS l... SOURCES file... [ALONE suite]): a test for each suite of GoogleTest in these
# files; of the suite ALONE each test by itself, in a process of its own.
function(add_gtests target)
    cmake_parse_arguments(PARSE_ARGV 1 arg "" "PREFIX;ALONE" "LABELS;SOURCES")
    foreach(source IN LISTS arg_SOURCES)
        cmake_path(ABSOLUTE_PATH source)
        set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${source})
        file(STRINGS ${source} lines REGEX "^TEST(_F|_P)?\\([A-Za-z0-9]+,")
        list(TRANSFORM lines REPLACE "^TEST[_FP]*\\((${arg_ALONE}), *([A-Za-z0-9]+).*" "\\1.\\2")
        list(TRANSFORM lines REPLACE "^TEST[_FP]*\\(([A-Za-z0-9]+),.*" "\\1.*")
        list(APPEND suites ${lines})
    endforeach()
    list(REMOVE_DUPLICATES suites)
    # It says "PASSED 0 tests" where all of them fail, too.
    set(all_skipped "\\[  PASSED  \\] 0 tests\\.\n\\[  SKIPPED \\] [^\n]*\n(\\[  SKIPPED \\] [^\n]*\n)+$")
    foreach(suite IN LISTS suites)
        string(REPLACE ".*" "" name ${suite})
        add_test(NAME ${arg_PREFIX}.${name} COMMAND ${target} "--gtest_filter=${suite}:*/${suite}")
        set_tests_properties(${arg_PREFIX}.${name} PROPERTIES LABELS "${arg_LABELS}"
            SKIP_REGULAR_EXPRESSION "${all_skipped}" FAIL_REGULAR_EXPRESSION "Running 0 tests")
    endforeach()
endfunction()

# unit_test(target library): tests/TARGET.cpp of this folder, of what a library has without a device.
function(unit_test target library)
    this_folder()
    string(REPLACE "/" "." prefix ${folder})
    set(source tests/${target}.cpp)
    add_executable(${target} ${source})
    target_link_libraries(${target} PRIVATE ${library} tests_support GTest::gtest_main project_warnings)
    add_gtests(${target} PREFIX ${prefix} LABELS chapter-${number} SOURCES ${source})
endfunction()
