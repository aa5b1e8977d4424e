# SPDX-License-Identifier: MIT
# `rtl new-subscriber`: fills the folder $1 with the templates, which are variables; $2: of the source's name, c or cpp.
export LC_ALL=C
languages=C
source=$template_c
if [ "$2" = cpp ]; then
	languages='C CXX'
	source=$template_cpp
fi
fail() {
	echo "rtl: cannot $1" >&2
	exit 1
}
folder() { why=$(mkdir "$1" 2>&1) || fail "make the folder $1: ${why##*: }"; }
# File $2 from the text $3.
fill() {
	why=$({ printf '%s' "$3" | sed "s/@NAME@/$1/g; s/@SUFFIX@/$suffix/g; s/@LANGUAGES@/$languages/g" >"$1/$2"; } 2>&1) ||
		fail "write $1/$2: ${why##*: }"
}

suffix=$2
folder "$1"
folder "$1/test"
fill "$1" "$1_sub.$2" "$source"
fill "$1" CMakeLists.txt "$template_cmake"
fill "$1" README.md "$template_readme"
fill "$1" test/publisher.c "$template_publisher"
fill "$1" test/counts "$template_counts"
echo "$1/$1_sub.$2 is the subscriber, lib$1_sub.so. Build and test it:
  cmake -S $1 -B $1/build && cmake --build $1/build && ctest --test-dir $1/build" || fail "write to stdout"
