/** A message in the results of snap actions, quoted as Python does; the end may be cut off. */
const SNAP_MESSAGE = /'message': (?:'((?:[^'\\]|\\.)*)|"((?:[^"\\]|\\.)*))/g;
const MAX_MESSAGES = 5;

/** What a computer reported, in words: of a snap action its error messages. */
export function readableResult(text: string | null): string {
  if (text === null) return '';
  if (!text.startsWith("{'completed'")) return text.trim();
  const messages = [...text.matchAll(SNAP_MESSAGE)].map(([, single, double]) => unquoted(single ?? double ?? ''));
  const distinct = [...new Set(messages)].filter((message) => message !== '');
  return distinct.length > 0 ? distinct.slice(0, MAX_MESSAGES).join(' · ') : '';
}

function unquoted(text: string): string {
  return text.replace(/\\n/g, ' ').replace(/\\(.)/g, '$1');
}
