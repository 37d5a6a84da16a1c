# Makes C++ of a CUDA source, for cuda_runtime.h beside this file: cmake -DFROM=x.cu -DTO=x.cpp -P to_cpp.cmake
# Lines stay lines, and #line names the source: compilers, debuggers and sanitizers show what its author has written.
file(READ ${FROM} text)
set(name "[A-Za-z_][A-Za-z0-9_:]*")
# A template whose arguments the launch's own tell.
string(REGEX MATCHALL "template *<[^;{}()]*>[ \n]*__global__ [^;{}()]*(__launch_bounds__\\([^()]*\\)[^;{}()]*)?\\(" templates "${text}")
foreach(each IN LISTS templates)
    string(REGEX REPLACE ".*[ \n]([A-Za-z0-9_]+) *\\($" "\\1" kernel "${each}")
    string(REGEX REPLACE "([^A-Za-z0-9_])${kernel} *<<<([^;]*)>>>[ \n]*\\("
        "\\1on_cpu::launch([](auto... of) { ${kernel}(of...); }, \\2)(" text "${text}")
endforeach()
string(REGEX REPLACE "(${name}(<[^<>;(){}]*>)?)[ ]*<<<([^;]*)>>>[ \n]*\\(" "on_cpu::launch(\\1, \\3)(" text "${text}")
# All scopes are one, and so are all ways of a load.
string(REGEX REPLACE "(atomic[A-Z][A-Za-z]+|__threadfence)_(block|system)" "\\1" text "${text}")
string(REGEX REPLACE "__ld(ca|cg|cs|cv|lu)\\(" "__ldg(" text "${text}")
# Headers of CUDA's whose words are all in cuda_runtime.h; and PTX, which is no call.
string(REGEX REPLACE "#[ ]*include[ ]*[<\"](cuda|device_[a-z_]+|vector_[a-z]+)\\.h[>\"]" "" text "${text}")
string(REGEX REPLACE "([^A-Za-z0-9_])(asm|__asm__)([ ]+(volatile|__volatile__))?[ ]*\\(" "\\1inline_asm(), ON_CPU_ASM(" text "${text}")
# The C++ library has this word, too, so it can be no macro.
string(REPLACE "__noinline__" "__attribute__((noinline))" text "${text}")
string(REGEX REPLACE "(//[^\n]*)__shared__" "\\1shared" text "${text}")
# Shared memory: a declaration has its words in one order, __shared__ alignas(16) volatile T name[SIZE], and one variable.
set(aligned "_*align[a-z_]*\\([^()]*(\\([^()]*\\))?\\)")
set(type "[A-Za-z_][A-Za-z0-9_: ]*(<[^<>;]*>)?[ *]*[ *>]")
set(variable "([^]\n -/:-@[^`{-~]+) *((\\[[^];]*\\] *)*)")
string(REGEX REPLACE "(${aligned}) +__shared__ " "__shared__ \\1 " text "${text}")
string(REGEX REPLACE "volatile +__shared__ " "__shared__ volatile " text "${text}")
string(REGEX REPLACE "__shared__ volatile +(${aligned}) +" "__shared__ \\1 volatile " text "${text}")
string(REGEX REPLACE "static +__shared__ |__shared__ +static " "__shared__ " text "${text}")
string(REGEX REPLACE "extern +__shared__ +(${aligned} +)?(${type})([A-Za-z0-9_]+) *\\[ *\\];"
    "\\3* const \\5 = on_cpu::dynamic_shared<\\3>();" text "${text}")
set(one "__shared__ +((${aligned} +)?)(${type})${variable}")
while(text MATCHES "${one},")
    string(REGEX REPLACE "${one},([ \n]*)" "__shared__ \\1\\4\\6\\7;\\9__shared__ \\1\\4" text "${text}")
endwhile()
string(REGEX REPLACE "${one};" "struct \\1\\6_is_here {}; auto& \\6 = on_cpu::shared<\\4\\7, \\6_is_here>();" text "${text}")
file(WRITE ${TO} "#include \"common/cuda/on_cpu/cuda_runtime.h\"\n#line 1 \"${FROM}\"\n${text}")
