/** @see docs/api-conventions.md#limits-of-fields */
const MAX_TITLE = 255;
/** Leaves room for the number that distinguishes equal slugs. */
const MAX_SLUG = 240;

/** Removes everything except letters, digits, spaces, `-` and `.`. @returns null when the rest is empty or too long */
export function cleanTitle(title: string): string | null {
  const clean = title
    .normalize('NFC')
    .replace(/[^\p{L}\p{M}\p{Nd} .-]/gu, '')
    .replace(/ +/g, ' ')
    .trim();
  return clean === '' || [...clean].length > MAX_TITLE ? null : clean;
}

/** Lower case, words joined by dashes, no accents. @param fallback - for titles without letters and digits */
export function slugOf(title: string, fallback = 'group'): string {
  const plain = title.normalize('NFKD').replace(/\p{M}/gu, '').toLowerCase().normalize('NFC');
  const slug = plain.replace(/[^\p{L}\p{Nd}]+/gu, '-').replace(/^-|-$/g, '');
  return [...slug].slice(0, MAX_SLUG).join('') || fallback;
}
