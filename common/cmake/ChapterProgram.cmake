# One declarative call per program of a chapter:
#
#   add_chapter_program(opencl
#       API      OpenCL                # C++, OpenCL, CUDA, or CUDA-on-CPU: the same sources without a GPU
#       SOURCES  opencl.cpp
#       LIBRARIES chapter_05           # beside those in common/, where there are any
#       KERNELS  histogram.cl          # read at run time, from beside the program or from here
#       MAY_SKIP simd)                 # strategies that need something that may be missing
#
# It makes the program <build>/<chapter>/<name>, enters it in the list that `./tutorial run` works through
# (write_program_list), and has its tests found once it is built: the program itself says which strategies it has
# (common/tests/discover.py).
include_guard(GLOBAL)
include(CudaOnCpu)
include(Gallery)

# this_folder(): sets `folder`, such as 05-launch-tuning/workshops/tune, and the `number` of its chapter.
macro(this_folder)
    file(RELATIVE_PATH folder ${PROJECT_SOURCE_DIR} ${CMAKE_CURRENT_SOURCE_DIR})
    string(REGEX MATCH "^[0-9]+" number ${folder})
endmacro()

# add_program(name API a SOURCES ... LIBRARIES ... KERNELS ...): the program <build>/<folder>/<name> of this
# folder, a chapter or one within a chapter, in the list that `./tutorial` works through. Sets in the
# caller: `program`, its target, empty where it is not built; `labels` of its tests.
function(add_program name)
    cmake_parse_arguments(PARSE_ARGV 1 arg "" "API" "SOURCES;LIBRARIES;KERNELS")
    this_folder()
    # Not "c++", which ctest -L would read as a regular expression.
    string(TOLOWER ${arg_API} api_label)
    string(REPLACE "c++" "cpu" api_label ${api_label})
    string(REPLACE "cuda-on-cpu" "cuda;on-cpu" api_label ${api_label})
    set(labels "chapter-${number};${api_label}")
    string(REPLACE "/" "-" target "${folder}/${name}")
    set(all workshops)
    if(NOT folder MATCHES "/")
        set(all programs chapter-${number})
        if(NOT TARGET chapter-${number})
            add_custom_target(chapter-${number})
        endif()
    endif()
    set(labels ${labels} PARENT_SCOPE)
    set(program "" PARENT_SCOPE)
    string(TOUPPER ${arg_API} api_upper)
    set(missing "${TUTORIAL_${api_upper}_MISSING}") # of C++ nothing is
    if(missing)
        set_property(GLOBAL APPEND PROPERTY TUTORIAL_PROGRAMS "${folder}\t${arg_API}\t-\t${missing}")
        string(REPLACE "/" "." test "${folder}/${name}.not-built")
        add_skipped_test(${test} "${missing}" ${labels})
        return()
    endif()

    set(sources ${arg_SOURCES} ${arg_KERNELS})
    if(arg_API STREQUAL "CUDA-on-CPU")
        made_for_cpu(sources FROM ${CMAKE_CURRENT_SOURCE_DIR} TO ${PROJECT_BINARY_DIR}/on_cpu/${folder} FILES ${sources})
    endif()
    add_executable(${target} ${sources})
    set_target_properties(${target} PROPERTIES OUTPUT_NAME ${name})
    string(REGEX MATCH "^[^/]+" chapter ${folder})
    target_compile_definitions(${target} PRIVATE CHAPTER_FOLDER="${PROJECT_SOURCE_DIR}/${chapter}")
    target_link_libraries(${target} PRIVATE common project_warnings ${arg_LIBRARIES})
    if(arg_API STREQUAL "OpenCL")
        target_link_libraries(${target} PRIVATE common_opencl)
    elseif(arg_API STREQUAL "CUDA")
        target_link_libraries(${target} PRIVATE common_cuda)
    elseif(arg_API STREQUAL "CUDA-on-CPU")
        for_cpu(${target})
    endif()
    foreach(each IN LISTS all)
        add_dependencies(${each} ${target})
    endforeach()
    set_property(GLOBAL APPEND PROPERTY TUTORIAL_PROGRAMS
        "${folder}\t${arg_API}\t$<TARGET_FILE:${target}>\t-")
    set(program ${target} PARENT_SCOPE)
endfunction()

function(add_chapter_program name)
    cmake_parse_arguments(PARSE_ARGV 1 arg "" "API" "SOURCES;LIBRARIES;KERNELS;MAY_SKIP")
    add_program(${name} API ${arg_API} SOURCES ${arg_SOURCES} LIBRARIES ${arg_LIBRARIES} KERNELS ${arg_KERNELS})
    if(NOT program)
        return()
    endif()
    if(arg_API STREQUAL "CUDA-on-CPU" AND TUTORIAL_CLANG AND NOT TUTORIAL_SANITIZE)
        add_counted(${program} LIBRARIES ${arg_LIBRARIES})
    endif()
    if(NOT BUILD_TESTING)
        return()
    endif()
    foreach(other 01-cpu-cpu fault_injecting_driver served why) # which its tests run, too
        if(TARGET ${other} AND NOT ${other} STREQUAL ${program})
            add_dependencies(${program} ${other})
        endif()
    endforeach()
    this_folder()
    discover_tests(${program} ${folder}/${name} "${labels}" ${arg_MAY_SKIP})
    if(arg_API STREQUAL "CUDA-on-CPU" AND NOT TUTORIAL_SANITIZE)
        foreach(sanitizer thread address)
            add_sanitized(${program} ${sanitizer} LIBRARIES ${arg_LIBRARIES})
        endforeach()
    endif()
endfunction()

# All programs, in order: folder, API, program, and why it was not built, by tabs.
add_custom_target(programs)
add_custom_target(workshops) # those in a folder of a chapter: not for `./tutorial run`
function(write_program_list)
    get_property(programs GLOBAL PROPERTY TUTORIAL_PROGRAMS)
    list(JOIN programs "\n" text)
    file(GENERATE OUTPUT ${CMAKE_BINARY_DIR}/programs.tsv CONTENT "${text}\n")
endfunction()
