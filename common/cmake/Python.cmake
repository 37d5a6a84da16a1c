# Python, which runs some of the tests.
include_guard(GLOBAL)
find_package(Python3 3.9 COMPONENTS Interpreter)
if(Python3_FOUND) # itself: what stands for it, such as a version manager's script, takes longer to start than many a test
    execute_process(COMMAND ${Python3_EXECUTABLE} -c "import sys; print(sys.executable)" COMMAND_ERROR_IS_FATAL ANY
        OUTPUT_VARIABLE Python3_EXECUTABLE OUTPUT_STRIP_TRAILING_WHITESPACE)
endif()

# python_with(VARIABLE MODULE): a Python that has this module, else any. The system's package of it is for the system's
# Python, and that need not be the one that was found.
function(python_with variable module)
    get_property(known GLOBAL PROPERTY TUTORIAL_PYTHON_WITH_${module})
    foreach(python IN ITEMS "${known}" "${Python3_EXECUTABLE}" /usr/bin/python3)
        if(NOT known AND EXISTS "${python}")
            execute_process(COMMAND ${python} -c "import ${module}" RESULT_VARIABLE status OUTPUT_QUIET ERROR_QUIET)
            if(status EQUAL 0)
                set(known "${python}")
            endif()
        endif()
    endforeach()
    if(NOT known)
        set(known "${Python3_EXECUTABLE}")
    endif()
    set_property(GLOBAL PROPERTY TUTORIAL_PYTHON_WITH_${module} "${known}") # asked once
    set(${variable} "${known}" PARENT_SCOPE)
endfunction()

# add_python_test(NAME n [WITH MODULE] LABELS l... COMMAND file argument...): a Python program as a test; -B: it leaves
# nothing in the sources. Skipped without Python, and where the program or Python's own test runner says so.
function(add_python_test)
    cmake_parse_arguments(PARSE_ARGV 0 arg "" "NAME;WITH" "LABELS;COMMAND")
    set(python "${Python3_EXECUTABLE}")
    if(arg_WITH)
        python_with(python ${arg_WITH})
    endif()
    if(Python3_FOUND)
        add_test(NAME ${arg_NAME} COMMAND ${python} -B ${arg_COMMAND})
    else()
        add_test(NAME ${arg_NAME} COMMAND ${CMAKE_COMMAND} -E echo "skipped: no Python 3.9 (package python3)")
    endif()
    set_tests_properties(${arg_NAME} PROPERTIES LABELS "${arg_LABELS}" SKIP_RETURN_CODE 77
        SKIP_REGULAR_EXPRESSION "^skipped;OK \\(skipped=")
endfunction()
