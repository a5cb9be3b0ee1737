/** Control characters, and those that change the direction of the text after them: a terminal would execute them. */
const UNSAFE = /[\p{Cc}\p{Zl}\p{Zp}\p{Bidi_Control}]/gu;
const NAMED: Readonly<Record<string, string>> = { '\n': '\\n', '\r': '\\r', '\t': '\\t' };

/** Text as one line that is safe to show: control characters as escapes such as `\u001b`. */
export function visibleLine(text: string): string {
  return text.replace(UNSAFE, (character) => NAMED[character] ?? toEscape(character));
}

/** Text of several lines that is safe to show: line breaks and tabs stay, other control characters become escapes. */
export function visibleText(text: string): string {
  return text
    .replaceAll('\r\n', '\n')
    .replace(UNSAFE, (character) => (character === '\n' || character === '\t' ? character : toEscape(character)));
}

/** JSON that is safe to show and means the same: it escapes more characters than JSON.stringify does. */
export function toJson(value: unknown, indent = 0): string {
  return JSON.stringify(value, null, indent).replace(UNSAFE, (character) =>
    character === '\n' ? character : toEscape(character),
  );
}

function toEscape(character: string): string {
  return `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;
}
