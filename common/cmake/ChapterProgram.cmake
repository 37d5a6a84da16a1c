# One declarative call per program of a chapter:
#
#   add_chapter_program(opencl
#       API      OpenCL                # C++, OpenCL or CUDA
#       SOURCES  opencl.cpp
#       LIBRARIES chapter_05           # beside those in common/, where there are any
#       KERNELS  histogram.cl          # read at run time, from beside the program or from here
#       VARIANTS global subhist        # each becomes a row of the table; a test of an input or a launch runs all
#       MODES    "global --walk blocked" # variants with options that lead to kernels of their own
#       BROKEN   racy                  # broken on purpose: never part of `all`; expect_broken tests that it is caught
#       MAY_SKIP npp                   # of VARIANTS: those that may say that they cannot run here
#       SMALL_GROUPS uchar-bins        # of VARIANTS: 32 KiB of local memory are too little for a group of 320
#       FEWER_TESTS)                   # it runs other programs' kernels: a choice of the inputs is enough
#
# It makes the program <build>/<chapter>/<name>, enters it in the list that `./tutorial run` works
# through (write_program_list), and adds the tests: every variant on every input of
# TestInputs.cmake and, on a device, in every launch shape; the command line's errors; the JSON and PNG
# outputs and the counts; every kernel under Oclgrind or compute-sanitizer, which see races and memory errors; and
# drivers that behave as few do (FaultInjectingDriver.cmake), or are not there.
include_guard(GLOBAL)
include(TestInputs)
include(Expect)
include(RaceDetectors)
include(FaultInjectingDriver)
include(KernelsAhead)
include(Gallery)

# add_program(name API a SOURCES ... LIBRARIES ... KERNELS ...): the program <build>/<folder>/<name> of this
# folder, a chapter or one within a chapter, in the list that `./tutorial` works through. Sets in the
# caller: `program`, empty where it is not built; `prefix`, what the names of its tests begin with; `labels`.
function(add_program name)
    cmake_parse_arguments(PARSE_ARGV 1 arg "" "API" "SOURCES;LIBRARIES;KERNELS")
    file(RELATIVE_PATH folder ${PROJECT_SOURCE_DIR} ${CMAKE_CURRENT_SOURCE_DIR})
    string(REGEX MATCH "^([0-9]+)-[^/]*" chapter ${folder})
    # Not "c++", which ctest -L would read as a regular expression.
    string(TOLOWER ${arg_API} api_label)
    string(REPLACE "c++" "cpu" api_label ${api_label})
    set(labels "chapter-${CMAKE_MATCH_1};${api_label}")
    string(REPLACE "/" "." prefix "${folder}/${name}")
    string(REPLACE "/" "-" target "${folder}/${name}")
    set(programs programs)
    if(NOT folder STREQUAL chapter)
        set(programs workshops)
    endif()
    set(prefix ${prefix} PARENT_SCOPE)
    set(labels ${labels} PARENT_SCOPE)
    set(program "" PARENT_SCOPE)
    string(TOUPPER ${arg_API} api_upper)
    set(missing "${TUTORIAL_${api_upper}_MISSING}") # of C++ nothing is
    if(missing)
        set_property(GLOBAL APPEND PROPERTY TUTORIAL_PROGRAMS "${folder}\t${arg_API}\t-\t${missing}")
        # One test in place of all its tests, so that ctest's summary names what was not tested.
        add_test(NAME ${prefix}.not-built COMMAND ${CMAKE_COMMAND} -E echo
            "skipped: ${missing}")
        set_tests_properties(${prefix}.not-built PROPERTIES
            LABELS "${labels}" SKIP_REGULAR_EXPRESSION "^skipped")
        return()
    endif()

    foreach(kernel IN LISTS arg_KERNELS)
        if(NOT EXISTS ${CMAKE_CURRENT_SOURCE_DIR}/${kernel})
            message(FATAL_ERROR "${folder}/${name}: there is no kernel file ${kernel}")
        endif()
    endforeach()
    add_executable(${target} ${arg_SOURCES} ${arg_KERNELS})
    set_target_properties(${target} PROPERTIES OUTPUT_NAME ${name})
    target_compile_definitions(${target} PRIVATE CHAPTER_FOLDER="${PROJECT_SOURCE_DIR}/${chapter}")
    target_link_libraries(${target} PRIVATE tutor project_warnings ${arg_LIBRARIES})
    if(arg_API STREQUAL "OpenCL")
        target_link_libraries(${target} PRIVATE common_opencl)
    elseif(arg_API STREQUAL "CUDA")
        target_link_libraries(${target} PRIVATE common_cuda)
    endif()
    add_dependencies(${programs} ${target})
    set_property(GLOBAL APPEND PROPERTY TUTORIAL_PROGRAMS
        "${folder}\t${arg_API}\t$<TARGET_FILE:${target}>\t-")
    set(program $<TARGET_FILE:${target}> PARENT_SCOPE)
endfunction()

function(add_chapter_program name)
    cmake_parse_arguments(PARSE_ARGV 1 arg "FEWER_TESTS" "API"
        "SOURCES;LIBRARIES;KERNELS;VARIANTS;MODES;BROKEN;MAY_SKIP;SMALL_GROUPS")
    add_program(${name} API ${arg_API} SOURCES ${arg_SOURCES} LIBRARIES ${arg_LIBRARIES}
        KERNELS ${arg_KERNELS})
    if(NOT program OR NOT BUILD_TESTING)
        return()
    endif()
    string(REGEX MATCH "^[^.]+" chapter ${prefix})
    # Every variant on every input and in every launch, all in one process, for most of a small run is the start of
    # its device: the program's own exit status is the verdict, and it says which variant does not match.
    set(cases ${TUTORIAL_TEST_INPUTS})
    if(arg_FEWER_TESTS)
        list(FILTER cases INCLUDE REGEX "^(size-(0|1|257)|prime|constant-large|contention-40|landscape)[|]")
    elseif(NOT arg_API STREQUAL "C++")
        list(APPEND cases ${TUTORIAL_LAUNCHES})
    endif()
    set(once --repeat 1 --no-ceiling)
    if(NOT arg_API STREQUAL "C++") # the reason of a mismatch is asked for by hand, not forty times
        list(APPEND once --no-diagnosis)
    endif()
    set(skips "") # one that is skipped would go unnoticed among others that match
    if(NOT arg_MAY_SKIP)
        set(skips " skipped: ")
    endif()
    foreach(case IN LISTS cases)
        string(REGEX MATCH "^([^|]+)[|](.*)$" _ "${case}")
        set(test ${prefix}.${CMAKE_MATCH_1})
        separate_arguments(arguments UNIX_COMMAND "${CMAKE_MATCH_2}")
        add_test(NAME ${test} COMMAND ${program} ${arguments} ${once})
        set_tests_properties(${test} PROPERTIES LABELS "${labels}" SKIP_RETURN_CODE 77)
        if(case IN_LIST TUTORIAL_TEST_INPUTS) # not every device has room for every launch
            set_tests_properties(${test} PROPERTIES FAIL_REGULAR_EXPRESSION "${skips}")
        elseif(arg_API STREQUAL "OpenCL") # for each size of a group kernels are compiled anew
            run_ahead(${test} ${arguments} ${once})
        endif()
    endforeach()
    list(FILTER cases INCLUDE REGEX
        "^(size-(0|1|15|16|17|257)|prime|contention-40|ramp|groups-of-(1|odd-size)|one-item|more-groups-than-work)[|]")
    foreach(mode IN LISTS arg_MODES)
        name_run(variant run_arguments "${mode}")
        foreach(case IN LISTS cases)
            string(REGEX MATCH "^([^|]+)[|](.*)$" _ "${case}")
            set(test ${prefix}.${variant}.${CMAKE_MATCH_1})
            separate_arguments(arguments UNIX_COMMAND "${CMAKE_MATCH_2}")
            add_test(NAME ${test} COMMAND ${program} ${arguments} ${run_arguments} ${once})
            set_tests_properties(${test} PROPERTIES LABELS "${labels}" SKIP_RETURN_CODE 77)
            if(arg_API STREQUAL "OpenCL")
                run_ahead(${test} ${arguments} ${run_arguments} ${once})
            endif()
        endforeach()
    endforeach()
    set(runs ${arg_VARIANTS} ${arg_MODES})
    if(NOT arg_API STREQUAL "C++")
        expect_run(NAME ${prefix}.refuses-too-large-groups STATUS 2
            STDERR "(work-groups of 1048576 work-items|blocks of 1048576 threads): this device" ONE_LINE LABELS ${labels}
            COMMAND ${program} --group-size 1048576 --random 100)
    endif()
    if(arg_API STREQUAL "OpenCL")
        add_oclgrind_tests(${prefix} ${program} "${runs}" "${arg_SMALL_GROUPS}" "${labels}")
        add_strange_tests(${prefix} ${program} "${arg_VARIANTS}" "${labels}")
    endif()

    if(arg_API STREQUAL "CUDA")
        # More pixels than a signed 32-bit index reaches. On a CPU this would take minutes.
        add_case(more-than-2-31-pixels cuda --random 2200M --repeat 1 --no-ceiling)
        set_tests_properties(${prefix}.more-than-2-31-pixels PROPERTIES
            LABELS "${labels};large" RUN_SERIAL ON TIMEOUT 600)
        # Why there is nothing to run on: with the driver of common/tests/gpu_driver.cpp, GPU or not.
        foreach(driver "none|0|there is no NVIDIA driver"
                "old|11080|the NVIDIA driver is one for CUDA 11.8, too old for a program built with CUDA [0-9]+.[0-9]+"
                "hidden|99000|CUDA_VISIBLE_DEVICES='' leaves none")
            string(REGEX MATCH "^([^|]+)[|]([^|]+)[|](.*)$" _ "${driver}")
            expect_run(NAME ${prefix}.driver-${CMAKE_MATCH_1} STATUS 77 ONE_LINE LABELS ${labels}
                STDERR "cuda: no CUDA device: ${CMAKE_MATCH_3}\n$" COMMAND ${program} --random 1K
                ENVIRONMENT CUDA_VISIBLE_DEVICES= GPU_DRIVER_VERSION=${CMAKE_MATCH_2}
                            LD_LIBRARY_PATH=$<TARGET_FILE_DIR:gpu_driver>)
        endforeach()
        set(ours ${runs})
        list(REMOVE_ITEM ours ${arg_MAY_SKIP} "")
        add_sanitizer_tests(${prefix} ${program} "${ours}" "${labels}")
    endif()

    # `all` runs exactly the variants declared here, so that no kernel goes untested.
    set(rows "")
    foreach(variant IN LISTS arg_VARIANTS)
        if(variant IN_LIST arg_MAY_SKIP)
            string(APPEND rows "${variant} [^\n]* (match|skipped[^\n]*)\n")
        else()
            string(APPEND rows "${variant} [^\n]* match\n")
        endif()
    endforeach()
    expect_run(NAME ${prefix}.all STATUS 0 STDOUT "-\n${rows}$" LABELS ${labels}
        COMMAND ${program} --repeat 2)
    list(JOIN arg_VARIANTS ", " valid)
    if(arg_BROKEN)
        list(JOIN arg_BROKEN ", " broken)
        string(APPEND valid " and, broken on purpose, ${broken}")
    endif()
    expect_run(NAME ${prefix}.valid-variants STATUS 2 STDERR "it has ${valid}\n" ONE_LINE
        LABELS ${labels} COMMAND ${program} --variant nosuch)
    expect_refusals(${name} ${TUTORIAL_BAD_COMMAND_LINES})
    # A result that is lost is no success, and progress that nobody reads is no failure.
    if(EXISTS /dev/full)
        set(short --random 1K --repeat 1 --no-ceiling)
        expect_run(NAME ${prefix}.lost-output STATUS 2 LABELS ${labels}
            STDERR "cannot write standard output: No space left on device\n$"
            COMMAND sh -c [["$@" > /dev/full]] sh ${program} ${short})
        expect_run(NAME ${prefix}.lost-progress STATUS 0 LABELS ${labels}
            COMMAND sh -c [["$@" 2>&-]] sh ${program} ${short})
    endif()
    expect_json(${prefix}.outputs run LABELS ${labels} COMMAND ${program}
        CHECK --chapter ${chapter} --variants ${arg_VARIANTS} --may-skip ${arg_MAY_SKIP})
endfunction()

# All programs, in order: folder, API, program, and why it was not built, by tabs.
add_custom_target(programs)
add_custom_target(workshops) # those in a folder of a chapter: not for `./tutorial run`
function(write_program_list)
    get_property(programs GLOBAL PROPERTY TUTORIAL_PROGRAMS)
    list(JOIN programs "\n" text)
    file(GENERATE OUTPUT ${CMAKE_BINARY_DIR}/programs.tsv CONTENT "${text}\n")
endfunction()
