# Tests under the tools that find races and memory errors: Oclgrind in OpenCL, compute-sanitizer in CUDA.
include_guard(GLOBAL)

# Every kernel of an OpenCL program in Oclgrind, a simulator that reports data races, uninitialised
# memory, accesses out of bounds, divergent barriers and misuse of the API. It is slow, so the
# picture and the launch are small. Its exit status is the program's: its text is what tells. It does
# not notice that clEnqueueFillBuffer initialises a buffer, so what it says of uninitialised *global*
# memory is passed over; the poison pattern watches over that.
# Once the groups are larger than the number of bins, and no multiple of it: a barrier inside
# `if (item < 256)` is uneven there alone. And there are fewer pixels than work-items, or an early
# `return` before a barrier would not show. What has no room for such groups gets groups of 96.
find_program(OCLGRIND oclgrind)
set(TUTORIAL_OCLGRIND_FINDS
    "data race at|Uninitialized value [a-z ]*local memory|Controlflow depends on uninit|Invalid (read|write)|divergence detected|OpenCL runtime error|OCLGRIND FATAL|does not match|nothing to run it on")
function(add_oclgrind_tests prefix program runs small_groups labels)
    foreach(run IN LISTS runs)
        name_run(variant run_arguments "${run}")
        set(large 320)
        if(variant IN_LIST small_groups)
            set(large 96)
        endif()
        foreach(input "1000|64|--random 1000 --groups 3" "64x64|64|--random 4K --contention 40 --groups 3"
                "empty|64|--random 0 --groups 3" "groups-of-${large}|${large}|--random 150 --groups 2")
            string(REGEX MATCH "^([^|]+)[|]([^|]+)[|](.*)$" _ "${input}")
            set(test ${prefix}.${variant}.oclgrind-${CMAKE_MATCH_1})
            set(group_size ${CMAKE_MATCH_2})
            separate_arguments(arguments UNIX_COMMAND "${CMAKE_MATCH_3}")
            if(NOT OCLGRIND OR TUTORIAL_SANITIZE) # both want to be loaded first
                set(why "no Oclgrind (package oclgrind)")
                if(TUTORIAL_SANITIZE)
                    set(why "a build with sanitizers")
                endif()
                add_test(NAME ${test} COMMAND ${CMAKE_COMMAND} -E echo "skipped: ${why}")
                set_tests_properties(${test} PROPERTIES SKIP_REGULAR_EXPRESSION "^skipped")
            else()
                add_test(NAME ${test} COMMAND ${OCLGRIND} --data-races --uninitialized --check-api
                    --max-errors 10000 ${program} ${arguments} ${run_arguments} --repeat 1
                    --no-ceiling --device Oclgrind --group-size ${group_size})
                set_tests_properties(${test} PROPERTIES
                    FAIL_REGULAR_EXPRESSION "${TUTORIAL_OCLGRIND_FINDS}")
            endif()
            set_tests_properties(${test} PROPERTIES LABELS "${labels};races")
        endforeach()
    endforeach()
endfunction()

# expect_oclgrind_race(name run): a variant or a mode that races on purpose is caught: the race detector is
# seen to work.
function(expect_oclgrind_race name run)
    if(OCLGRIND AND NOT TUTORIAL_OPENCL_MISSING AND NOT TUTORIAL_SANITIZE)
        this_folder()
        name_run(variant run_arguments "${run}")
        set(test ${folder}.${name}.${variant}.oclgrind-catches)
        add_test(NAME ${test} COMMAND ${OCLGRIND} --data-races
            --max-errors 1 $<TARGET_FILE:${folder}-${name}> --random 1000 ${run_arguments} --repeat 1
            --no-ceiling --device Oclgrind --group-size 64 --groups 3)
        set_tests_properties(${test} PROPERTIES
            PASS_REGULAR_EXPRESSION "data race at.*of histogram.cl:" LABELS "chapter-${number};opencl;races")
    endif()
endfunction()

# expect_oclgrind_sees(mistake VARIANT v REPLACE text BY text SAYS regex): a mistake that is planted into
# this chapter's histogram.cl, in a copy, is found in the launch in which its kernels are tested.
function(expect_oclgrind_sees mistake)
    cmake_parse_arguments(PARSE_ARGV 1 arg "" "VARIANT;REPLACE;BY;SAYS" "")
    this_folder()
    if(OCLGRIND AND NOT TUTORIAL_OPENCL_MISSING AND NOT TUTORIAL_SANITIZE)
        set(test ${folder}.opencl.oclgrind-sees-${mistake})
        add_test(NAME ${test} COMMAND ${CMAKE_COMMAND} -DOCLGRIND=${OCLGRIND}
            -DPROGRAM=$<TARGET_FILE:${folder}-opencl> -DKERNELS=${CMAKE_CURRENT_SOURCE_DIR}/histogram.cl
            -DFOLDER=${CMAKE_CURRENT_BINARY_DIR}/planted-${mistake} -DVARIANT=${arg_VARIANT}
            "-DREPLACE=${arg_REPLACE}" "-DBY=${arg_BY}" "-DSAYS=${arg_SAYS}"
            -P ${PROJECT_SOURCE_DIR}/common/tests/planted.cmake)
        set_tests_properties(${test} PROPERTIES LABELS "chapter-${number};opencl;races")
    endif()
endfunction()

# Every kernel of a CUDA program under compute-sanitizer: accesses out of bounds, races in shared
# memory, uninitialised memory, divergent barriers. It does not see races in global memory.
find_program(COMPUTE_SANITIZER compute-sanitizer HINTS ${CUDAToolkit_BIN_DIR})
function(add_sanitizer_tests prefix program runs labels)
    if(NOT COMPUTE_SANITIZER)
        return()
    endif()
    foreach(run IN LISTS runs)
        name_run(variant run_arguments "${run}")
        foreach(tool memcheck racecheck initcheck synccheck)
            set(test ${prefix}.${variant}.${tool})
            add_test(NAME ${test} COMMAND ${COMPUTE_SANITIZER} --tool ${tool} --error-exitcode 1
                ${program} --random 100003 --contention 40 ${run_arguments} --repeat 1 --no-ceiling)
            set_tests_properties(${test} PROPERTIES LABELS "${labels};sanitizer" TIMEOUT 600
                SKIP_REGULAR_EXPRESSION "no CUDA device" FAIL_REGULAR_EXPRESSION
                "ERROR SUMMARY: [1-9];hazards displayed \\([1-9]")
        endforeach()
    endforeach()
endfunction()
