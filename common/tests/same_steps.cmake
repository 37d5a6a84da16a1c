# cmake -DA=opencl.cpp -DB=cuda.cu -P same_steps.cmake
# Fails unless both programs go through the same numbered steps, and at least five of them. A step is a
# comment that begins with its number; what is compared is the number and the first sentence's words up
# to a colon, full stop or comma, in which the APIs use the same terms.
foreach(file A B)
    file(STRINGS ${${file}} lines REGEX "^ *// [0-9]+\\. ")
    set(steps_${file} "")
    foreach(line IN LISTS lines)
        string(REGEX MATCH "[0-9]+\\. [^:.,]*" step "${line}")
        list(APPEND steps_${file} "${step}")
    endforeach()
    list(LENGTH steps_${file} count)
    if(count LESS 5)
        message(FATAL_ERROR "${${file}} has ${count} numbered steps")
    endif()
endforeach()
if(NOT steps_A STREQUAL steps_B)
    list(JOIN steps_A "\n  " a)
    list(JOIN steps_B "\n  " b)
    message(FATAL_ERROR "different steps\n${A}:\n  ${a}\n${B}:\n  ${b}")
endif()
