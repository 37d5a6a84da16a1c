# cmake -DTUNE=... -DLESSON=... -DFOLDER=... -P tune.cmake
# The search ends well and leaves its file, the same as --json; the lesson's `tuned` uses what was
# found; a damaged file is passed over with a warning; and searching again mends it. The folder is
# the test's own: it is emptied.
cmake_policy(VERSION 3.25)
file(REMOVE_RECURSE ${FOLDER})
file(MAKE_DIRECTORY ${FOLDER})
set(ENV{XDG_CACHE_HOME} ${FOLDER})

# run(program expected-on-standard-error argument...)
function(run program expected)
    execute_process(COMMAND ${program} ${ARGN}
        RESULT_VARIABLE status OUTPUT_VARIABLE out ERROR_VARIABLE err)
    if(status STREQUAL 77)
        message(FATAL_ERROR "exit status 77: ${err}")
    elseif(NOT status STREQUAL 0)
        message(FATAL_ERROR "exit status ${status} of ${program} ${ARGN}\n${out}\n${err}")
    endif()
    if(NOT err MATCHES "${expected}")
        message(FATAL_ERROR "not on standard error of ${program} ${ARGN}: ${expected}\n${err}")
    endif()
    set(out "${out}" PARENT_SCOPE)
endfunction()

# count(expected-on-standard-error): `tuned` in the lesson's program, and that it is right.
function(count expected)
    run(${LESSON} "${expected}" --random 100003 --variant tuned --repeat 1 --no-ceiling)
    if(NOT out MATCHES "\ntuned [^\n]* match\n")
        message(FATAL_ERROR "`tuned` does not match:\n${out}")
    endif()
endfunction()

run(${TUNE} "^$" --list-devices)
set(devices "${out}")
run(${LESSON} "^$" --list-devices)
if(NOT devices MATCHES "^0" OR NOT devices STREQUAL out)
    message(FATAL_ERROR "the devices are not the lesson's:\n${devices}\n${out}")
endif()

count("the default, as tune has not run here")
run(${TUNE} "launches; the best of each size so far: [0-9.]+, " --seconds 3 --json ${FOLDER}/tune.json)
if(NOT out MATCHES "\ngroup size .*\nbest: .*\nkept for `tuned` in ([^\n]+)\n$")
    message(FATAL_ERROR "the heat map is not as it should be:\n${out}")
endif()
set(said ${CMAKE_MATCH_1})
file(GLOB_RECURSE kept ${FOLDER}/histogram-tutorials/*)
if(NOT kept STREQUAL said)
    message(FATAL_ERROR "kept: '${kept}', said: '${said}'")
endif()
file(READ ${kept} found)
file(READ ${FOLDER}/tune.json written)
if(NOT found STREQUAL written OR NOT found MATCHES "^{.*\"outcome\":\"measured\".*}\n$")
    message(FATAL_ERROR "what is kept is not what --json got, or no search:\n${found}")
endif()
count("found by tune on 20")

file(WRITE ${kept} "{\"format\": \"histogram-tut")
count("\nwarning: [^\n]*histogram-tutorials[^\n]* is passed over: [^\n]*\n  tuned, [^\n]*the default, as tune has not run here")
run(${TUNE} "launches; the best" --seconds 1)
count("^[^\n]*\n  tuned, [^\n]*found by tune on 20") # and no warning
