export interface XmlEvents {
  open(name: string, attributes: Record<string, string>): void;
  text(text: string): void;
  close(name: string, whole: boolean): void;
  declaration(): void;
}

const MARKUP = /</g;
// Bounded quantifiers keep the total time linear.
const START =
  /<([A-Za-z_][\w.-]{0,63})((?:\s+[\w:.-]{1,64}\s*=\s*(?:"[^"]{0,4096}"|'[^']{0,4096}')){0,32})\s{0,64}(\/?)>/y;
const ATTRIBUTE = /([\w:.-]+)\s*=\s*(?:"([^"]*)"|'([^']*)')/g;
const END = /<\/([A-Za-z_][\w.-]{0,63})\s{0,64}>/y;
const IGNORED = [
  ['<!--', '-->'],
  ['<?', '?>'],
] as const;
const CDATA = ['<![CDATA[', ']]>'] as const;

/** Reads malformed XML in linear time: stray `&`, `<` and tags not in `names` are text; closes open elements. */
export function readLenientXml(xml: string, names: ReadonlySet<string>, events: XmlEvents): void {
  const open: string[] = [];
  let at = 0;
  while (at < xml.length) {
    MARKUP.lastIndex = at;
    const start = MARKUP.exec(xml)?.index ?? xml.length;
    if (start > at) events.text(decode(xml.slice(at, start)));
    if (start === xml.length) break;
    at = readMarkup(xml, start, { names, open, events });
  }
  while (open.length > 0) events.close(open.pop()!, false);
}

interface Reading {
  names: ReadonlySet<string>;
  open: string[];
  events: XmlEvents;
}

function readMarkup(xml: string, start: number, { names, open, events }: Reading): number {
  START.lastIndex = start;
  const [tag, name = '', attributes = '', isEmpty] = START.exec(xml) ?? [];
  if (tag !== undefined && names.has(name)) {
    events.open(name, readAttributes(attributes));
    if (isEmpty) events.close(name, true);
    else open.push(name);
    return start + tag.length;
  }
  END.lastIndex = start;
  const [end, ended = ''] = END.exec(xml) ?? [];
  if (end !== undefined && names.has(ended)) {
    closeTo(ended, open, events);
    return start + end.length;
  }
  return readOther(xml, start, events);
}

function closeTo(name: string, open: string[], events: XmlEvents): void {
  if (!open.includes(name)) return;
  while (open.at(-1) !== name) events.close(open.pop()!, false);
  events.close(open.pop()!, true);
}

function readOther(xml: string, start: number, events: XmlEvents): number {
  if (xml.startsWith(CDATA[0], start)) {
    const end = endOf(xml, start, CDATA[1]);
    events.text(withoutControls(xml.slice(start + CDATA[0].length, end - CDATA[1].length)));
    return end;
  }
  const ignored = IGNORED.find(([beginning]) => xml.startsWith(beginning, start));
  if (ignored) return endOf(xml, start, ignored[1]);
  if (/^<!(?:DOCTYPE|ENTITY)/i.test(xml.slice(start, start + 9))) events.declaration();
  events.text('<');
  return start + 1;
}

function endOf(xml: string, start: number, terminator: string): number {
  const end = xml.indexOf(terminator, start);
  return end < 0 ? xml.length : end + terminator.length;
}

function readAttributes(text: string): Record<string, string> {
  const attributes: Record<string, string> = Object.create(null) as Record<string, string>;
  for (const [, name, double, single] of text.matchAll(ATTRIBUTE)) attributes[name!] ??= decode(double ?? single ?? '');
  return attributes;
}

const ENTITIES: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'" };
const REFERENCE = /&(?:(amp|lt|gt|quot|apos)|#(\d{1,7})|#x([\da-fA-F]{1,6}));/g;

function decode(text: string): string {
  if (!text.includes('&')) return withoutControls(text);
  const decoded = text.replace(REFERENCE, (_, name?: string, decimal?: string, hex?: string) => {
    if (name !== undefined) return ENTITIES[name]!;
    const code = decimal === undefined ? Number.parseInt(hex!, 16) : Number(decimal);
    return code <= 0x10ffff ? String.fromCodePoint(code) : '';
  });
  return withoutControls(decoded);
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is left out
const CONTROLS = /[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]/g;

function withoutControls(text: string): string {
  return text.replace(CONTROLS, '').toWellFormed();
}
