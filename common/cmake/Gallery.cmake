# The gallery of mistakes: each is made, caught and named.
include_guard(GLOBAL)

# add_gallery(): the mistakes in this chapter's broken/ (common/tutor/gallery/gallery.cmake), each caught and named.
# Programs that are needed for them are built when the tests run, and not before: a reader who changes a chapter
# must not be stopped by a mistake that no longer fits. For CUDA they are built only where there is a GPU.
include(${PROJECT_SOURCE_DIR}/common/tutor/gallery/gallery.cmake)
foreach(api opencl cuda cpu)
    add_custom_target(gallery_${api}) # of all chapters
endforeach()
function(add_gallery)
    get_filename_component(chapter ${CMAKE_CURRENT_SOURCE_DIR} NAME)
    string(REGEX MATCH "^[0-9]+" number ${chapter})
    file(GLOB mistakes CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/broken/*.txt)
    if(NOT BUILD_TESTING OR TUTORIAL_SANITIZE)
        return()
    endif()
    set(ahead "")
    set(environment "XDG_CACHE_HOME=${CMAKE_CURRENT_BINARY_DIR}/nothing-kept")
    if(mistakes AND TARGET ${chapter}-opencl AND TARGET many_runs)
        set(ahead ${chapter}.broken.kernels-ahead)
        add_test(NAME ${ahead} COMMAND ${CMAKE_COMMAND} -DCHAPTER=${CMAKE_CURRENT_SOURCE_DIR}
            -DPROGRAM=$<TARGET_FILE:${chapter}-opencl> -DMANY_RUNS=$<TARGET_FILE:many_runs>
            -DFOLDER=${CMAKE_CURRENT_BINARY_DIR}/broken -P ${PROJECT_SOURCE_DIR}/common/tutor/gallery/ahead.cmake)
        set_tests_properties(${ahead} PROPERTIES LABELS "chapter-${number};opencl;broken"
            SKIP_REGULAR_EXPRESSION "-- skipped: " ENVIRONMENT "${environment}")
    endif()
    foreach(mistake IN LISTS mistakes)
        read_mistake(${mistake})
        set(folder ${CMAKE_CURRENT_BINARY_DIR}/broken/${MISTAKE_NAME})
        foreach(pair "opencl;opencl.cpp;histogram.cl" "cuda;cuda.cu;histogram.cuh" "cpu;cpu.cpp;histogram.hpp")
            list(POP_FRONT pair api source kernels)
            if(NOT TARGET ${chapter}-${api} OR NOT (source IN_LIST MISTAKE_FILES OR kernels IN_LIST MISTAKE_FILES))
                continue()
            endif()
            set(test ${chapter}.broken.${MISTAKE_NAME}.${api})
            set(program $<TARGET_FILE:${chapter}-${api}>)
            set(fixture "")
            if(source IN_LIST MISTAKE_FILES OR NOT api STREQUAL "opencl") # OpenCL's kernels are read at run time
                add_broken_program(${api} ${source})
                set(program $<TARGET_FILE:${chapter}-broken-${MISTAKE_NAME}-${api}>)
                set(fixture gallery_${number}_${api})
            endif()
            add_test(NAME ${test} COMMAND ${CMAKE_COMMAND} -DMISTAKE=${mistake} -DAPI=${api}
                -DPROGRAM=${program} -DFOLDER=${folder} -DOCLGRIND=${OCLGRIND} -DCOMPUTE_SANITIZER=${COMPUTE_SANITIZER}
                -P ${PROJECT_SOURCE_DIR}/common/tutor/gallery/check.cmake)
            set_tests_properties(${test} PROPERTIES LABELS "chapter-${number};${api};broken"
                SKIP_REGULAR_EXPRESSION "skipped: " FIXTURES_REQUIRED "${fixture}" ENVIRONMENT "${environment}")
            if(api STREQUAL "opencl")
                set_tests_properties(${test} PROPERTIES DEPENDS "${ahead}")
            endif()
        endforeach()
    endforeach()
    foreach(api opencl cuda cpu)
        if(TARGET gallery_${number}_${api})
            add_test(NAME ${chapter}.broken.programs-${api} COMMAND ${CMAKE_COMMAND} -DBUILD=${CMAKE_BINARY_DIR}
                -DTARGET=gallery_${number}_${api} -DASK=$<TARGET_FILE:${chapter}-${api}>
                -P ${PROJECT_SOURCE_DIR}/common/tutor/gallery/build.cmake)
            set_tests_properties(${chapter}.broken.programs-${api} PROPERTIES
                LABELS "chapter-${number};${api};broken" TIMEOUT 600 SKIP_REGULAR_EXPRESSION "skipped: "
                FIXTURES_SETUP gallery_${number}_${api} RESOURCE_LOCK build) # Ninja does not share a folder
        endif()
    endforeach()
endfunction()

# A chapter's program with the mistake that has been read: its source is made anew, or found beside the changed kernels.
macro(add_broken_program api source)
    set(target ${chapter}-broken-${MISTAKE_NAME}-${api})
    set(at ${CMAKE_CURRENT_SOURCE_DIR})
    set(changed "")
    foreach(file ${source} ${kernels})
        if("${file}" IN_LIST MISTAKE_FILES)
            list(APPEND changed ${file})
        endif()
    endforeach()
    if("${source}" IN_LIST MISTAKE_FILES)
        set(at ${folder})
    endif()
    list(TRANSFORM changed PREPEND ${folder}/ OUTPUT_VARIABLE made)
    list(TRANSFORM changed PREPEND ${CMAKE_CURRENT_SOURCE_DIR}/ OUTPUT_VARIABLE originals)
    add_custom_command(OUTPUT ${made}
        COMMAND ${CMAKE_COMMAND} -DMISTAKE=${mistake} -DFOLDER=${folder}
                -P ${PROJECT_SOURCE_DIR}/common/tutor/gallery/make.cmake
        DEPENDS ${mistake} ${originals} VERBATIM)
    add_executable(${target} EXCLUDE_FROM_ALL ${at}/${source} ${made})
    set_target_properties(${target} PROPERTIES OUTPUT_NAME ${api} RUNTIME_OUTPUT_DIRECTORY ${folder})
    target_compile_definitions(${target} PRIVATE CHAPTER_FOLDER="${CMAKE_CURRENT_SOURCE_DIR}")
    get_target_property(libraries ${chapter}-${api} LINK_LIBRARIES)
    target_link_libraries(${target} PRIVATE ${libraries} compiled_quickly)
    if("${kernels}" IN_LIST changed) # a header, which stands before the chapter's
        add_custom_command(OUTPUT ${folder}/before/${chapter}/${kernels}
            COMMAND ${CMAKE_COMMAND} -E copy ${folder}/${kernels} ${folder}/before/${chapter}/${kernels}
            DEPENDS ${folder}/${kernels} VERBATIM)
        target_sources(${target} PRIVATE ${folder}/before/${chapter}/${kernels})
        target_include_directories(${target} BEFORE PRIVATE ${folder}/before)
    endif()
    if(MISTAKE_SHOWS MATCHES "^tsan ")
        target_compile_options(${target} PRIVATE -fsanitize=thread)
        target_link_options(${target} PRIVATE -fsanitize=thread)
    endif()
    if(NOT TARGET gallery_${number}_${api})
        add_custom_target(gallery_${number}_${api})
        add_dependencies(gallery_${api} gallery_${number}_${api})
    endif()
    add_dependencies(gallery_${number}_${api} ${target})
endmacro()
