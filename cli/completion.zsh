#compdef rtl
# SPDX-License-Identifier: MIT
# Completion of rtl for zsh, made by `rtl completion zsh`: of what its help says.
local rtl=$words[1] help
local -a commands options
if ((CURRENT == 2)); then
  commands=(${(f)"$($rtl --help | sed -n 's/:/\\:/g; s/^  \([a-z][a-z-]*\)  */\1:/p')"})
  _describe -t commands 'command of rtl' commands
  return
fi
help=$($rtl $words[2] --help)
options=(${(f)"$(sed -n 's/[][:\\]/\\&/g
  s/^  \(-.\), \(--[a-z-]*\) \([A-Z][^ ]*\) *\(.*\)/\1+[\4]:\3:_files\
\2=[\4]:\3:_files/p
  s/^      \(--[a-z-]*\) \([A-Z][^ ]*\) *\(.*\)/\1=[\3]:\2:_files/p
  s/^  \(-.\), \(--[a-z-]*\)  *\(.*\)/\1[\3]\
\2[\3]/p
  s/^      \(--[a-z-]*\)  *\(.*\)/\1[\2]/p' <<<$help)"})
shift words
((CURRENT--))
if [[ $help == *'[--] COMMAND'* ]]; then
  _arguments -s '*'$^options '(-)1:command:_command_names -e' '*::argument:_normal'
else
  _arguments -s '*'$^options '*:file:_files'
fi
