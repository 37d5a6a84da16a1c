# add_fuzz_target(NAME SOURCE file CORPUS folder LIBRARIES library...): a function LLVMFuzzerTestOneInput.
# Every build runs the corpus through it as the test fuzz.NAME. Where TUTORIAL_SANITIZE names
# fuzzer-no-link (the preset `fuzz`, for clang), the target `fuzz` has libFuzzer look for more, for
# TUTORIAL_FUZZ_SECONDS; what it finds that crashes stays in the build folder.
set(TUTORIAL_FUZZ_SECONDS 30 CACHE STRING "How long `fuzz` looks for more with each fuzz target")
add_custom_target(fuzz)
add_library(fuzz_replay OBJECT EXCLUDE_FROM_ALL ${PROJECT_SOURCE_DIR}/common/fuzz/replay.cpp) # what runs a corpus
target_include_directories(fuzz_replay PRIVATE ${PROJECT_SOURCE_DIR})
target_link_libraries(fuzz_replay PRIVATE project_warnings)

function(add_fuzz_target name)
    cmake_parse_arguments(PARSE_ARGV 1 arg "" "SOURCE;CORPUS" "LIBRARIES")
    cmake_path(ABSOLUTE_PATH arg_CORPUS)
    add_executable(fuzz_${name} ${arg_SOURCE})
    target_link_libraries(fuzz_${name} PRIVATE ${arg_LIBRARIES} project_warnings)
    if(TUTORIAL_SANITIZE MATCHES "fuzzer")
        target_link_options(fuzz_${name} PRIVATE -fsanitize=fuzzer)
        set(found ${CMAKE_CURRENT_BINARY_DIR}/found-${name})
        file(MAKE_DIRECTORY ${found})
        add_custom_target(fuzz_more_${name}
            COMMAND fuzz_${name} -max_total_time=${TUTORIAL_FUZZ_SECONDS} -max_len=4096 -timeout=10
                -print_final_stats=1 -artifact_prefix=${CMAKE_CURRENT_BINARY_DIR}/ ${found} ${arg_CORPUS}
            VERBATIM)
        add_dependencies(fuzz fuzz_more_${name})
        set(arguments -runs=0)
    else()
        target_link_libraries(fuzz_${name} PRIVATE fuzz_replay)
        set(arguments)
    endif()
    add_test(NAME fuzz.${name} COMMAND fuzz_${name} ${arguments} ${arg_CORPUS})
    set_tests_properties(fuzz.${name} PROPERTIES LABELS common)
endfunction()
