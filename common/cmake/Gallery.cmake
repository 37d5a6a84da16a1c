# The gallery of mistakes: each is made, caught and named.
include_guard(GLOBAL)
set(TUTORIAL_GALLERY ${PROJECT_SOURCE_DIR}/common/tutor/gallery)
foreach(api opencl cuda cuda-on-cpu cpu)
    add_custom_target(gallery_${api}) # of all chapters
endforeach()

# add_gallery(): the mistakes in this chapter's broken/ (common/tutor/gallery/gallery.py), each caught and named.
# Programs that are needed for them are built when the tests run, and not before: a reader who changes a chapter
# must not be stopped by a mistake that no longer fits.
function(add_gallery)
    this_folder()
    file(GLOB mistakes CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/broken/*.txt)
    if(NOT mistakes OR NOT BUILD_TESTING OR TUTORIAL_SANITIZE)
        return()
    endif()
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${mistakes} ${TUTORIAL_GALLERY}/gallery.py)
    set(lines "")
    if(Python3_FOUND)
        execute_process(COMMAND ${Python3_EXECUTABLE} -B ${TUTORIAL_GALLERY}/gallery.py cmake ${folder}
            OUTPUT_VARIABLE lines COMMAND_ERROR_IS_FATAL ANY)
    endif()
    foreach(api opencl cuda cuda-on-cpu cpu)
        if(NOT TARGET ${folder}-${api})
            continue()
        endif()
        add_custom_target(gallery_${number}_${api})
        add_dependencies(gallery_${api} gallery_${number}_${api})
        string(REGEX MATCHALL "[^|\n]+[|]${api}[|][^\n]+" programs "${lines}")
        foreach(program IN LISTS programs)
            string(REPLACE "|" ";" program ${program})
            add_broken_program(${program})
        endforeach()
        if(api STREQUAL "cuda-on-cpu")
            add_emulated_gallery(${mistakes})
        endif()
        set(test ${folder}.broken.${api})
        add_python_test(NAME ${test} LABELS chapter-${number} ${api} broken COMMAND ${TUTORIAL_GALLERY}/test_gallery.py
            --build ${CMAKE_BINARY_DIR} --program ${folder}/${api} Chapter)
        set_tests_properties(${test} PROPERTIES TIMEOUT 600
            ENVIRONMENT XDG_CACHE_HOME=${CMAKE_CURRENT_BINARY_DIR}/nothing-kept)
    endforeach()
endfunction()

# add_broken_program(mistake api with_tsan changed): a chapter's program with the mistake. The files that it changes are
# made anew, in a folder that stands before the chapter's.
function(add_broken_program mistake api with_tsan changed)
    set(target ${folder}-broken-${mistake}-${api})
    set(place ${CMAKE_CURRENT_BINARY_DIR}/broken/${mistake})
    set(text ${CMAKE_CURRENT_SOURCE_DIR}/broken/${mistake}.txt)
    string(REPLACE "," ";" changed ${changed})
    get_target_property(sources ${folder}-${api} SOURCES)
    list(GET sources 0 sources) # others have no mistakes
    list(REMOVE_ITEM sources ${changed})
    foreach(file IN LISTS changed)
        list(APPEND sources ${place}/made/${folder}/${file})
        add_custom_command(OUTPUT ${place}/made/${folder}/${file}
            COMMAND ${Python3_EXECUTABLE} -B ${TUTORIAL_GALLERY}/gallery.py make ${text} ${place}/made/${folder} ${file}
            DEPENDS ${text} ${CMAKE_CURRENT_SOURCE_DIR}/${file} VERBATIM)
    endforeach()
    add_executable(${target} EXCLUDE_FROM_ALL ${sources})
    set_target_properties(${target} PROPERTIES OUTPUT_NAME ${api} RUNTIME_OUTPUT_DIRECTORY ${place})
    target_compile_definitions(${target} PRIVATE CHAPTER_FOLDER="${CMAKE_CURRENT_SOURCE_DIR}")
    target_include_directories(${target} BEFORE PRIVATE ${place}/made)
    get_target_property(libraries ${folder}-${api} LINK_LIBRARIES)
    target_link_libraries(${target} PRIVATE ${libraries} compiled_quickly)
    if(with_tsan)
        target_compile_options(${target} PRIVATE -fsanitize=thread)
        target_link_options(${target} PRIVATE -fsanitize=thread)
    endif()
    add_dependencies(gallery_${number}_${api} ${target})
endfunction()

# add_emulated_gallery(): one program for all mistakes of a chapter in CUDA on a CPU, whose first argument is the mistake:
# to compile each by itself would take most of the time that the tests have. Under a sanitizer it has those that it shows,
# plain the others; for docs/gallery.md there is each with all.
function(add_emulated_gallery)
    get_target_property(libraries ${folder}-cuda-on-cpu LINK_LIBRARIES)
    list(FILTER libraries EXCLUDE REGEX "on_cpu")
    foreach(mistakes plain thread address plain-all thread-all address-all)
        string(REGEX MATCH "thread|address" sanitizer ${mistakes})
        set(place ${CMAKE_CURRENT_BINARY_DIR}/broken/${mistakes})
        add_custom_command(OUTPUT ${place}/cuda.cu VERBATIM
            COMMAND ${Python3_EXECUTABLE} -B ${TUTORIAL_GALLERY}/gallery.py together ${folder} ${mistakes} ${place}/cuda.cu
            DEPENDS ${ARGN} ${CMAKE_CURRENT_SOURCE_DIR}/cuda.cu ${CMAKE_CURRENT_SOURCE_DIR}/histogram.cuh ${TUTORIAL_GALLERY}/gallery.py)
        made_for_cpu(made FROM ${place} TO ${place} FILES cuda.cu)
        set(target ${folder}-broken-cuda-on-cpu-${mistakes})
        add_executable(${target} EXCLUDE_FROM_ALL ${made})
        set_target_properties(${target} PROPERTIES OUTPUT_NAME cuda-on-cpu RUNTIME_OUTPUT_DIRECTORY ${place})
        target_compile_definitions(${target} PRIVATE CHAPTER_FOLDER="${CMAKE_CURRENT_SOURCE_DIR}")
        target_link_libraries(${target} PRIVATE ${libraries} compiled_quickly)
        target_compile_options(${target} PRIVATE -w) # a mistake may leave a parameter unused
        for_cpu(${target} ${sanitizer})
        add_dependencies(gallery_cuda-on-cpu ${target})
        if(NOT mistakes MATCHES "-all")
            add_dependencies(gallery_${number}_cuda-on-cpu ${target})
        endif()
    endforeach()
endfunction()
