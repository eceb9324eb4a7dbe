# shellcheck shell=bash
# Completions of backhaul for bash. `backhaul complete-words` knows the commands, options and values.

_backhaul() {
    local rest=$COMP_LINE words=() word index
    # bash splits words at = and others (COMP_WORDBREAKS). Parts without a blank between them are joined again.
    for ((index = 0; index <= COMP_CWORD; index++)); do
        word=${COMP_WORDS[index]}
        if ((index == 0)) || [[ $rest == [[:space:]]* ]]; then
            words+=("")
            rest=${rest#"${rest%%[![:space:]]*}"}
        fi
        words[-1]+=$word
        rest=${rest#"$word"}
    done
    ((${#words[@]} > 1)) || return 0
    local current=${words[-1]} quote='' before=()
    if [[ $current == [\"\']* ]]; then
        quote=${current:0:1}
        current=${current:1}
    else
        current=${current//\\/}
    fi
    # Variables other than HOME are not expanded, because an expansion could run commands.
    for word in "${words[@]:1:${#words[@]}-2}"; do
        word=${word//[\\\"\']/}
        word=${word/#\~\//$HOME/}
        before+=("${word/#\$HOME\//$HOME/}")
    done

    local program=backhaul lines kind prefix
    [[ ${words[0]} == */* ]] && program=${words[0]/#\~\//$HOME/}
    mapfile -t lines < <("$program" complete-words "${before[@]}" "$current" 2>/dev/null)
    IFS=$'\t' read -r kind prefix <<<"${lines[0]-}"

    # readline replaces only the part after the last word break. The part also begins with a word break that is @.
    local cut='' value line
    if [[ ! $quote ]]; then
        for ((index = 0; index < ${#current}; index++)); do
            word=${current:index:1}
            [[ $word == [[:space:]] || $COMP_WORDBREAKS != *"$word"* ]] && continue
            [[ $word == @ ]] && cut=${current:0:index} || cut=${current:0:index+1}
        done
    fi
    COMPREPLY=()
    for line in "${lines[@]:1}"; do
        value=${line%%$'\t'*}
        value=${value#"$cut"}
        [[ $quote ]] || printf -v value %q "$value"
        # A list of candidates shows descriptions. If there is one candidate, or the candidates are inserted one after
        # the other (COMP_TYPE 37 and 42), the description would be inserted, too.
        if [[ ${#lines[@]} -gt 2 && $line == *$'\t'* && ${COMP_TYPE-} != @(37|42) ]]; then
            value+="  (${line#*$'\t'})"
            value=${value:0:${COLUMNS:-80}-2}
        fi
        COMPREPLY+=("$value")
    done
    compopt -o nosort 2>/dev/null
    case $kind in
        files) kind='file' ;;
        directories) kind='directory' ;;
        *) return 0 ;;
    esac
    # readline quotes a path and marks a folder only if the path is the whole word.
    local is_part=${prefix#"$cut"}
    [[ $is_part ]] || compopt -o filenames 2>/dev/null
    while IFS= read -r value; do
        if [[ $is_part && -d $value ]]; then
            value+=/
            compopt -o nospace 2>/dev/null
        fi
        [[ $is_part && ! $quote ]] && printf -v value %q "$value"
        value=$prefix$value
        COMPREPLY+=("${value#"$cut"}")
    done < <(compgen -A "$kind" -- "${current#"$prefix"}")
}

complete -F _backhaul backhaul
