import { Argument, type Command } from '@commander-js/extra-typings';
import type { Cli } from '../cli.ts';

/** Each requests from the program what may follow the words before the cursor, and the word there. */
const SCRIPTS = {
  bash: `_flotilla() {
  local IFS=$'\\n'
  COMPREPLY=($(flotilla __complete "\${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null))
}
complete -o default -F _flotilla flotilla
`,
  zsh: `#compdef flotilla
_flotilla() {
  local -a candidates
  candidates=("\${(@f)$(flotilla __complete "\${(@)words[2,CURRENT]}" 2>/dev/null)}")
  if (( \${#candidates[1]} )); then compadd -- $candidates; else _files; fi
}
compdef _flotilla flotilla
`,
  fish: `function __flotilla_complete
  set -l words (commandline -opc) (commandline -ct)
  flotilla __complete $words[2..] 2>/dev/null
end
complete -c flotilla -a '(__flotilla_complete)'
`,
} as const;

export function register(command: Command, cli: Cli): void {
  command
    .addArgument(new Argument('<shell>', 'the shell').choices(Object.keys(SCRIPTS) as Array<keyof typeof SCRIPTS>))
    .addHelpText(
      'after',
      '\nbash: eval "$(flotilla completion bash)" in ~/.bashrc. Likewise in ~/.zshrc after compinit.\nfish: flotilla completion fish > ~/.config/fish/completions/flotilla.fish',
    )
    .action((shell) => cli.output.text(SCRIPTS[shell]));
}
