export type Renderable = string | readonly string[] | { readonly [key: string]: Renderable };

/** Writes a value as Python prints it: `{'completed': ['hello'], 'errors': {}}`. */
export function renderPython(value: Renderable): string {
  if (typeof value === 'string') return quote(value);
  if (isList(value)) return `[${value.map(quote).join(', ')}]`;
  const entries = Object.entries(value).map(([key, inner]) => `${quote(key)}: ${renderPython(inner)}`);
  return `{${entries.join(', ')}}`;
}

function isList(value: Renderable): value is readonly string[] {
  return Array.isArray(value);
}

function quote(text: string): string {
  const mark = text.includes("'") && !text.includes('"') ? '"' : "'";
  const escaped = text.replaceAll('\\', '\\\\').replaceAll('\n', '\\n').replaceAll(mark, `\\${mark}`);
  return mark + escaped + mark;
}
