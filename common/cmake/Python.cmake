# Python, which makes some sources and runs some of the tests.
include_guard(GLOBAL)
# The system's own before another on PATH: the system's packages of what some tests import are for that one.
if(CMAKE_SYSTEM_NAME STREQUAL "Linux" AND NOT DEFINED Python3_ROOT_DIR)
    set(Python3_ROOT_DIR /usr)
endif()
find_package(Python3 3.9 REQUIRED COMPONENTS Interpreter)

# add_skipped_test(NAME reason label...): a test in place of those that cannot be there, so that ctest's summary names them.
function(add_skipped_test name reason)
    add_test(NAME ${name} COMMAND ${CMAKE_COMMAND} -E echo "skipped: ${reason}")
    set_tests_properties(${name} PROPERTIES LABELS "${ARGN}" SKIP_REGULAR_EXPRESSION "^skipped")
endfunction()

# add_python_test(NAME n LABELS l... COMMAND file argument...): a Python program as a test; -B: it leaves
# nothing in the sources. Skipped where the program or Python's own test runner says so.
function(add_python_test)
    cmake_parse_arguments(PARSE_ARGV 0 arg "" "NAME" "LABELS;COMMAND")
    add_test(NAME ${arg_NAME} COMMAND ${Python3_EXECUTABLE} -B ${arg_COMMAND})
    set_tests_properties(${arg_NAME} PROPERTIES LABELS "${arg_LABELS}" SKIP_RETURN_CODE 77
        SKIP_REGULAR_EXPRESSION "^skipped;OK \\(skipped=")
endfunction()
