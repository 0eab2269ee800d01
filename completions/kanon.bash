# SPDX-License-Identifier: Apache-2.0
# Bash completion for kanon: commands, options, their values, columns and file names.
#
# As a program, `bash kanon.bash kanon WORD...` prints what the last word may become, one a line; exit code 3: files, too; 4: a comma
# may follow, and no blank. The completions of fish and zsh ask it so.
#
# Commands and options come from `kanon --help` and `kanon COMMAND --help`, so they are always those of the program that
# is installed; so do methods, metrics, privacy models and topics.

_kanon_list() # the field $2 of every entry of --list-$1; with $3, of those where that field is there and not false
{
    "$program" anonymize "--list-$1" --json 2>/dev/null |
        sed -nE "/^    \{/,/^    \}/{H;/^    \{/h;/^    \}/{x;${3:+/\"$3\": false/d;}s/.*\n      \"$2\": \"([^\"]*)\".*/\1/p}}"
}

_kanon_values() # the values of option $1, where it takes one of a few; fails elsewhere
{
    case $1 in
    --kind) printf '%s\n' eu hipaa nist ethics all ;;
    --encoding) printf '%s\n' utf-8 windows-1252 latin-1 ;;
    --decimal) printf '%s\n' . , ;;
    -d | --delimiter) printf '%s\n' , ';' '|' tab ;;
    --method) _kanon_list methods name ;;
    --groups) printf '%s\n' order frequency prefix ;;
    --choose) printf '%s\n' range entropy loss ;;
    --utility) _kanon_list metrics name utility ;;
    --require) _kanon_list models example diagnose ;;
    --matching) printf '%s\n' greedy exact ;;
    --clustering) printf '%s\n' cdgh k-member mdav r-gather top-down ;;
    --leftovers) printf '%s\n' absorb drop ;;
    --diversity) printf '%s\n' merge distance suppress ;;
    --semantics) printf '%s\n' pairs paths ;;
    --disassociation) printf '%s\n' node subtree ancestor ;;
    --missing) printf '%s\n' value wildcard drop ;;
    --suppressed) printf '%s\n' star drop keep-sensitive ;;
    --undeclared) printf '%s\n' drop refuse ;;
    --threads) printf '%s\n' 1 2 4 8 ;;
    --memory-limit) printf '%s\n' 500M 1G 2G 4G ;;
    *) return 1 ;;
    esac
}

_kanon_columns() # the columns of the first file on the command line that has some, by its first lines
{
    local word unpack
    for word in "${COMP_WORDS[@]:2}"; do
        word=${word/#\~\//$HOME/}
        [[ -f $word ]] || continue
        unpack=cat
        [[ $word == *.gz ]] && unpack='gzip -dc'
        [[ $word == *.zst ]] && unpack='zstd -dcq'
        $unpack -- "$word" 2>/dev/null | head -n 2 | "$program" profile - --json --quiet 2>/dev/null |
            sed -nE 's/^ *"name": "(.*)",?$/\1/p' | grep . && return
    done
    return 1
}

_kanon_offer() # adds those of the words on standard input that begin with $1
{
    local word
    while IFS= read -r word; do
        [[ $word == "$1"* ]] && COMPREPLY+=("$word")
    done
}

_kanon()
{
    local program=${COMP_WORDS[0]} command=${COMP_WORDS[1]}
    local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD - 1]} values help quoted=${_kanon_quoted:-%q}
    COMPREPLY=()

    if ((COMP_CWORD == 1)) || [[ $command == help ]]; then
        _kanon_offer "$cur" < <("$program" --help 2>/dev/null | sed -nE 's/^  ([a-z][a-z-]*) .*/\1/p')
        ((COMP_CWORD == 1)) && _kanon_offer "$cur" < <(printf '%s\n' --help --version)
        [[ $command == help ]] && ((COMP_CWORD == 2)) &&
            _kanon_offer "$cur" < <("$program" help topics 2>/dev/null | sed -nE 's/^  ([a-z][a-z-]*) .*/\1/p')
        return
    fi

    # `--name=value` comes as three words.
    if [[ $cur == = ]]; then
        cur=
    elif [[ $prev == = ]]; then
        prev=${COMP_WORDS[COMP_CWORD - 2]}
    fi
    if values=$(_kanon_values "$prev"); then
        _kanon_offer "$cur" <<<"$values"
        return
    fi

    # Options that name columns, some of them several between commas.
    case $prev in
    --qi | --sensitive | --identifier | --keep | --over | --columns | --closure | --weight | --count | --entity | --column | -c)
        if [[ $command != profile ]] && values=$(_kanon_columns); then
            local before=
            [[ $cur == *,* ]] && before=${cur%,*},
            _kanon_offer "$cur" < <(while IFS= read -r word; do printf "%s$quoted\n" "$before" "$word"; done <<<"$values")
            [[ $_kanon_quoted ]] && return 4
            compopt -o nospace 2>/dev/null
            return
        fi
        ;;
    esac

    # What stands behind a command's name in its usage, in small letters, has a help of its own; so do kinds, in a list.
    local words options
    help=$("$program" "$command" --help 2>/dev/null | sed '/^Examples:/,$d')
    words=$(sed -nE "s/^(Usage:| {6}) kanon $command ([a-z][a-z-]*) .*/\2/p; /^Kinds:/,/^$/s/^  ([a-z][a-z-]*)  .*/\1/p" <<<"$help")
    if ((COMP_CWORD > 2)) && grep -qxF -- "${COMP_WORDS[2]}" <<<"$words"; then
        options=$("$program" "$command" "${COMP_WORDS[2]}" --help 2>/dev/null | sed '/^Examples:/,$d') && help=$options
    fi
    if [[ $cur == -* ]]; then
        _kanon_offer "$cur" < <(sed -nE 's/^ {2,6}(-[a-z], )?(--[a-z][a-z-]*).*/\2/p' <<<"$help" | sort -u)
        return
    fi
    ((COMP_CWORD == 2)) && _kanon_offer "$cur" <<<"$words"
    [[ $_kanon_quoted ]] && return 3
    compopt -o filenames 2>/dev/null
    _kanon_offer "$cur" < <(compgen -f -- "$cur")
}

if [[ ${BASH_SOURCE[0]} != "$0" ]]; then
    complete -F _kanon kanon
else
    _kanon_quoted=%s # the other shell quotes
    COMP_WORDS=("$@")
    option=
    if [[ ${!#} == --*=* ]]; then # one word elsewhere, three here
        option=${!#}
        COMP_WORDS=("${@:1:$#-1}" "${option%%=*}" = "${option#*=}")
        option=${option%%=*}=
    fi
    COMP_CWORD=$((${#COMP_WORDS[@]} - 1))
    _kanon
    files=$?
    [[ $option && $files == 3 ]] && _kanon_offer "${COMP_WORDS[COMP_CWORD]}" < <(compgen -f -- "${COMP_WORDS[COMP_CWORD]}")
    for word in "${COMPREPLY[@]}"; do printf '%s%s\n' "$option" "$word"; done
    [[ $option ]] || exit "$files"
fi
