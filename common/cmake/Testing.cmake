# CTest, and how many seconds a test may take: a kernel that hangs must not hold up the others for the 25
# minutes that CTest would give it. A test that needs more says so with TIMEOUT. The presets for tests
# name the same number, because a newer CTest that is called with one of them passes over this one.
set(DART_TESTING_TIMEOUT 120)
include(CTest)
