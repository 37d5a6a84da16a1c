# Tests on a device that is other than most.
include_guard(GLOBAL)

# expect_strange(words NAME ... COMMAND ...): as expect_run, on a driver that behaves as the words say
# (common/tests/fault_injecting_driver.cpp).
function(expect_strange words)
    cmake_parse_arguments(PARSE_ARGV 1 arg "" "NAME" "COMMAND")
    if(NOT TARGET fault_injecting_driver OR TUTORIAL_SANITIZE) # both want to be loaded first
        return()
    endif()
    expect_run(NAME ${arg_NAME} ${arg_UNPARSED_ARGUMENTS} COMMAND ${CMAKE_COMMAND} -E env
        "FAULT_INJECTING_DRIVER=${words}" LD_PRELOAD=$<TARGET_FILE:fault_injecting_driver> ${arg_COMMAND})
    # Where that is what is expected, this tells it from a machine without any device.
    skip_if(${arg_NAME} "exit status 77|no OpenCL device: [^\n]*(names no driver|find none)")
endfunction()

# Every OpenCL program on devices that are smaller than usual.
function(add_strange_tests prefix program variants labels)
    set(rows "")
    foreach(variant IN LISTS variants)
        string(APPEND matches "${variant} [^\n]* match\n")
        string(APPEND skipped "${variant} [^\n]* skipped: this device runs it in groups of at most 1: --group-size 1\n")
    endforeach()
    set(short --random 100003 --repeat 1)
    expect_strange("group=32 local=16384 memory=8388608 no-profiling" NAME ${prefix}.strange.small LABELS ${labels}
        STATUS 0 STDOUT "times: by the host's clock.*\n${matches}$" STDERR "no times: from here on the host's clock is used"
        COMMAND ${program} ${short})
    expect_strange("group=1 flat" NAME ${prefix}.strange.groups-of-1 LABELS ${labels} STATUS 0 STDOUT "\n${matches}$"
        COMMAND ${program} ${short} --no-ceiling)
    expect_strange("kernel-group=1" NAME ${prefix}.strange.limited-kernels LABELS ${labels} STATUS 77
        STDOUT "\n${skipped}$" COMMAND ${program} ${short} --no-ceiling --group-size 2)
    expect_strange("memory=65536" NAME ${prefix}.strange.little-memory LABELS ${labels} STATUS 2 ONE_LINE
        STDERR "take 100003 bytes, and this device has at most 65536 .*cluster/opencl --chunk 16384\n$"
        COMMAND ${program} ${short})
endfunction()
