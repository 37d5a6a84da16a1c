# cmake -DOCLGRIND=... -DPROGRAM=... -DKERNELS=... -DFOLDER=... -DVARIANT=... -DREPLACE=... -DBY=... -DSAYS=regex
#       -P planted.cmake
# Runs a copy of a chapter's program under Oclgrind, beside it its kernels with one text replaced by another
# everywhere, and fails unless Oclgrind says what the expression asks for. The same run of the kernels as
# they are must not say it. The folder is the test's own.
cmake_policy(VERSION 3.25)

file(READ ${KERNELS} right)
string(REPLACE "${REPLACE}" "${BY}" planted "${right}")
if(planted STREQUAL right)
    message(FATAL_ERROR "nothing was planted: there is no '${REPLACE}' in ${KERNELS}")
endif()
file(COPY ${PROGRAM} DESTINATION ${FOLDER})
get_filename_component(program ${PROGRAM} NAME)
get_filename_component(kernels ${KERNELS} NAME)
foreach(text right planted)
    file(WRITE ${FOLDER}/${kernels} "${${text}}")
    execute_process(
        COMMAND ${OCLGRIND} --data-races --max-errors 1 ${FOLDER}/${program} --random 1000 --variant ${VARIANT}
                --repeat 1 --no-ceiling --device Oclgrind --group-size 320 --groups 3
        RESULT_VARIABLE status OUTPUT_VARIABLE out ERROR_VARIABLE out)
    message(STATUS "${text}, exit status ${status}:\n${out}")
    if(text STREQUAL "right" AND (out MATCHES "${SAYS}" OR NOT status EQUAL 0))
        message(FATAL_ERROR "without the mistake: exit status ${status}, or it is found there, too")
    elseif(text STREQUAL "planted" AND NOT out MATCHES "${SAYS}")
        message(FATAL_ERROR "the mistake is not found: ${SAYS}")
    endif()
endforeach()
