# The gallery of mistakes: what the files in the chapters' broken/ say, and the sources with the mistake in them.
#
# A mistake is a text file, CHAPTER/broken/NAME.txt:
#
#   What is wrong, in one sentence.
#   variant: local                       the strategy that has it
#   shows: --random 100003               an input and a launch on which the result is wrong
#   hides: --constant 7 --random 4K      and one on which it is right all the same; or `nothing`
#   names: merge-strided-globally        what the diagnosis calls it; several where they cannot be told apart
#   seen: where it was seen in print     (optional)
#
#   --- histogram.cl
#   text that stands in this file once
#   +++
#   what stands there instead, or nothing
#   --- cuda.cu
#   ...
#
# `shows` may also be `oclgrind` and an input, for what the results on a CPU do not show, or by luck only: `names` is
# then the words that Oclgrind says. `gpu:`, `gpu-shows:` and `gpu-hides:` stand for `names`, `shows` and `hides` in CUDA,
# where they differ. `gpu-shows` may begin with a tool of compute-sanitizer, such as racecheck, and `gpu` is then what that
# says; it is `nothing` where no run and no tool shows it for certain. `shows` may begin with `tsan` in chapter 01, where
# the program is built with ThreadSanitizer then; what it shows is called nothing there.
cmake_policy(VERSION 3.25)

# read_mistake(file): sets MISTAKE_NAME, _CHAPTER, _SENTENCE, _FILES and a variable for each field, such as _SHOWS.
function(read_mistake file)
    file(READ ${file} text)
    get_filename_component(name ${file} NAME_WE)
    get_filename_component(chapter ${file} DIRECTORY)
    get_filename_component(chapter ${chapter} DIRECTORY)
    string(FIND "${text}" "\n--- " end)
    if(end EQUAL -1)
        message(FATAL_ERROR "nothing is changed by\n${file}")
    endif()
    string(SUBSTRING "${text}" 0 ${end} head)
    string(REGEX MATCH "^[^\n]+" sentence "${head}")
    foreach(field variant shows hides names gpu gpu-shows gpu-hides seen)
        string(TOUPPER ${field} upper)
        set(value "")
        if(head MATCHES "\n${field}: *([^\n]*)")
            set(value "${CMAKE_MATCH_1}")
        endif()
        set(MISTAKE_${upper} "${value}" PARENT_SCOPE)
        if(value STREQUAL "" AND NOT field MATCHES "^(gpu|gpu-shows|gpu-hides|seen)$")
            message(FATAL_ERROR "no line `${field}:` in\n${file}")
        endif()
    endforeach()
    string(REGEX MATCHALL "\n--- [^\n]+" files "${text}")
    list(TRANSFORM files REPLACE "\n--- " "")
    list(REMOVE_DUPLICATES files)
    set(MISTAKE_NAME ${name} PARENT_SCOPE)
    set(MISTAKE_CHAPTER ${chapter} PARENT_SCOPE)
    set(MISTAKE_SENTENCE "${sentence}" PARENT_SCOPE)
    set(MISTAKE_FILES "${files}" PARENT_SCOPE)
endfunction()

# make_mistake(file folder): the chapter's sources that it changes, changed, in this folder.
function(make_mistake file folder)
    read_mistake(${file})
    file(READ ${file} rest)
    foreach(source IN LISTS MISTAKE_FILES)
        file(READ ${MISTAKE_CHAPTER}/${source} text_${source})
    endforeach()
    while(TRUE)
        string(FIND "${rest}" "\n--- " begin)
        if(begin EQUAL -1)
            break()
        endif()
        math(EXPR begin "${begin} + 5")
        string(SUBSTRING "${rest}" ${begin} -1 rest)
        string(FIND "${rest}" "\n" line)
        string(SUBSTRING "${rest}" 0 ${line} source)
        string(FIND "${rest}" "\n+++\n" middle)
        if(middle EQUAL -1)
            message(FATAL_ERROR "no line `+++` behind `--- ${source}` in\n${file}")
        endif()
        math(EXPR line "${line} + 1")
        math(EXPR length "${middle} + 1 - ${line}")
        string(SUBSTRING "${rest}" ${line} ${length} old)
        math(EXPR middle "${middle} + 4")
        string(SUBSTRING "${rest}" ${middle} -1 rest) # begins with the end of the line `+++`
        string(FIND "${rest}" "\n--- " end)
        if(end EQUAL -1)
            string(SUBSTRING "${rest}" 1 -1 new)
        else()
            string(SUBSTRING "${rest}" 1 ${end} new)
        endif()
        set(text "${text_${source}}")
        string(FIND "${text}" "${old}" first)
        string(FIND "${text}" "${old}" last REVERSE)
        if(first EQUAL -1 OR NOT first EQUAL last)
            message(FATAL_ERROR "this does not stand once in ${source}:\n${old}\nas it should for\n${file}")
        endif()
        string(REPLACE "${old}" "${new}" text_${source} "${text}")
    endwhile()
    foreach(source IN LISTS MISTAKE_FILES)
        file(CONFIGURE OUTPUT ${folder}/${source} CONTENT "@text_${source}@" @ONLY)
    endforeach()
endfunction()
