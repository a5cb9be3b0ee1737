/** Longest title and name. @see docs/api-conventions.md#limits-of-fields */
const MAX_TITLE = 255;
/** Leaves room for the number that tells equal slugs apart. */
const MAX_SLUG = 240;

/**
 * An access group's title as it is stored: letters, digits, spaces, `-` and `.`; everything else is dropped.
 * @returns null when nothing is left, or too much
 */
export function cleanTitle(title: string): string | null {
  const clean = title
    .normalize('NFC')
    .replace(/[^\p{L}\p{M}\p{Nd} .-]/gu, '')
    .replace(/ +/g, ' ')
    .trim();
  return clean === '' || [...clean].length > MAX_TITLE ? null : clean;
}

/**
 * The name made of a title: lower case, words joined by dashes. Letters lose their accents; those of other scripts stay.
 * @param fallback - for a title without any letter or digit
 * @see docs/api-conventions.md#access-groups
 */
export function slugOf(title: string, fallback = 'group'): string {
  const plain = title.normalize('NFKD').replace(/\p{M}/gu, '').toLowerCase().normalize('NFC');
  const slug = plain.replace(/[^\p{L}\p{Nd}]+/gu, '-').replace(/^-|-$/g, '');
  return [...slug].slice(0, MAX_SLUG).join('') || fallback;
}
