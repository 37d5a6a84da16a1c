# Tests of one run of a program each.
include_guard(GLOBAL)

# this_folder(): sets `folder`, such as 05-launch-tuning/tune, and the `number` of its chapter.
macro(this_folder)
    file(RELATIVE_PATH folder ${PROJECT_SOURCE_DIR} ${CMAKE_CURRENT_SOURCE_DIR})
    string(REGEX MATCH "^[0-9]+" number ${folder})
endmacro()

# expect_run(NAME test STATUS n [STDOUT re] [STDERR re] [ONE_LINE] COMMAND ...): a test of one run of a
# program, its exit status and what it says. See common/tests/expect.cmake.
function(expect_run)
    cmake_parse_arguments(PARSE_ARGV 0 arg "ONE_LINE" "NAME;STATUS;STDOUT;STDERR" "COMMAND;LABELS;ENVIRONMENT")
    add_test(NAME ${arg_NAME}
        COMMAND ${CMAKE_COMMAND} "-DSTATUS=${arg_STATUS}" "-DSTDOUT=${arg_STDOUT}"
                "-DSTDERR=${arg_STDERR}" "-DONE_LINE=${arg_ONE_LINE}"
                -P ${PROJECT_SOURCE_DIR}/common/tests/expect.cmake -- ${arg_COMMAND})
    set_tests_properties(${arg_NAME} PROPERTIES LABELS "${arg_LABELS}" ENVIRONMENT "${arg_ENVIRONMENT}")
    skip_if(${arg_NAME} "exit status 77")
endfunction()

# skip_if(test regex): the test is skipped where it says so, for want of a device; but where OpenCL is required, a
# test of it fails then: a mistake may have kept it from finding one.
function(skip_if test regex)
    get_test_property(${test} LABELS labels)
    if(NOT TUTORIAL_OPENCL STREQUAL "REQUIRED" OR NOT "opencl" IN_LIST labels)
        set_tests_properties(${test} PROPERTIES SKIP_REGULAR_EXPRESSION "${regex}")
    endif()
endfunction()

# expect_json(test definition LABELS l... COMMAND program argument... [CHECK option...]): what the program writes with
# --json is what common/report/schema.json defines by this name. See common/tests/outputs.py.
function(expect_json test definition)
    cmake_parse_arguments(PARSE_ARGV 2 arg "" "" "LABELS;COMMAND;CHECK")
    add_python_test(NAME ${test} WITH jsonschema LABELS ${arg_LABELS}
        COMMAND ${PROJECT_SOURCE_DIR}/common/tests/outputs.py ${CMAKE_CURRENT_BINARY_DIR}/outputs/${test} ${definition}
                ${arg_CHECK} -- ${arg_COMMAND})
endfunction()

# name_run(name arguments run): of a variant or a mode, such as "global --walk blocked", what its tests are
# called, such as global-walk-blocked, and the arguments that run it.
function(name_run name arguments run)
    string(REGEX REPLACE " +-*" "-" words "${run}")
    separate_arguments(list UNIX_COMMAND "--variant ${run}")
    set(${name} ${words} PARENT_SCOPE)
    set(${arguments} ${list} PARENT_SCOPE)
endfunction()

# add_case(name API arguments...): one more run of this folder's program, whose exit status is the verdict.
function(add_case name api)
    this_folder()
    string(REPLACE "/" "-" target ${folder}-${api})
    string(REPLACE "/" "." test ${folder}.${api}.${name})
    if(TARGET ${target})
        set(ask "")
        if("${ARGN}" MATCHES "2200M") # a program draws its pixels first, and asks for a device then
            set(ask sh -c [["$0" --list-devices > /dev/null && exec "$0" "$@"]])
        endif()
        add_test(NAME ${test} COMMAND ${ask} $<TARGET_FILE:${target}> ${ARGN})
        set_tests_properties(${test} PROPERTIES LABELS "chapter-${number};${api}" SKIP_RETURN_CODE 77)
        if(api STREQUAL "opencl" AND "${ARGN}" MATCHES "--repeat;1(;|$)")
            run_ahead(${test} ${ARGN})
        endif()
    endif()
endfunction()

# expect_refusals(api "name|arguments|regex"...): bad command lines of this folder's program.
function(expect_refusals api)
    this_folder()
    string(REPLACE "/" "-" target ${folder}-${api})
    string(REPLACE "/" "." prefix ${folder}.${api})
    if(NOT TARGET ${target})
        return()
    endif()
    foreach(bad IN LISTS ARGN)
        string(REGEX MATCH "^([^|]+)[|]([^|]+)[|](.*)$" _ "${bad}")
        set(name ${CMAKE_MATCH_1})
        set(message "${CMAKE_MATCH_3}")
        separate_arguments(arguments UNIX_COMMAND "${CMAKE_MATCH_2}")
        expect_run(NAME ${prefix}.refuses-${name} STATUS 2 STDERR "${message}" ONE_LINE
            LABELS chapter-${number} ${api} COMMAND $<TARGET_FILE:${target}> ${arguments})
    endforeach()
endfunction()

# expect_broken(variant INPUT arguments... STDERR regex): in both APIs the variant that is broken on
# purpose does not match on this input, and the report says what the expression asks for.
function(expect_broken variant)
    cmake_parse_arguments(PARSE_ARGV 1 arg "" "STDERR" "INPUT")
    this_folder()
    foreach(api opencl cuda)
        if(TARGET ${folder}-${api})
            expect_run(NAME ${folder}.${api}.${variant}.is-caught STATUS 1 STDERR "${arg_STDERR}"
                LABELS "chapter-${number}" ${api}
                COMMAND $<TARGET_FILE:${folder}-${api}> ${arg_INPUT} --variant ${variant} --repeat 1
                        --no-ceiling)
        endif()
    endforeach()
endfunction()

# The OpenCL and the CUDA program of this folder go through the same numbered steps, and call the same
# functions of common/ in each.
function(expect_same_steps)
    this_folder()
    string(REPLACE "/" "." prefix ${folder})
    add_test(NAME ${prefix}.same-steps COMMAND ${CMAKE_COMMAND}
        -DA=${CMAKE_CURRENT_SOURCE_DIR}/opencl.cpp -DB=${CMAKE_CURRENT_SOURCE_DIR}/cuda.cu
        -P ${PROJECT_SOURCE_DIR}/common/tests/same_steps.cmake)
    set_tests_properties(${prefix}.same-steps PROPERTIES LABELS "chapter-${number}")
endfunction()
