/** A report of a tool on a computer as names and values: its keys differ from version to version. */
export function reportFacts(report: unknown): Array<readonly [name: string, value: string]> {
  if (typeof report !== 'object' || report === null) return [];
  return Object.entries(report).flatMap(([key, value]) => {
    const text = valueText(value);
    return text === null ? [] : [[nameOf(key), text] as const];
  });
}

function valueText(value: unknown): string | null {
  if (typeof value === 'boolean') return value ? 'yes' : 'no';
  if (typeof value === 'string' || typeof value === 'number') return String(value);
  if (Array.isArray(value)) return value.map(valueText).join(', ') || null;
  if (typeof value !== 'object' || value === null) return null;
  const parts = reportFacts(value).map(([name, text]) => `${name}: ${text}`);
  return parts.length > 0 ? parts.join('; ') : null;
}

function nameOf(key: string): string {
  const words = key.replaceAll('_', ' ');
  return words.charAt(0).toUpperCase() + words.slice(1);
}
