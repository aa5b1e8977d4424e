# SPDX-License-Identifier: MIT
# Completion of rtl for bash, made by `rtl completion bash`: of what its help says.
_rtl()
{
  local word=${COMP_WORDS[COMP_CWORD]} rtl=${COMP_WORDS[0]} help options with_value runs=0 i
  COMPREPLY=()
  if ((COMP_CWORD == 1)); then
    COMPREPLY=($(compgen -W "--help --version $("$rtl" --help 2>/dev/null | sed -n 's/^  \([a-z][a-z-]*\)  .*/\1/p')" -- "$word"))
    return
  fi
  help=$("$rtl" "${COMP_WORDS[1]}" --help 2>/dev/null)
  options=$(sed -n 's/^  \(-., \|    \)\(--[a-z-]*\).*/\2/p' <<<"$help")
  with_value=$(sed -n 's/^  \(-.\|  \). \(--[a-z-]*\) [A-Z].*/ \1 \2 /p' <<<"$help")
  [[ $help == *'[--] COMMAND'* ]] && runs=1
  for ((i = 2; i < COMP_CWORD; i++)); do
    case ${COMP_WORDS[i]} in
    --) ((i++)) && break ;;
    -*) [[ $with_value == *" ${COMP_WORDS[i]} "* ]] && ((i++)) ;;
    *) break ;;
    esac
  done
  if ((i < COMP_CWORD && runs)); then # of the command that is run
    declare -F _command_offset >/dev/null && _command_offset "$i" && return
    COMPREPLY=($(compgen -f -- "$word"))
  elif ((i > COMP_CWORD)) || [[ $word != -* ]]; then
    if ((runs && i == COMP_CWORD)); then
      COMPREPLY=($(compgen -c -- "$word"))
    else
      COMPREPLY=($(compgen -f -- "$word"))
    fi
  else
    COMPREPLY=($(compgen -W "$options" -- "$word"))
  fi
}
complete -o filenames -F _rtl rtl
