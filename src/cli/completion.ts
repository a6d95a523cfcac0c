import type { Command } from 'commander';

/** A script for bash that completes commands and options, made from their description. */
export function bashCompletion(program: Command): string {
  const cases = [...commandsOf(program, [])].map(([path, words]) => `    "${path}") words="${words.join(' ')}" ;;`);
  return `# rule-server completion bash > /etc/bash_completion.d/rule-server
_rule_server() {
  local path='' word words='' current="\${COMP_WORDS[COMP_CWORD]}"
  for word in "\${COMP_WORDS[@]:1:COMP_CWORD-1}"; do
    [[ "$word" == -* ]] && break
    path+="\${path:+ }$word"
  done
  case "$path" in
${cases.join('\n')}
  esac
  mapfile -t COMPREPLY < <(compgen -W "$words" -- "$current")
  # Where no option is asked for, a file may be meant.
  [[ \${#COMPREPLY[@]} -eq 0 && "$current" != -* ]] && mapfile -t COMPREPLY < <(compgen -f -- "$current")
  return 0
}
complete -F _rule_server rule-server
`;
}

/** Each command by its words on the command line, with what may follow it. */
function* commandsOf(command: Command, path: readonly string[]): Generator<[string, string[]]> {
  const options = command.options.flatMap(({ long }) => long ?? []);
  const commands = command.commands.flatMap((child) => [child.name(), ...child.aliases()]);
  yield [path.join(' '), [...commands, ...options, '--help']];
  for (const child of command.commands)
    for (const name of [child.name(), ...child.aliases()]) yield* commandsOf(child, [...path, name]);
}
