# CTest, and how many seconds a test may take: a kernel that hangs must not hold up the others for the 25
# minutes that CTest would give it. A test that needs more says so with TIMEOUT. The presets for tests
# name the same number, because a newer CTest that is called with one of them passes over this one.
set(DART_TESTING_TIMEOUT 120)
include(CTest)

# The targets that `./tutorial test 03` builds, chapter-03: what this chapter's folder has, the program of
# chapter 01 that others are compared with, and the libraries that its tests load.
function(add_chapter_targets)
    get_property(folders DIRECTORY PROPERTY SUBDIRECTORIES)
    list(FILTER folders INCLUDE REGEX "/[0-9][0-9]-[^/]*$")
    foreach(folder IN LISTS folders)
        string(REGEX MATCH "/([0-9][0-9])-[^/]*$" _ ${folder})
        set(target chapter-${CMAKE_MATCH_1})
        add_custom_target(${target})
        foreach(other 01-cpu-cpu fault_injecting_driver gpu_driver many_runs)
            if(TARGET ${other})
                add_dependencies(${target} ${other})
            endif()
        endforeach()
        get_property(inner DIRECTORY ${folder} PROPERTY SUBDIRECTORIES)
        foreach(each IN LISTS inner ITEMS ${folder})
            get_property(targets DIRECTORY ${each} PROPERTY BUILDSYSTEM_TARGETS)
            foreach(one IN LISTS targets)
                get_target_property(kind ${one} TYPE)
                get_target_property(apart ${one} EXCLUDE_FROM_ALL)
                if(NOT kind STREQUAL "UTILITY" AND NOT apart)
                    add_dependencies(${target} ${one})
                endif()
            endforeach()
        endforeach()
    endforeach()
endfunction()
