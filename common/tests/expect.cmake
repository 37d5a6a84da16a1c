# cmake -DSTATUS=n [-DSTDOUT=regex] [-DSTDERR=regex] [-DONE_LINE=ON] -P expect.cmake -- command...
# Runs the command and fails, saying why, unless it ends with that exit status, prints what the two
# expressions ask for, and (ONE_LINE) says exactly one line on standard error.
set(command "")
set(seen_dashes OFF)
math(EXPR last "${CMAKE_ARGC} - 1")
foreach(i RANGE ${last})
    if(seen_dashes)
        string(REPLACE ";" "\\;" argument "${CMAKE_ARGV${i}}") # an argument may itself be a list
        list(APPEND command "${argument}")
    elseif(CMAKE_ARGV${i} STREQUAL "--")
        set(seen_dashes ON)
    endif()
endforeach()

execute_process(COMMAND ${command} RESULT_VARIABLE status OUTPUT_VARIABLE out ERROR_VARIABLE err)
message(STATUS "standard output:\n${out}\nstandard error:\n${err}")
if(NOT status STREQUAL STATUS)
    message(FATAL_ERROR "exit status ${status}, expected ${STATUS}")
endif()
if(STDOUT AND NOT out MATCHES "${STDOUT}")
    message(FATAL_ERROR "standard output does not match: ${STDOUT}")
endif()
if(STDERR AND NOT err MATCHES "${STDERR}")
    message(FATAL_ERROR "standard error does not match: ${STDERR}")
endif()
if(ONE_LINE AND NOT err MATCHES "^[^\n]+\n$")
    message(FATAL_ERROR "standard error is not exactly one line")
endif()
