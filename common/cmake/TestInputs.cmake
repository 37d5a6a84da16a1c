# On what every program is tested, and what it must refuse.
include_guard(GLOBAL)

# name | arguments. Sizes around every unit a kernel may work in, every kind of distribution, once more
# pixels of one value than a float can count exactly (2^24), and rows that nothing divides: the colour
# picture is 1021 wide, where generated rows and the sample's are as long as their pitch.
set(TUTORIAL_TEST_INPUTS
    "size-0|--random 0"     "size-1|--random 1"     "size-2|--random 2"     "size-3|--random 3"
    "size-15|--random 15"   "size-16|--random 16"   "size-17|--random 17"
    "size-255|--random 255" "size-256|--random 256" "size-257|--random 257"
    "prime|--random 1048573"
    "constant-0|--constant 0 --random 100003"
    "constant-127|--constant 127 --random 100003"
    "constant-255|--constant 255 --random 100003"
    "constant-large|--constant 127 --random 17M"
    "two-values|--random 300007 --values 2 --seed 2"
    "four-values|--random 300007 --values 4 --seed 3"
    "ramp|--ramp --random 70001"
    "contention-10|--random 300007 --contention 10"
    "contention-40|--random 300007 --contention 40"
    "contention-90|--random 300007 --contention 90"
    "landscape|\"${PROJECT_SOURCE_DIR}/images/landscape.bmp\""
    "tiled|\"${PROJECT_SOURCE_DIR}/images/landscape.bmp\" --tile 1000003"
    "colour|\"${PROJECT_SOURCE_DIR}/images/colour.bmp\""
    "one-pixel|\"${PROJECT_SOURCE_DIR}/images/one-pixel.bmp\""
    "one-column|\"${PROJECT_SOURCE_DIR}/images/one-column.bmp\""
    "nearly-constant|\"${PROJECT_SOURCE_DIR}/images/nearly-constant.bmp\"")

# Launch shapes of the device programs, on a size that nothing divides: groups of each size, one group
# for everything, and many more groups than there is work.
set(TUTORIAL_LAUNCHES
    "groups-of-1|--group-size 1 --groups 64"  "groups-of-32|--group-size 32"
    "groups-of-64|--group-size 64"            "groups-of-128|--group-size 128"
    "groups-of-256|--group-size 256"          "groups-of-512|--group-size 512"
    "groups-of-1024|--group-size 1024"        "groups-of-odd-size|--group-size 96 --groups 7"
    "one-group|--groups 1"                    "one-item|--group-size 1 --groups 1"
    "one-large-group|--group-size 1024 --groups 1"
    "more-groups-than-work|--groups 5000")
list(TRANSFORM TUTORIAL_LAUNCHES REPLACE "[|]" "|--random 100003 ")

# name | arguments | what the one line on standard error must match
set(TUTORIAL_BAD_COMMAND_LINES
    "unknown-option|--nosuch|nosuch"
    "missing-file|nosuch.bmp|nosuch.bmp: .*[Nn]o such file"
    "text-file|\"${PROJECT_SOURCE_DIR}/common/tests/text.bmp\"|text.bmp: not a picture"
    "unknown-variant|--variant nosuch|unknown variant 'nosuch'"
    "repeat-0|--repeat 0|--repeat"
    "negative-random|--random -5|--random"
    "unknown-suffix|--random 100Q|100Q"
    "too-many-pixels|--random 5G|32-bit"
    "unwritable-json|--json /nosuch/folder/out.json|/nosuch/folder"
    "unwritable-plot|--plot /nosuch/folder/out.png|/nosuch/folder"
    "unwritable-counts|--counts /nosuch/folder/out.csv|/nosuch/folder"
    "unknown-device|--device nosuch-device|nosuch-device")
