# One declarative call per program of a chapter:
#
#   add_chapter_program(opencl
#       API      OpenCL                # C++, OpenCL or CUDA
#       SOURCES  opencl.cpp
#       LIBRARIES chapter_05           # beside those in common/, where there are any
#       KERNELS  histogram.cl          # read at run time, from beside the program or from here
#       VARIANTS global subhist        # each becomes a row of the table and a set of tests
#       MODES    "global --walk blocked" # variants with options that lead to kernels of their own
#       BROKEN   racy                  # broken on purpose: known to the program, never part of `all`
#       MAY_SKIP npp                   # of VARIANTS: those that may say that they cannot run here
#       SMALL_GROUPS uchar-bins        # of VARIANTS: those that 32 KiB of local memory allow no group of 320
#       FEWER_TESTS)                   # it runs other programs' kernels: a choice of the inputs is enough
#
# It makes the program <build>/<chapter>/<name>, enters it in the list that `./tutorial run` works
# through (write_program_list), and adds the tests: every variant on every input of
# the list below and, on a device, in every launch shape; the command line's errors; the JSON and PNG
# outputs; and, for OpenCL, every kernel under Oclgrind, which sees races and memory errors.
include_guard(GLOBAL)

# name | arguments. Sizes around every unit a kernel may work in, every kind of distribution, once more
# pixels of one value than a float can count exactly (2^24), and rows that nothing divides: the colour
# picture is 1021 wide, where generated rows and the sample's are as long as their pitch.
set(TUTORIAL_TEST_INPUTS
    "size-0|--random 0"     "size-1|--random 1"     "size-2|--random 2"     "size-3|--random 3"
    "size-15|--random 15"   "size-16|--random 16"   "size-17|--random 17"
    "size-255|--random 255" "size-256|--random 256" "size-257|--random 257"
    "prime|--random 1048573"
    "constant-0|--constant 0 --random 100003"
    "constant-127|--constant 127 --random 100003"
    "constant-255|--constant 255 --random 100003"
    "constant-large|--constant 127 --random 17M"
    "two-values|--random 300007 --values 2 --seed 2"
    "four-values|--random 300007 --values 4 --seed 3"
    "ramp|--ramp --random 70001"
    "contention-10|--random 300007 --contention 10"
    "contention-40|--random 300007 --contention 40"
    "contention-90|--random 300007 --contention 90"
    "landscape|\"${PROJECT_SOURCE_DIR}/images/landscape.bmp\""
    "tiled|\"${PROJECT_SOURCE_DIR}/images/landscape.bmp\" --tile 1000003"
    "colour|\"${PROJECT_SOURCE_DIR}/images/colour.bmp\""
    "one-pixel|\"${PROJECT_SOURCE_DIR}/images/one-pixel.bmp\""
    "one-column|\"${PROJECT_SOURCE_DIR}/images/one-column.bmp\""
    "nearly-constant|\"${PROJECT_SOURCE_DIR}/images/nearly-constant.bmp\"")

# Launch shapes of the device programs, on a size that nothing divides: groups of each size, one group
# for everything, and many more groups than there is work.
set(TUTORIAL_LAUNCHES
    "groups-of-1|--group-size 1 --groups 64"  "groups-of-32|--group-size 32"
    "groups-of-64|--group-size 64"            "groups-of-128|--group-size 128"
    "groups-of-256|--group-size 256"          "groups-of-512|--group-size 512"
    "groups-of-1024|--group-size 1024"        "groups-of-odd-size|--group-size 96 --groups 7"
    "one-group|--groups 1"                    "one-item|--group-size 1 --groups 1"
    "one-large-group|--group-size 1024 --groups 1"
    "more-groups-than-work|--groups 5000")
list(TRANSFORM TUTORIAL_LAUNCHES REPLACE "[|]" "|--random 100003 ")

# name | arguments | what the one line on standard error must match
set(TUTORIAL_BAD_COMMAND_LINES
    "unknown-option|--nosuch|nosuch"
    "missing-file|nosuch.bmp|nosuch.bmp: .*[Nn]o such file"
    "text-file|\"${PROJECT_SOURCE_DIR}/common/tests/text.bmp\"|text.bmp: not a picture"
    "unknown-variant|--variant nosuch|unknown variant 'nosuch'"
    "repeat-0|--repeat 0|--repeat"
    "negative-random|--random -5|--random"
    "unknown-suffix|--random 100Q|100Q"
    "too-many-pixels|--random 5G|32-bit"
    "unwritable-json|--json /nosuch/folder/out.json|/nosuch/folder"
    "unwritable-plot|--plot /nosuch/folder/out.png|/nosuch/folder"
    "unwritable-counts|--counts /nosuch/folder/out.csv|/nosuch/folder"
    "unknown-device|--device nosuch-device|nosuch-device")

# expect_run(NAME test STATUS n [STDOUT re] [STDERR re] [ONE_LINE] COMMAND ...): a test of one run of a
# program, its exit status and what it says. See common/tests/expect.cmake.
function(expect_run)
    cmake_parse_arguments(PARSE_ARGV 0 arg "ONE_LINE" "NAME;STATUS;STDOUT;STDERR" "COMMAND;LABELS;ENVIRONMENT")
    add_test(NAME ${arg_NAME}
        COMMAND ${CMAKE_COMMAND} "-DSTATUS=${arg_STATUS}" "-DSTDOUT=${arg_STDOUT}"
                "-DSTDERR=${arg_STDERR}" "-DONE_LINE=${arg_ONE_LINE}"
                -P ${PROJECT_SOURCE_DIR}/common/tests/expect.cmake -- ${arg_COMMAND})
    set_tests_properties(${arg_NAME} PROPERTIES LABELS "${arg_LABELS}" SKIP_REGULAR_EXPRESSION
        "exit status 77" ENVIRONMENT "${arg_ENVIRONMENT}")
endfunction()

# name_run(name arguments run): of a variant or a mode, such as "global --walk blocked", what its tests are
# called, such as global-walk-blocked, and the arguments that run it.
function(name_run name arguments run)
    string(REGEX REPLACE " +-*" "-" words "${run}")
    separate_arguments(list UNIX_COMMAND "--variant ${run}")
    set(${name} ${words} PARENT_SCOPE)
    set(${arguments} ${list} PARENT_SCOPE)
endfunction()

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
            if(NOT OCLGRIND OR TUTORIAL_SANITIZE) # which want to be loaded first, both of them
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
    if(OCLGRIND AND NOT TUTORIAL_SANITIZE)
        get_filename_component(chapter ${CMAKE_CURRENT_SOURCE_DIR} NAME)
        string(REGEX MATCH "^[0-9]+" number ${chapter})
        name_run(variant run_arguments "${run}")
        set(test ${chapter}.${name}.${variant}.oclgrind-catches)
        add_test(NAME ${test} COMMAND ${OCLGRIND} --data-races
            --max-errors 1 $<TARGET_FILE:${chapter}-${name}> --random 1000 ${run_arguments} --repeat 1
            --no-ceiling --device Oclgrind --group-size 64 --groups 3)
        set_tests_properties(${test} PROPERTIES
            PASS_REGULAR_EXPRESSION "data race at.*of histogram.cl:" LABELS "chapter-${number};opencl;races")
    endif()
endfunction()

# expect_oclgrind_sees(mistake VARIANT v REPLACE text BY text SAYS regex): a mistake that is planted into
# this chapter's histogram.cl, in a copy, is found in the launch in which its kernels are tested.
function(expect_oclgrind_sees mistake)
    cmake_parse_arguments(PARSE_ARGV 1 arg "" "VARIANT;REPLACE;BY;SAYS" "")
    get_filename_component(chapter ${CMAKE_CURRENT_SOURCE_DIR} NAME)
    string(REGEX MATCH "^[0-9]+" number ${chapter})
    if(OCLGRIND AND NOT TUTORIAL_SANITIZE)
        set(test ${chapter}.opencl.oclgrind-sees-${mistake})
        add_test(NAME ${test} COMMAND ${CMAKE_COMMAND} -DOCLGRIND=${OCLGRIND}
            -DPROGRAM=$<TARGET_FILE:${chapter}-opencl> -DKERNELS=${CMAKE_CURRENT_SOURCE_DIR}/histogram.cl
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

# add_case(name API arguments...): one more run of this folder's program, whose exit status is the verdict.
function(add_case name api)
    file(RELATIVE_PATH folder ${PROJECT_SOURCE_DIR} ${CMAKE_CURRENT_SOURCE_DIR})
    string(REGEX MATCH "^[0-9]+" number ${folder})
    string(REPLACE "/" "-" target ${folder}-${api})
    string(REPLACE "/" "." test ${folder}.${api}.${name})
    if(TARGET ${target})
        set(ask "")
        if("${ARGN}" MATCHES "2200M") # a program draws its pixels first, and asks for a device then
            set(ask sh -c [["$0" --list-devices > /dev/null && exec "$0" "$@"]])
        endif()
        add_test(NAME ${test} COMMAND ${ask} $<TARGET_FILE:${target}> ${ARGN})
        set_tests_properties(${test} PROPERTIES LABELS "chapter-${number};${api}" SKIP_RETURN_CODE 77)
    endif()
endfunction()

# expect_refusals(api "name|arguments|regex"...): bad command lines of this folder's program.
function(expect_refusals api)
    file(RELATIVE_PATH folder ${PROJECT_SOURCE_DIR} ${CMAKE_CURRENT_SOURCE_DIR})
    string(REGEX MATCH "^[0-9]+" number ${folder})
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
    get_filename_component(chapter ${CMAKE_CURRENT_SOURCE_DIR} NAME)
    string(REGEX MATCH "^[0-9]+" number ${chapter})
    foreach(api opencl cuda)
        if(TARGET ${chapter}-${api})
            expect_run(NAME ${chapter}.${api}.${variant}.is-caught STATUS 1 STDERR "${arg_STDERR}"
                LABELS "chapter-${number}" ${api}
                COMMAND $<TARGET_FILE:${chapter}-${api}> ${arg_INPUT} --variant ${variant} --repeat 1
                        --no-ceiling)
        endif()
    endforeach()
endfunction()

# The OpenCL and the CUDA program of this folder go through the same numbered steps, and call the same
# functions of common/ in each.
function(expect_same_steps)
    file(RELATIVE_PATH folder ${PROJECT_SOURCE_DIR} ${CMAKE_CURRENT_SOURCE_DIR})
    string(REGEX MATCH "^[0-9]+" number ${folder})
    string(REPLACE "/" "." prefix ${folder})
    add_test(NAME ${prefix}.same-steps COMMAND ${CMAKE_COMMAND}
        -DA=${CMAKE_CURRENT_SOURCE_DIR}/opencl.cpp -DB=${CMAKE_CURRENT_SOURCE_DIR}/cuda.cu
        -P ${PROJECT_SOURCE_DIR}/common/tests/same_steps.cmake)
    set_tests_properties(${prefix}.same-steps PROPERTIES LABELS "chapter-${number}")
endfunction()

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
    if(arg_API STREQUAL "CUDA" AND TUTORIAL_CUDA_MISSING)
        set_property(GLOBAL APPEND PROPERTY TUTORIAL_PROGRAMS
            "${folder}\t${arg_API}\t-\t${TUTORIAL_CUDA_MISSING}")
        # One test in place of all its tests, so that ctest's summary names what was not tested.
        add_test(NAME ${prefix}.not-built COMMAND ${CMAKE_COMMAND} -E echo
            "skipped: ${TUTORIAL_CUDA_MISSING}")
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
    target_link_libraries(${target} PRIVATE common project_warnings ${arg_LIBRARIES})
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
    endif()

    if(arg_API STREQUAL "CUDA")
        # More pixels than a signed 32-bit index reaches. On a CPU this would take minutes.
        add_case(more-than-2-31-pixels cuda --random 2200M --repeat 1 --no-ceiling)
        set_tests_properties(${prefix}.more-than-2-31-pixels PROPERTIES
            LABELS "${labels};large" RUN_SERIAL ON TIMEOUT 600)
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
    set(output ${CMAKE_CURRENT_BINARY_DIR}/test-output)
    add_test(NAME ${prefix}.outputs
        COMMAND ${CMAKE_COMMAND} -DPROGRAM=${program} -DFOLDER=${output}-${name} "-DVARIANTS=${arg_VARIANTS}"
                "-DMAY_SKIP=${arg_MAY_SKIP}" -DCHAPTER=${chapter} -P ${PROJECT_SOURCE_DIR}/common/tests/outputs.cmake)
    set_tests_properties(${prefix}.outputs PROPERTIES LABELS "${labels}"
        SKIP_REGULAR_EXPRESSION "exit status 77")
endfunction()

# add_gallery(): the mistakes in this chapter's broken/ (common/gallery/gallery.cmake), each caught and named.
# Programs that are needed for them are built when the tests run, and not before: a reader who changes a chapter
# must not be stopped by a mistake that no longer fits. For CUDA they are built only where there is a GPU.
include(${PROJECT_SOURCE_DIR}/common/gallery/gallery.cmake)
foreach(api opencl cuda cpu)
    add_custom_target(gallery_${api}) # of all chapters
endforeach()
function(add_gallery)
    get_filename_component(chapter ${CMAKE_CURRENT_SOURCE_DIR} NAME)
    string(REGEX MATCH "^[0-9]+" number ${chapter})
    file(GLOB mistakes CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/broken/*.txt)
    if(NOT BUILD_TESTING OR TUTORIAL_SANITIZE)
        return()
    endif()
    foreach(mistake IN LISTS mistakes)
        read_mistake(${mistake})
        set(folder ${CMAKE_CURRENT_BINARY_DIR}/broken/${MISTAKE_NAME})
        foreach(pair "opencl;opencl.cpp;histogram.cl" "cuda;cuda.cu;histogram.cuh" "cpu;cpu.cpp;histogram.hpp")
            list(POP_FRONT pair api source kernels)
            if(NOT TARGET ${chapter}-${api} OR NOT (source IN_LIST MISTAKE_FILES OR kernels IN_LIST MISTAKE_FILES))
                continue()
            endif()
            set(test ${chapter}.broken.${MISTAKE_NAME}.${api})
            set(program $<TARGET_FILE:${chapter}-${api}>)
            set(fixture "")
            if(source IN_LIST MISTAKE_FILES OR NOT api STREQUAL "opencl") # OpenCL's kernels are read at run time
                add_broken_program(${api} ${source})
                set(program $<TARGET_FILE:${chapter}-broken-${MISTAKE_NAME}-${api}>)
                set(fixture gallery_${number}_${api})
            endif()
            add_test(NAME ${test} COMMAND ${CMAKE_COMMAND} -DMISTAKE=${mistake} -DAPI=${api}
                -DPROGRAM=${program} -DFOLDER=${folder} -DOCLGRIND=${OCLGRIND} -DCOMPUTE_SANITIZER=${COMPUTE_SANITIZER}
                -P ${PROJECT_SOURCE_DIR}/common/gallery/check.cmake)
            set_tests_properties(${test} PROPERTIES LABELS "chapter-${number};${api};broken"
                SKIP_REGULAR_EXPRESSION "skipped: " FIXTURES_REQUIRED "${fixture}"
                ENVIRONMENT "XDG_CACHE_HOME=${CMAKE_CURRENT_BINARY_DIR}/nothing-kept")
        endforeach()
    endforeach()
    foreach(api opencl cuda cpu)
        if(TARGET gallery_${number}_${api})
            add_test(NAME ${chapter}.broken.programs-${api} COMMAND ${CMAKE_COMMAND} -DBUILD=${CMAKE_BINARY_DIR}
                -DTARGET=gallery_${number}_${api} -DASK=$<TARGET_FILE:${chapter}-${api}>
                -P ${PROJECT_SOURCE_DIR}/common/gallery/build.cmake)
            set_tests_properties(${chapter}.broken.programs-${api} PROPERTIES
                LABELS "chapter-${number};${api};broken" TIMEOUT 600 SKIP_REGULAR_EXPRESSION "skipped: "
                FIXTURES_SETUP gallery_${number}_${api} RESOURCE_LOCK build) # Ninja does not share a folder
        endif()
    endforeach()
endfunction()

# A chapter's program with the mistake that has been read: its source is made anew, or found beside the changed kernels.
macro(add_broken_program api source)
    set(target ${chapter}-broken-${MISTAKE_NAME}-${api})
    set(at ${CMAKE_CURRENT_SOURCE_DIR})
    set(changed ${kernels})
    if("${source}" IN_LIST MISTAKE_FILES)
        set(at ${folder})
        set(changed ${source})
    endif()
    add_custom_command(OUTPUT ${folder}/${changed}
        COMMAND ${CMAKE_COMMAND} -DMISTAKE=${mistake} -DFOLDER=${folder}
                -P ${PROJECT_SOURCE_DIR}/common/gallery/make.cmake
        DEPENDS ${mistake} ${CMAKE_CURRENT_SOURCE_DIR}/${changed} VERBATIM)
    add_executable(${target} EXCLUDE_FROM_ALL ${at}/${source} ${folder}/${changed})
    set_target_properties(${target} PROPERTIES OUTPUT_NAME ${api} RUNTIME_OUTPUT_DIRECTORY ${folder})
    target_compile_definitions(${target} PRIVATE CHAPTER_FOLDER="${CMAKE_CURRENT_SOURCE_DIR}")
    get_target_property(libraries ${chapter}-${api} LINK_LIBRARIES)
    target_link_libraries(${target} PRIVATE ${libraries})
    if(NOT "${changed}" STREQUAL "${source}") # a header, which stands before the chapter's
        add_custom_command(OUTPUT ${folder}/before/${chapter}/${changed}
            COMMAND ${CMAKE_COMMAND} -E copy ${folder}/${changed} ${folder}/before/${chapter}/${changed}
            DEPENDS ${folder}/${changed} VERBATIM)
        target_sources(${target} PRIVATE ${folder}/before/${chapter}/${changed})
        target_include_directories(${target} BEFORE PRIVATE ${folder}/before)
    endif()
    if(MISTAKE_SHOWS MATCHES "^tsan ")
        target_compile_options(${target} PRIVATE -fsanitize=thread)
        target_link_options(${target} PRIVATE -fsanitize=thread)
    endif()
    if(NOT TARGET gallery_${number}_${api})
        add_custom_target(gallery_${number}_${api})
        add_dependencies(gallery_${api} gallery_${number}_${api})
    endif()
    add_dependencies(gallery_${number}_${api} ${target})
endmacro()

# All programs, in order: folder, API, program, and why it was not built, by tabs.
add_custom_target(programs)
add_custom_target(workshops) # those in a folder of a chapter: not for `./tutorial run`
function(write_program_list)
    get_property(programs GLOBAL PROPERTY TUTORIAL_PROGRAMS)
    list(JOIN programs "\n" text)
    file(GENERATE OUTPUT ${CMAKE_BINARY_DIR}/programs.tsv CONTENT "${text}\n")
endfunction()
