# The warnings that every target of this project is built with. They are errors only where the preset
# `ci` sets CMAKE_COMPILE_WARNING_AS_ERROR: a newer compiler must not stop a reader.
add_library(project_warnings INTERFACE)
target_compile_options(project_warnings INTERFACE
    $<$<COMPILE_LANGUAGE:CXX>:-Wall;-Wextra;-Wpedantic;-Wshadow;-Wconversion>
    # Two that g++ 12 gives for sound code of its own library, such as GCC bug 105651.
    $<$<AND:$<COMPILE_LANG_AND_ID:CXX,GNU>,$<VERSION_LESS:$<CXX_COMPILER_VERSION>,13>>:-Wno-restrict;-Wno-stringop-overflow>
    # And one that newer clangs give for std::stable_sort of g++ 12's library.
    $<$<AND:$<COMPILE_LANG_AND_ID:CXX,Clang>,$<VERSION_GREATER_EQUAL:$<CXX_COMPILER_VERSION>,17>>:-Wno-deprecated-declarations>
    # -Wpedantic and nvcc's generated host code do not go together.
    $<$<COMPILE_LANGUAGE:CUDA>:-Xcompiler=-Wall,-Wextra>)

# For what reads options and JSON and writes reports, and for tests: none of it is measured, and the templates of the
# libraries behind it take a compiler nearly twice as long with -O3.
add_library(compiled_quickly INTERFACE)
target_compile_options(compiled_quickly INTERFACE
    $<$<AND:$<COMPILE_LANG_AND_ID:CXX,GNU,Clang,AppleClang>,$<CONFIG:Release>>:-O0>)

# compile_together(target): several of its files at a time, which share what they include. -DCMAKE_UNITY_BUILD=OFF
# compiles each by itself, as the preset `asan` does: so a missing #include is seen.
function(compile_together target)
    if(NOT DEFINED CMAKE_UNITY_BUILD)
        set_target_properties(${target} PROPERTIES UNITY_BUILD ON)
    endif()
endfunction()
