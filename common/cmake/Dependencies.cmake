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

find_package(Threads REQUIRED)

FetchContent_Declare(fmt
    GIT_REPOSITORY https://github.com/fmtlib/fmt.git
    GIT_TAG 0c9fce2ffefecfdce794e1859584e25877b7b592 # 11.0.2
    FIND_PACKAGE_ARGS 9.0 CONFIG)
FetchContent_Declare(CLI11
    GIT_REPOSITORY https://github.com/CLIUtils/CLI11.git
    GIT_TAG 4160d259d961cd393fd8d67590a8c7d210207348 # 2.5.0
    FIND_PACKAGE_ARGS 2.1 CONFIG)
FetchContent_Declare(nlohmann_json
    GIT_REPOSITORY https://github.com/nlohmann/json.git
    GIT_TAG 9cca280a4d0ccf0c08f47a99aa71d1b0e52f8d03 # 3.11.3
    FIND_PACKAGE_ARGS 3.10 CONFIG)
FetchContent_MakeAvailable(fmt CLI11 nlohmann_json)
no_warnings_from(fmt CLI11 nlohmann_json)

# stb is a folder of headers without a build of its own, so it is looked for as a header.
find_path(STB_INCLUDE_DIR stb_image.h PATH_SUFFIXES stb DOC "the folder that holds stb_image.h")
if(NOT STB_INCLUDE_DIR)
    FetchContent_Declare(stb
        GIT_REPOSITORY https://github.com/nothings/stb.git
        GIT_TAG 5c205738c191bcb0abc65c4febfa9bd25ff35234) # stb_image 2.30
    FetchContent_MakeAvailable(stb)
    set(STB_INCLUDE_DIR ${stb_SOURCE_DIR} CACHE PATH "the folder that holds stb_image.h" FORCE)
endif()
add_library(stb INTERFACE)
target_include_directories(stb SYSTEM INTERFACE ${STB_INCLUDE_DIR})

# The loader comes after the headers, because the Khronos loader is built against them. FindOpenCL
# finds any loader (ocl-icd, Khronos, a vendor's, the macOS framework).
find_package(OpenCL QUIET)
if(NOT OpenCL_FOUND)
    set(OPENCL_ICD_LOADER_BUILD_TESTING OFF)
    FetchContent_Declare(OpenCLHeaders
        GIT_REPOSITORY https://github.com/KhronosGroup/OpenCL-Headers.git
        GIT_TAG 8a97ebc88daa3495d6f57ec10bb515224400186f # v2025.07.22
            FIND_PACKAGE_ARGS CONFIG)
    FetchContent_Declare(OpenCLICDLoader
        GIT_REPOSITORY https://github.com/KhronosGroup/OpenCL-ICD-Loader.git
        GIT_TAG ad770a1b64c6b8d5f2ed4e153f22e4f45939f27f # v2025.07.22
            FIND_PACKAGE_ARGS CONFIG)
    FetchContent_MakeAvailable(OpenCLHeaders OpenCLICDLoader)
    no_warnings_from(Headers OpenCL)
endif()

if(BUILD_TESTING)
    set(INSTALL_GTEST OFF)
    FetchContent_Declare(GTest
        GIT_REPOSITORY https://github.com/google/googletest.git
        GIT_TAG b514bdc898e2951020cbdca1304b75f5950d1f59 # 1.15.2
            FIND_PACKAGE_ARGS 1.12 CONFIG)
    FetchContent_MakeAvailable(GTest)
    no_warnings_from(gtest gtest_main gmock gmock_main)
    include(GoogleTest)
endif()
