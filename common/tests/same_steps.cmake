# cmake -DA=opencl.cpp -DB=cuda.cu -P same_steps.cmake
# Fails unless both programs go through the same numbered steps, and at least five of them. A step is a
# comment that begins with its number; what is compared is the number and the first sentence's words up
# to a colon, full stop or comma, in which the APIs use the same terms. Each step also calls the same
# functions of common/ in the same order, those of its report and options among them.

# Functions that only OpenCL needs: it compiles while the program runs, and its limits vary more, and so do its clocks.
set(only_opencl "build_program|read_kernel_file|max_work_group_size|has_extension|require_memory|unsupported_reason|profiling|plausible_ms")

foreach(file A B)
    file(READ ${${file}} text)
    string(REGEX REPLACE "[][;]" " " text "${text}") # they mean something in a CMake list
    # Steps, other comments (a call in one is none) and calls, as they come.
    string(REGEX MATCHALL "\n *// [0-9]+\\. [^:.,\n]*|//[^\n]*|(common::|report\\.|options\\.|common::Report )[a-z_:]+\\("
        calls_${file} "${text}")
    list(FILTER calls_${file} EXCLUDE REGEX "^//|::(${only_opencl})\\(")
    list(TRANSFORM calls_${file} REPLACE "::(opencl|cuda)::" "::")
    list(TRANSFORM calls_${file} REPLACE "::compute_units|::multiprocessors" "::units") # one number, two words
    list(TRANSFORM calls_${file} STRIP)
    set(steps_${file} ${calls_${file}})
    list(FILTER steps_${file} INCLUDE REGEX "^//")
    list(LENGTH steps_${file} count)
    if(count LESS 5)
        message(FATAL_ERROR "${count} numbered steps in\n${${file}}") # the path last: CMake wraps a line
    endif()
endforeach()
if(NOT steps_A STREQUAL steps_B)
    list(JOIN steps_A "\n  " a)
    list(JOIN steps_B "\n  " b)
    message(FATAL_ERROR "different steps\n${A}:\n  ${a}\n${B}:\n  ${b}")
endif()
set(step "what stands before the first step")
foreach(a b IN ZIP_LISTS calls_A calls_B)
    if(NOT "${a}" STREQUAL "${b}")
        message(FATAL_ERROR "different calls in\n${step}\n${A}: ${a}\n${B}: ${b}")
    elseif(a MATCHES "^//")
        set(step "${a}")
    endif()
endforeach()
