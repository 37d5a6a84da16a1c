#!/bin/sh
# sh jobs.sh CASE FOLDER PROGRAM [LAUNCHER and its options, ending in the one that takes the number of ranks]
# One way in which a job goes wrong or well, with files of its own in FOLDER. Says what is not as it should be.
# shellcheck disable=SC2015,SC2016,SC2086 # ranks expand what is quoted; the launcher is several words
case=$1 folder=$2 program=$3
shift 3
rm -rf "$folder"
mkdir -p "$folder"
cd "$folder" || exit 1
export HERE="$folder"

# job RANKS COMMAND...: its status in $status, all that it says in the file `said`.
launcher=$*
job() {
    ranks=$1
    shift
    status=0
    $launcher "$ranks" "$@" > said 2>&1 || status=$?
}

fail() {
    echo "$case: $1"
    cat said
    exit 1
}

# ended STATUS WORDS...: the job ended so, and one line, no more, has each of the words.
ended() {
    [ "$status" = 77 ] && [ "$1" != 77 ] && { echo "skipped: $(grep "nothing\|no " said | head -n 1)"; exit 0; }
    [ "$status" = "$1" ] || fail "status $status, not $1"
    shift
    lines=$(grep '^05-launch-tuning/cluster/' said)
    [ "$(printf '%s\n' "$lines" | wc -l)" = 1 ] || fail 'not one line'
    for words in "$@"; do
        case $lines in
            *"$words"*) ;;
            *) fail "the line does not say '$words'" ;;
        esac
    done
}

# A script that every rank runs in the place of the program: $RANK is its rank.
on_each_rank() {
    { echo '#!/bin/sh'; echo 'RANK=${OMPI_COMM_WORLD_RANK:-${PMI_RANK:-$PMIX_RANK}}'; cat; } > each
    chmod +x each
}

picture() { printf 'P5 2 2 255\n%s' "$1"; }

case $case in
    bad-picture | bad-picture-skipped)
        mkdir pictures
        for name in a b c d; do picture abca > pictures/$name.pgm; done
        printf 'P5 20 20 255\nshort' > pictures/bad.pgm
        if [ $case = bad-picture ]; then
            job 3 "$program" pictures --counts counts.csv --each each.csv --json run.json
            ended 2 bad.pgm 'rank '
            [ ! -e counts.csv ] && [ ! -e each.csv ] && [ ! -e run.json ] || fail 'it has left a file'
        else
            job 3 "$program" pictures --keep-going --check --each each.csv --counts counts.csv
            [ $status = 0 ] || [ $status = 77 ] || fail "status $status"
            [ $status = 77 ] && { echo 'skipped: nothing to run on'; exit 0; }
            grep -q '^skipped: .*bad.pgm' said || fail 'it does not name the picture'
            [ "$(grep -c ',"",4,' each.csv)" = 4 ] || fail 'not four rows'
            grep -q 'bad.pgm","..*",0,' each.csv || fail 'no row for the bad one'
            grep -q '^97,8$' counts.csv || fail 'not eight times a'
            job 2 "$program" pictures --keep-going --each each.json
            grep -q '"pictures/d.pgm","skipped":"","pixels":4' each.json || fail 'no such row in JSON'
        fi
        ;;
    unreadable-on-one-rank)
        mkdir elsewhere
        printf abcdef > file.raw
        echo '[ "$RANK" != 1 ] || cd elsewhere; exec "$@"' | on_each_rank
        job 3 ./each "$program" --raw file.raw
        ended 2 'file.raw: No such file' 'rank 1 of 3'
        ;;
    shorter-on-one-rank)
        mkdir elsewhere
        printf abcdef > file.raw
        printf abc > elsewhere/file.raw
        echo '[ "$RANK" != 2 ] || cd elsewhere; exec "$@"' | on_each_rank
        job 3 ./each "$program" --raw file.raw
        ended 2 'rank 0 has other files' 'rank 2 of 3'
        ;;
    becomes-shorter)
        # Cut off while it is read: each of the repeats reads it again.
        head -c 50000000 /dev/zero > file.raw
        { sleep 2; : > file.raw; } &
        job 2 "$program" --raw file.raw --repeat 100000
        [ $status != 77 ] || { echo 'skipped: nothing to run on'; exit 0; }
        [ $status = 2 ] || fail "status $status, not 2"
        grep -q 'file.raw: .* it is shorter than it was' said || fail 'it does not say why'
        ;;
    other-program)
        cp "$program" other
        printf ' ' >> other
        echo '[ "$RANK" != 1 ] || { shift; set -- ./other "$@"; }; exec "$@"' | on_each_rank
        job 2 ./each "$program" --random 1000
        ended 2 'rank 0 has another program' 'rank 1 of 2'
        # Nor does it hang where the programs do different things.
        [ -x "$OTHER" ] || exit 0
        job 1 "$program" --random 1000 : -n 1 "$OTHER" --random 1000
        ended 2 'rank 0 has another program' 'rank 1 of 2'
        ;;
    other-kernels)
        mkdir one two
        cp "$program" one
        cp "$program" two
        echo '// changed' | cat "$KERNELS" - > two/histogram.cl
        cp "$KERNELS" one/histogram.cl
        echo 'if [ "$RANK" = 1 ]; then exec two/opencl "$@"; else exec one/opencl "$@"; fi' | on_each_rank
        job 2 ./each --random 1000
        ended 2 'rank 0 has other kernels' 'rank 1 of 2'
        ;;
    other-command-line)
        echo '[ "$RANK" != 1 ] || set -- "$@" --seed 2; exec "$@"' | on_each_rank
        job 2 ./each "$program" --random 1000
        ended 2 'rank 0 has another command line' 'rank 1 of 2'
        ;;
    killed)
        echo 'echo $$ > pid.$RANK; exec "$@"' | on_each_rank
        $launcher 3 ./each "$program" --random 512G --json run.json > said 2>&1 &
        mpi=$!
        waited=0
        while [ ! -s pid.1 ] || [ $waited -lt 10 ]; do
            sleep 0.1
            waited=$((waited + 1))
            [ $waited -lt 300 ] || fail 'it does not start'
        done
        ! grep -q 'no CUDA device\|no OpenCL' said || { echo 'skipped: nothing to run on'; exit 0; }
        kill -9 "$(cat pid.1)" || fail 'it has ended already'
        waited=0
        while kill -0 $mpi 2> /dev/null; do
            sleep 0.1
            waited=$((waited + 1))
            [ $waited -lt 100 ] || { kill $mpi; fail 'it goes on without a rank'; }
        done
        status=0
        wait $mpi || status=$?
        [ $status != 0 ] || fail 'status 0'
        [ ! -e run.json ] || fail 'it has left a file'
        ;;
    no-such-device)
        job 2 "$program" --random 1000 --device nosuch
        ended 2 nosuch 'rank 0 of 2'
        ;;
    no-device)
        export OCL_ICD_VENDORS="$folder" OCL_ICD_FILENAMES='' CUDA_VISIBLE_DEVICES=''
        job 2 "$program" --random 1000
        ended 77 'rank 0 of 2'
        ;;
    no-launcher)
        launcher="env"
        job PMI_SIZE=4 "$program" --random 1000
        ended 2 '4 programs were started'
        ;;
    not-writable)
        job 2 "$program" --random 1000 --json /nosuch/folder/run.json
        ended 2 /nosuch/folder
        ;;
    idle-ranks)
        job 4 "$program" --random 3 --chunk 1 --check
        [ $status = 0 ] || [ $status = 77 ] || fail "status $status"
        [ $status = 77 ] && { echo 'skipped: nothing to run on'; exit 0; }
        grep -q 'ranks had nothing to do' said || fail 'it does not say that ranks had nothing to do'
        ;;
    help)
        job 3 "$program" --help
        [ $status = 0 ] || fail "status $status"
        [ "$(grep -c '^Usage' said)" = 1 ] || fail 'not one rank speaks'
        ;;
    more-than-32-bits)
        job 2 "$program" --constant 127 --random 4100M --counts counts.csv
        [ $status = 0 ] || fail "status $status"
        grep -q '^127,4299161600$' counts.csv || fail 'not all pixels'
        [ "$(grep -c ',0$' counts.csv)" = 255 ] || fail 'more than that one value'
        ;;
    as-chapter-01)
        # CHAPTER_01 is its program: the same counts from both.
        for line in '--random 10M --seed 7' '--random 3000001 --contention 40' "$IMAGE" "$IMAGE --tile 5M"; do
            "$CHAPTER_01" $line --variant serial --repeat 1 --no-ceiling --counts one.csv > said 2>&1 || fail "chapter 01: $line"
            job 3 "$program" $line --chunk 1000001 --counts many.csv
            [ $status = 77 ] && { echo 'skipped: nothing to run on'; exit 0; }
            [ $status = 0 ] || fail "status $status: $line"
            cmp one.csv many.csv || fail "other counts: $line"
        done
        ;;
    *) echo "there is no case $case"; exit 1 ;;
esac
rm -rf "$folder"
