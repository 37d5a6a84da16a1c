# cmake -DCHAPTER=folder -DPROGRAM=program -DMANY_RUNS=library -DFOLDER=folder -P ahead.cmake
# Compiles for PoCL, in one process, most of what the chapter's mistakes in histogram.cl are shown and diagnosed with:
# see KernelsAhead.cmake.
include(${CMAKE_CURRENT_LIST_DIR}/gallery.cmake)
set(lines "")
file(GLOB mistakes ${CHAPTER}/broken/*.txt)
foreach(mistake IN LISTS mistakes)
    read_mistake(${mistake})
    # What Oclgrind shows is compiled by Oclgrind, and one that may crash would end this process.
    if(NOT MISTAKE_FILES MATCHES "histogram.cl" OR MISTAKE_FILES MATCHES "opencl.cpp" OR MISTAKE_SHOWS MATCHES "^oclgrind"
       OR MISTAKE_NAMES MATCHES "out-of-bounds|does-not-end")
        continue()
    endif()
    make_mistake(${mistake} ${FOLDER}/${MISTAKE_NAME})
    string(REGEX REPLACE "(--group-size|--groups|--random) [0-9]+[KM]?|PICTURES/[^ ]+" "" own "${MISTAKE_SHOWS}")
    separate_arguments(own UNIX_COMMAND "${own}")
    foreach(group_size 64 256) # those of common/tutor/diagnosis/probes.cpp
        set(run --variant ${MISTAKE_VARIANT} ${own} --random 1000 --groups 3 --group-size ${group_size} --repeat 1
            --no-ceiling --no-diagnosis --device "Portable Computing Language" --kernels ${FOLDER}/${MISTAKE_NAME}/histogram.cl)
        list(JOIN run "\n" run)
        string(APPEND lines "${run}\n\n")
    endforeach()
endforeach()
file(WRITE ${FOLDER}/kernels-ahead.txt "${lines}")
execute_process(COMMAND ${CMAKE_COMMAND} -E env MANY_RUNS=${FOLDER}/kernels-ahead.txt LD_PRELOAD=${MANY_RUNS} ${PROGRAM}
    --many-runs RESULT_VARIABLE status) # without the library the program refuses this
if(status EQUAL 77)
    message(STATUS "skipped: no PoCL (package pocl-opencl-icd)")
elseif(NOT status EQUAL 0)
    message(FATAL_ERROR "exit status ${status}")
endif()
