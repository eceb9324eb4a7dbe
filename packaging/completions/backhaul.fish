# Completions of backhaul for fish. `backhaul complete-words` knows the commands, options and values.

function __backhaul_complete
    set -l words (commandline --tokenize --current-process --cut-at-cursor)
    set -l current (commandline --current-token --cut-at-cursor)
    set -l program backhaul
    string match --quiet '*/*' -- $words[1]; and set program (string replace --regex '^~/' $HOME/ -- $words[1])
    # Variables other than HOME are not expanded, because an expansion could run commands.
    set -l before (string replace --regex '^(~|\$HOME)/' $HOME/ -- $words[2..-1])
    set -l lines ($program complete-words $before "$current" 2>/dev/null)
    test (count $lines) -gt 0; or return
    set -l kind (string split --max 1 \t -- $lines[1])
    for line in $lines[2..-1]
        echo $line
    end
    # fish completes paths for a command without a name. The word is not quoted, so that fish expands a tilde.
    set -l path (string sub --start (math (string length -- "$kind[2]") + 1) -- "$current")
    switch $kind[1]
        case files
            string replace --regex '^' -- "$kind[2]" (complete -C "'' $path")
        case directories
            string replace --regex '^' -- "$kind[2]" (complete -C "'' $path" | string match '*/')
    end
end

complete --command backhaul --no-files --keep-order --arguments '(__backhaul_complete)'
