# Makes C++ of a CUDA source, for cuda_runtime.h beside this file: cmake -DFROM=x.cu -DTO=x.cpp -P to_cpp.cmake
# Lines stay lines, and #line names the source: compilers, debuggers and sanitizers show what its author has written.
file(READ ${FROM} text)
set(name "[A-Za-z_][A-Za-z0-9_:]*")
set(type "[A-Za-z_][A-Za-z0-9_: ]*")
string(REGEX REPLACE "(${name}(<[^<>;(){}]*>)?)<<<([^;]*)>>>[ \n]*\\(" "on_cpu::launch(\\1, \\3)(" text "${text}")
string(REGEX REPLACE "extern __shared__ (${type}) ([A-Za-z0-9_]+)\\[\\];"
    "\\1* const \\2 = on_cpu::dynamic_shared<\\1>();" text "${text}")
string(REGEX REPLACE "__shared__ (${type}) ([A-Za-z0-9_]+)((\\[[^];]+\\])*);"
    "auto& \\2 = on_cpu::shared<\\1\\3>(__FILE__, __LINE__);" text "${text}")
file(WRITE ${TO} "#include \"common/cuda/on_cpu/cuda_runtime.h\"\n#line 1 \"${FROM}\"\n${text}")
