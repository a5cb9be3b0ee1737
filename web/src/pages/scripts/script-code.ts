/** The whole text, with the line that names the interpreter. */
export function codeOf({ interpreter, code }: { interpreter: string; code: string }): string {
  return `#!${interpreter}\n${code}`;
}
