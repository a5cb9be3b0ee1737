/** Pattern of LIKE for texts that contain `part`, whose own `%`, `_` and `\` mean themselves. */
export function containing(part: string): string {
  return `%${part.replace(/[\\%_]/g, '\\$&')}%`;
}
