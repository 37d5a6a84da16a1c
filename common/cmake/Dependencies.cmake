# What the project uses and did not write itself: the system's package where there is one, else the
# pinned source. docs/dependencies.md says why each is here.
include(FetchContent)

# The warnings of this project are not for what it fetches. (FetchContent_Declare has a word for it,
# SYSTEM, which CMake 3.25 takes for the address of the repository.)
function(no_warnings_from)
    foreach(target IN LISTS ARGN)
        if(TARGET ${target})
            get_target_property(imported ${target} IMPORTED)
            if(NOT imported)
                set_target_properties(${target} PROPERTIES SYSTEM ON)
            endif()
        endif()
    endforeach()
endfunction()

# declare(name Debian-package repository commit [arguments of find_package]): for FetchContent_MakeAvailable.
# Where the library is neither installed nor to be fetched, its package joins the list `not_found`: git's
# own words for "no network" fill a page and name no package, so it is asked first.
set(not_found "")
function(declare name package repository commit)
    set(find "")
    if(ARGN)
        set(find FIND_PACKAGE_ARGS ${ARGN})
    endif()
    FetchContent_Declare(${name} GIT_REPOSITORY ${repository} GIT_TAG ${commit} ${find})
    if(ARGN AND NOT FETCHCONTENT_TRY_FIND_PACKAGE_MODE STREQUAL "NEVER")
        find_package(${name} ${ARGN} QUIET)
    endif()
    string(TOUPPER ${name} upper)
    string(TOLOWER ${name} lower)
    if(${name}_FOUND OR FETCHCONTENT_SOURCE_DIR_${upper} OR EXISTS ${CMAKE_BINARY_DIR}/_deps/${lower}-src/README.md)
        return()
    endif()
    find_package(Git QUIET)
    if(GIT_FOUND AND NOT FETCHCONTENT_FULLY_DISCONNECTED)
        execute_process(COMMAND ${GIT_EXECUTABLE} ls-remote ${repository} HEAD
            TIMEOUT 30 RESULT_VARIABLE status OUTPUT_QUIET ERROR_QUIET)
        if(status EQUAL 0)
            return()
        endif()
    endif()
    set(not_found ${not_found} ${package} PARENT_SCOPE)
endfunction()

find_package(Threads REQUIRED)

declare(fmt libfmt-dev https://github.com/fmtlib/fmt.git
    0c9fce2ffefecfdce794e1859584e25877b7b592 9.0 CONFIG) # 11.0.2
declare(CLI11 libcli11-dev https://github.com/CLIUtils/CLI11.git
    4160d259d961cd393fd8d67590a8c7d210207348 2.1 CONFIG) # 2.5.0
declare(nlohmann_json nlohmann-json3-dev https://github.com/nlohmann/json.git
    9cca280a4d0ccf0c08f47a99aa71d1b0e52f8d03 3.10 CONFIG) # 3.11.3
# stb is a folder of headers without a build of its own, so it is looked for as a header.
find_path(STB_INCLUDE_DIR stb_image.h PATH_SUFFIXES stb DOC "the folder that holds stb_image.h")
if(NOT STB_INCLUDE_DIR)
    declare(stb libstb-dev https://github.com/nothings/stb.git
        5c205738c191bcb0abc65c4febfa9bd25ff35234) # stb_image 2.30
endif()
if(BUILD_TESTING)
    declare(GTest libgtest-dev https://github.com/google/googletest.git
        b514bdc898e2951020cbdca1304b75f5950d1f59 1.12 CONFIG) # 1.15.2
endif()
if(not_found)
    list(JOIN not_found " " not_found)
    message(FATAL_ERROR "Not installed, and not to be fetched without git and a network: ${not_found}")
endif()

set(INSTALL_GTEST OFF)
FetchContent_MakeAvailable(fmt CLI11 nlohmann_json)
no_warnings_from(fmt CLI11 nlohmann_json)
if(NOT STB_INCLUDE_DIR)
    FetchContent_MakeAvailable(stb)
    set(STB_INCLUDE_DIR ${stb_SOURCE_DIR} CACHE PATH "the folder that holds stb_image.h" FORCE)
endif()
add_library(stb INTERFACE)
target_include_directories(stb SYSTEM INTERFACE ${STB_INCLUDE_DIR})
if(BUILD_TESTING)
    FetchContent_MakeAvailable(GTest)
    no_warnings_from(gtest gtest_main gmock gmock_main)
    include(GoogleTest)
endif()

# OpenCL is optional, as CUDA is: without it chapter 01 still builds. TUTORIAL_OPENCL_MISSING says why in a
# few words, and the run's table repeats them. FindOpenCL finds any loader (ocl-icd, Khronos, a vendor's,
# the macOS framework).
set(TUTORIAL_OPENCL ON CACHE STRING
    "ON: build the OpenCL programs where OpenCL is found or can be fetched; REQUIRED: stop where not; OFF")
set_property(CACHE TUTORIAL_OPENCL PROPERTY STRINGS ON REQUIRED OFF)
set(TUTORIAL_OPENCL_MISSING "")
if(NOT TUTORIAL_OPENCL)
    set(TUTORIAL_OPENCL_MISSING "switched off (TUTORIAL_OPENCL=OFF)")
else()
    find_package(OpenCL QUIET)
endif()
if(NOT OpenCL_FOUND AND NOT TUTORIAL_OPENCL_MISSING)
    # The loader comes after the headers, because the Khronos loader is built against them.
    set(OPENCL_ICD_LOADER_BUILD_TESTING OFF)
    declare(OpenCLHeaders opencl-headers https://github.com/KhronosGroup/OpenCL-Headers.git
        8a97ebc88daa3495d6f57ec10bb515224400186f CONFIG) # v2025.07.22
    declare(OpenCLICDLoader ocl-icd-opencl-dev https://github.com/KhronosGroup/OpenCL-ICD-Loader.git
        ad770a1b64c6b8d5f2ed4e153f22e4f45939f27f CONFIG) # v2025.07.22
    if(not_found)
        list(JOIN not_found " " not_found)
        set(TUTORIAL_OPENCL_MISSING "not installed, and not to be fetched: ${not_found}")
    else()
        FetchContent_MakeAvailable(OpenCLHeaders OpenCLICDLoader)
        no_warnings_from(Headers OpenCL)
    endif()
endif()
if(TUTORIAL_OPENCL_MISSING AND TUTORIAL_OPENCL STREQUAL "REQUIRED")
    message(FATAL_ERROR "OpenCL programs: ${TUTORIAL_OPENCL_MISSING}, and TUTORIAL_OPENCL=REQUIRED asks for them")
elseif(TUTORIAL_OPENCL_MISSING)
    message(STATUS "OpenCL programs: not built, ${TUTORIAL_OPENCL_MISSING}")
endif()
