# cmake -DBUILD=... -DFOLDER=... -DCTEST=... -P timeouts.cmake
# Fails unless every test of this build is ended at some time: by the number of seconds for all, in CTest's
# configuration, or by its own. Ten minutes are more than any needs, and 0 would be for ever.
cmake_policy(VERSION 3.25)

file(STRINGS ${BUILD}/DartConfiguration.tcl for_all REGEX "^TimeOut: ")
# From a folder of its own: CTest empties the log of the folder where it is called, also of tests that are running.
file(WRITE ${FOLDER}/CTestTestfile.cmake "subdirs(\"${BUILD}\")\n")
execute_process(COMMAND ${CTEST} --test-dir ${FOLDER} --show-only=json-v1 OUTPUT_VARIABLE tests COMMAND_ERROR_IS_FATAL ANY)
string(REGEX MATCHALL "\"TIMEOUT\",[ \n]*\"value\" : [0-9.e+]+" limits "${tests}")
list(LENGTH limits number)
message(STATUS "${for_all}; ${number} tests have a limit of their own")
foreach(limit IN LISTS for_all limits)
    string(REGEX MATCH "[0-9.e+]+$" seconds "${limit}")
    if(NOT seconds GREATER 0 OR seconds GREATER 600)
        message(FATAL_ERROR "a test may take '${seconds}' seconds")
    endif()
endforeach()
if(NOT for_all)
    message(FATAL_ERROR "no number of seconds for all tests")
endif()
