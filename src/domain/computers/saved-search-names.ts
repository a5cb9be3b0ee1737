const MAX_NAME = 255;

/** @see docs/api-conventions.md#limits-of-fields */
export function isSearchName(name: string): boolean {
  return name.length <= MAX_NAME && /^[a-z0-9-]+$/.test(name);
}

/** Derives a name from a title: lower case, words joined by dashes, no accents; null when nothing is left. */
export function searchNameOf(title: string): string | null {
  const plain = title.normalize('NFKD').replace(/\p{M}/gu, '').toLowerCase();
  const name = plain.replace(/[^a-z0-9]+/g, '-').replace(/^-|-$/g, '');
  return name === '' ? null : name.slice(0, MAX_NAME);
}
