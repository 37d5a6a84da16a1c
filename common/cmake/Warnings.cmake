# The warnings that every target of this project is built with. They are errors only where the preset
# `ci` sets CMAKE_COMPILE_WARNING_AS_ERROR: a newer compiler must not stop a reader.
add_library(project_warnings INTERFACE)
if(MSVC)
    target_compile_options(project_warnings INTERFACE $<$<COMPILE_LANGUAGE:CXX>:/W4>)
else()
    target_compile_options(project_warnings INTERFACE
        $<$<COMPILE_LANGUAGE:CXX>:-Wall;-Wextra;-Wpedantic;-Wshadow;-Wconversion>
        # Two that g++ 12 gives for sound code of its own library, such as GCC bug 105651.
        $<$<AND:$<COMPILE_LANG_AND_ID:CXX,GNU>,$<VERSION_LESS:$<CXX_COMPILER_VERSION>,13>>:-Wno-restrict;-Wno-stringop-overflow>
        # -Wpedantic and nvcc's generated host code do not go together.
        $<$<COMPILE_LANGUAGE:CUDA>:-Xcompiler=-Wall,-Wextra>)
endif()
