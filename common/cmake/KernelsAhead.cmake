# Kernels that tests need, compiled before them by one process (common/tests/many_runs.cpp): PoCL compiles several in the
# time that it takes to get ready for the first. The tests are the same without: they compile what they do not find.
include_guard(GLOBAL)

# run_ahead(test argument...): before this test of this folder's OpenCL program the test kernels-ahead runs this
# command line, on few pixels, in one process with the others.
function(run_ahead test)
    if(NOT TARGET many_runs OR TUTORIAL_SANITIZE) # both want to be loaded first
        return()
    endif()
    this_folder()
    string(REPLACE "/" "." ahead ${folder}.opencl.kernels-ahead)
    get_property(runs DIRECTORY PROPERTY KERNELS_AHEAD)
    if(NOT runs)
        cmake_language(DEFER CALL add_kernels_ahead)
        set_property(DIRECTORY PROPERTY KERNELS_AHEAD_AS ${test})
    endif()
    list(JOIN ARGN "\n" run)
    string(REGEX REPLACE "--random\n[0-9]+[KMG]?" "--random\n1000" run "${run}")
    set_property(DIRECTORY APPEND PROPERTY KERNELS_AHEAD "${run}")
    set_property(TEST ${test} APPEND PROPERTY DEPENDS ${ahead})
endfunction()

function(add_kernels_ahead)
    this_folder()
    string(REPLACE "/" "." ahead ${folder}.opencl.kernels-ahead)
    string(REPLACE "/" "-" target ${folder}-opencl)
    get_property(runs DIRECTORY PROPERTY KERNELS_AHEAD)
    list(REMOVE_DUPLICATES runs)
    list(JOIN runs "\n\n" lines)
    set(file ${CMAKE_CURRENT_BINARY_DIR}/kernels-ahead.txt)
    file(CONFIGURE OUTPUT ${file} CONTENT "@lines@\n\n" @ONLY)
    add_test(NAME ${ahead} COMMAND ${CMAKE_COMMAND} -E env MANY_RUNS=${file} LD_PRELOAD=$<TARGET_FILE:many_runs>
        $<TARGET_FILE:${target}> --many-runs) # without the library the program refuses this
    get_property(like DIRECTORY PROPERTY KERNELS_AHEAD_AS)
    get_test_property(${like} ENVIRONMENT environment) # which may name another cache
    set_tests_properties(${ahead} PROPERTIES LABELS "chapter-${number};opencl" SKIP_RETURN_CODE 77)
    if(environment)
        set_tests_properties(${ahead} PROPERTIES ENVIRONMENT "${environment}")
    endif()
endfunction()
