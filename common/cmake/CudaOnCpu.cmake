# CUDA programs without CUDA: made C++ of, and run by common/cuda/on_cpu on the processor.
include_guard(GLOBAL)
set(TUTORIAL_CUDA-ON-CPU_MISSING "")
if(NOT CMAKE_SYSTEM_NAME STREQUAL "Linux")
    set(TUTORIAL_CUDA-ON-CPU_MISSING "the emulation of CUDA is for Linux")
endif()
set(TUTORIAL_ON_CPU ${PROJECT_SOURCE_DIR}/common/cuda/on_cpu)
find_program(TUTORIAL_CLANG NAMES clang++ clang++-19 clang++-18 clang++-17 clang++-16 clang++-15 clang++-14
    DOC "compiles the programs that count")

# made_for_cpu(VARIABLE FROM folder TO folder FILES file...): the C++ that these files of CUDA become, in TO.
function(made_for_cpu variable)
    cmake_parse_arguments(PARSE_ARGV 1 arg "" "FROM;TO" "FILES")
    set(made "")
    foreach(file IN LISTS arg_FILES)
        string(REGEX REPLACE "[.]cu$" ".cpp" to ${arg_TO}/${file})
        list(APPEND made ${to})
        add_custom_command(OUTPUT ${to} VERBATIM DEPENDS ${arg_FROM}/${file} ${TUTORIAL_ON_CPU}/to_cpp.cmake
            COMMAND ${CMAKE_COMMAND} -DFROM=${arg_FROM}/${file} -DTO=${to} -P ${TUTORIAL_ON_CPU}/to_cpp.cmake)
        # nvcc does not warn of these.
        set_source_files_properties(${to} PROPERTIES
            COMPILE_OPTIONS "-Wno-unknown-pragmas;-Wno-conversion;-Wno-unused-function")
    endforeach()
    set(${variable} ${made} PARENT_SCOPE)
endfunction()

# for_cpu(target [SANITIZER]): it is compiled and linked as such a program, and watched by one sanitizer where one is
# named: the kernels and the host program, not what they are linked with.
function(for_cpu target)
    set(blocks on_cpu_blocks)
    if(ARGN)
        string(TOLOWER on_cpu_blocks_${ARGN} blocks)
        # Nor does a GPU load from an address that the size of a load does not divide.
        string(REPLACE address address,alignment sanitizers ${ARGN})
        target_compile_options(${target} PRIVATE -fsanitize=${sanitizers} -g1 -O0)
        target_link_options(${target} PRIVATE -fsanitize=${sanitizers})
    endif()
    target_include_directories(${target} BEFORE PRIVATE ${PROJECT_BINARY_DIR}/on_cpu)
    target_link_libraries(${target} PRIVATE common_cuda_on_cpu ${blocks})
endfunction()

# add_sanitized(program SANITIZER LIBRARIES ...): such a program of a chapter once more, watched; in a folder SANITIZER.
# Not for who edits a chapter and builds its folder: the tests that run them build them (programs.py).
add_custom_target(sanitized ALL)
function(add_sanitized program sanitizer)
    cmake_parse_arguments(PARSE_ARGV 2 arg "" "" "LIBRARIES")
    get_target_property(sources ${program} SOURCES)
    get_target_property(definitions ${program} COMPILE_DEFINITIONS)
    add_executable(${program}-${sanitizer} EXCLUDE_FROM_ALL ${sources})
    add_dependencies(sanitized ${program}-${sanitizer})
    set_target_properties(${program}-${sanitizer} PROPERTIES
        OUTPUT_NAME cuda-on-cpu RUNTIME_OUTPUT_DIRECTORY ${CMAKE_CURRENT_BINARY_DIR}/${sanitizer})
    target_compile_definitions(${program}-${sanitizer} PRIVATE ${definitions})
    get_target_property(libraries ${program} LINK_LIBRARIES)
    list(FILTER libraries EXCLUDE REGEX "on_cpu")
    target_link_libraries(${program}-${sanitizer} PRIVATE ${libraries})
    for_cpu(${program}-${sanitizer} ${sanitizer})
endfunction()

# add_counted(program LIBRARIES ...): such a program once more, in a folder counts: clang calls a hook for each access of its
# kernels (recorded.cpp), whatever compiler makes the rest. With the options of counted.rsp accesses stay as the source has
# them: no loop is made wide or a call, no block of it moved; but short ones are unrolled, as nvcc does.
add_custom_target(counted)
function(add_counted program)
    cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "LIBRARIES")
    get_target_property(sources ${program} SOURCES)
    get_target_property(definitions ${program} COMPILE_DEFINITIONS)
    list(TRANSFORM definitions PREPEND -D)
    set(compiled ${sources})
    list(FILTER compiled INCLUDE REGEX "[.]cpp$")
    set(objects "")
    foreach(source IN LISTS compiled)
        string(REGEX REPLACE "[.]cpp$" ".counts.o" object ${source})
        list(APPEND objects ${object})
        add_custom_command(OUTPUT ${object} VERBATIM DEPENDS ${sources} ${TUTORIAL_ON_CPU}/counted.rsp DEPFILE ${object}.d
            COMMAND ${CMAKE_CXX_COMPILER_LAUNCHER} ${TUTORIAL_CLANG} @${TUTORIAL_ON_CPU}/counted.rsp ${definitions} -I${PROJECT_BINARY_DIR}/on_cpu -I${PROJECT_SOURCE_DIR} -I${TUTORIAL_ON_CPU}
            -MD -MF ${object}.d -c ${source} -o ${object})
    endforeach()
    add_executable(${program}-counts EXCLUDE_FROM_ALL ${objects})
    add_dependencies(counted ${program}-counts)
    set_target_properties(${program}-counts PROPERTIES LINKER_LANGUAGE CXX
        OUTPUT_NAME cuda-on-cpu RUNTIME_OUTPUT_DIRECTORY ${CMAKE_CURRENT_BINARY_DIR}/counts)
    target_link_libraries(${program}-counts PRIVATE common ${arg_LIBRARIES} common_cuda_on_cpu on_cpu_blocks_counts)
endfunction()
