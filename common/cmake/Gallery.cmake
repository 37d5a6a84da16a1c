# The gallery of mistakes: each is made, caught and named.
include_guard(GLOBAL)
set(TUTORIAL_GALLERY ${PROJECT_SOURCE_DIR}/common/tutor/gallery)

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
    execute_process(COMMAND ${Python3_EXECUTABLE} -B ${TUTORIAL_GALLERY}/gallery.py cmake ${folder}
        OUTPUT_VARIABLE lines COMMAND_ERROR_IS_FATAL ANY)
    string(REPLACE "\n" ";" lines "${lines}")
    foreach(api opencl cuda cuda-on-cpu cpu)
        if(NOT TARGET ${folder}-${api})
            continue()
        endif()
        add_custom_target(gallery_${number}_${api})
        add_dependencies(gallery_${number}_${api} why)
        foreach(line IN LISTS lines)
            if(line MATCHES "^${api}[|](.*)[|](.*)")
                add_broken_program(${api} ${CMAKE_MATCH_1} ${CMAKE_MATCH_2} ${mistakes})
            endif()
        endforeach()
        set(test ${folder}.broken.${api})
        add_python_test(NAME ${test} LABELS chapter-${number} ${api} broken COMMAND ${TUTORIAL_GALLERY}/test_gallery.py
            --build ${CMAKE_BINARY_DIR} --program ${folder}/${api} Chapter)
        set_tests_properties(${test} PROPERTIES TIMEOUT 600 COST 30
            ENVIRONMENT XDG_CACHE_HOME=${CMAKE_CURRENT_BINARY_DIR}/nothing-kept)
    endforeach()
endfunction()

# add_broken_program(api how files mistake...): one program for the mistakes of a chapter that show in what is built so
# (gallery.py together); the variable MISTAKE tells it which it is to have. To compile each by itself would take most of the
# time that the tests have.
function(add_broken_program api how files)
    set(target ${folder}-broken-${api}-${how})
    set(place ${CMAKE_CURRENT_BINARY_DIR}/broken/${api}-${how})
    string(REGEX MATCH "thread|address" sanitizer ${how})
    string(REPLACE "," ";" files ${files})
    list(GET files -1 source)
    cmake_path(GET source EXTENSION source)
    set(source mistakes${source})
    add_custom_command(OUTPUT ${place}/${source} VERBATIM
        COMMAND ${Python3_EXECUTABLE} -B ${TUTORIAL_GALLERY}/gallery.py together ${folder} ${api} ${how} ${place}/${source}
        DEPENDS ${ARGN} ${files} ${TUTORIAL_GALLERY}/gallery.py)
    set(made ${place}/${source})
    if(api STREQUAL "cuda-on-cpu")
        made_for_cpu(made FROM ${place} TO ${place} FILES ${source})
    endif()
    add_executable(${target} EXCLUDE_FROM_ALL ${made})
    set_target_properties(${target} PROPERTIES OUTPUT_NAME ${api} RUNTIME_OUTPUT_DIRECTORY ${place})
    target_compile_definitions(${target} PRIVATE CHAPTER_FOLDER="${CMAKE_CURRENT_SOURCE_DIR}")
    get_target_property(libraries ${folder}-${api} LINK_LIBRARIES)
    list(FILTER libraries EXCLUDE REGEX "on_cpu")
    target_link_libraries(${target} PRIVATE ${libraries} compiled_quickly)
    target_compile_options(${target} PRIVATE -w) # a mistake may leave a parameter unused
    if(api STREQUAL "cuda-on-cpu")
        for_cpu(${target} ${sanitizer})
    elseif(sanitizer)
        target_compile_options(${target} PRIVATE -fsanitize=${sanitizer} -g1)
        target_link_options(${target} PRIVATE -fsanitize=${sanitizer})
    endif()
    add_dependencies(gallery_${number}_${api} ${target})
endfunction()
