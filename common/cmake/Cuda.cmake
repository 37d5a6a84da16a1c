# CUDA is optional. Where there is no compiler for it the rest builds, TUTORIAL_CUDA_MISSING says why
# in a few words, and the run's table repeats them.
option(TUTORIAL_CUDA "Build the CUDA programs where a CUDA compiler is found" ON)
set(TUTORIAL_CUDA_MISSING "")

if(NOT TUTORIAL_CUDA)
    set(TUTORIAL_CUDA_MISSING "switched off (TUTORIAL_CUDA=OFF)")
else()
    # NVIDIA's own packages leave nvcc off PATH; this is where they put it.
    find_program(nvcc nvcc PATHS /usr/local/cuda/bin NO_CACHE)
    if(nvcc AND NOT DEFINED ENV{CUDACXX})
        set(ENV{CUDACXX} ${nvcc})
    endif()
    include(CheckLanguage)
    check_language(CUDA)
    if(NOT CMAKE_CUDA_COMPILER)
        set(TUTORIAL_CUDA_MISSING "no CUDA compiler (nvcc)")
        if(DEFINED ENV{CUDACXX}) # which often takes this C++ compiler for too new
            set(TUTORIAL_CUDA_MISSING "CUDA's compiler fails: $ENV{CUDACXX} -x cu -c /dev/null -o /dev/null says why")
        endif()
    endif()
endif()

if(NOT TUTORIAL_CUDA_MISSING)
    # The one place that decides for which GPUs code is made: the user's value (cache variable or
    # CUDAARCHS), else the GPUs of this machine, else an old one, whose PTX newer GPUs translate when a program
    # starts: every major architecture would take nvcc more than twice as long, and run nowhere here.
    if(NOT DEFINED CMAKE_CUDA_ARCHITECTURES AND NOT DEFINED ENV{CUDAARCHS})
        execute_process(COMMAND nvidia-smi -L OUTPUT_VARIABLE gpus ERROR_QUIET RESULT_VARIABLE status TIMEOUT 20)
        if(status EQUAL 0 AND gpus MATCHES "GPU 0")
            set(CMAKE_CUDA_ARCHITECTURES native)
        else()
            set(CMAKE_CUDA_ARCHITECTURES 75)
        endif()
    endif()
    enable_language(CUDA)
    find_package(CUDAToolkit QUIET)
    if(NOT CUDAToolkit_FOUND OR CMAKE_CUDA_COMPILER_VERSION VERSION_LESS 12.0)
        set(TUTORIAL_CUDA_MISSING
            "CUDA ${CMAKE_CUDA_COMPILER_VERSION} is too old for C++20: 12.0 or newer is needed")
    endif()
endif()

if(TUTORIAL_CUDA_MISSING)
    message(STATUS "CUDA programs: not built, ${TUTORIAL_CUDA_MISSING}")
else()
    set(CMAKE_CUDA_STANDARD 20)
    set(CMAKE_CUDA_STANDARD_REQUIRED ON)
    set(CMAKE_CUDA_EXTENSIONS OFF)
    if(NOT CMAKE_CUDA20_STANDARD_COMPILE_OPTION)
        # CMake 3.25 does not know yet that nvcc speaks C++20.
        set(CMAKE_CUDA20_STANDARD_COMPILE_OPTION "-std=c++20")
    endif()
    message(STATUS "CUDA programs: built by nvcc ${CMAKE_CUDA_COMPILER_VERSION} for "
                   "architectures '${CMAKE_CUDA_ARCHITECTURES}'")
endif()
