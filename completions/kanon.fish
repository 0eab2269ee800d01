# SPDX-License-Identifier: Apache-2.0
# Fish completion for kanon: the words are those of bash's completion (kanon.bash), which asks the program.

set -g __kanon_bash (status dirname)/kanon.bash
test -f $__kanon_bash; or set -g __kanon_bash (status dirname)/../../bash-completion/completions/kanon

function __kanon_words
    set -l current (commandline -ct)
    bash $__kanon_bash (commandline -opc) "$current" 2>/dev/null
    test $status -eq 3; and __fish_complete_path "$current"
end

complete -c kanon -f -a '(__kanon_words)'
