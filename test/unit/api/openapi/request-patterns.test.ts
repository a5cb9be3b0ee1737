import { describe, expect, it } from 'vitest';
import { loadDocument } from '../../../../src/api/openapi/document.ts';
import { parseInstant } from '../../../../src/domain/common/instant.ts';
import { isSearchName } from '../../../../src/domain/computers/saved-search-names.ts';
import { cleanTitle } from '../../../../src/domain/identity/access-group-names.ts';
import { GLOBAL_PERMISSIONS, GROUP_PERMISSIONS } from '../../../../src/domain/identity/permissions.ts';
import { isAttachmentName, isUsername, parseScript } from '../../../../src/domain/scripts/script.ts';
import { readEmail, readLine } from '../../../../src/services/common/fields.ts';
import { readAnnotationKey, readTags } from '../../../../src/services/common/tag-fields.ts';
import fc from '../../../support/common/random.ts';

interface Schema {
  pattern: string;
  maxLength?: number;
  properties: Record<string, Schema>;
  items: Schema;
  enum: string[];
}

const schemas = loadDocument().components.schemas as unknown as Record<string, Schema>;

function fits({ pattern, maxLength = Number.POSITIVE_INFINITY }: Schema, text: string): boolean {
  return [...text].length <= maxLength && new RegExp(pattern, 'u').test(text);
}

function accepts(read: () => unknown): boolean {
  try {
    read();
    return true;
  } catch {
    return false;
  }
}

/** Texts near the borders of what is taken: white space, controls, separators, letters beyond the first plane. */
const nasty = fc
  .array(fc.constantFrom(...'aZ0-_.@/\\:;"#! \t\n\r\v\u0000\u001c\u0085\u00a0\u00e9\u2028\u3000\ufeff𐐷', 'ab', '#!/'), {
    maxLength: 8,
  })
  .map((parts) => parts.join(''));

/** Holds a pattern of the document against the code that takes or rejects the text. */
function expectSame(schema: Schema, isTaken: (text: string) => boolean, texts: readonly string[]): void {
  for (const text of texts) expect({ text, fits: fits(schema, text) }).toEqual({ text, fits: isTaken(text) });
  fc.assert(
    fc.property(nasty, (text) => {
      expect(fits(schema, text)).toBe(isTaken(text));
    }),
    { numRuns: 500 },
  );
}

describe('patterns of the document match the rules of services', () => {
  const lines = ['', ' ', 'a', ' a b ', '\na\n', 'a\nb', 'a\u2028', 'a'.repeat(255), 'a'.repeat(256), '𐐷'.repeat(255)];

  it('for lines', () => {
    for (const name of ['Line', 'OptionalLine']) {
      expectSame(schemas[name]!, (text) => accepts(() => readLine('x', text)), lines);
    }
  });

  it('for email addresses', () => {
    const texts = ['a@b', ' a@b ', 'a@b@c', 'a b@c', '@b', 'a@', 'Ann <a@b>', 'a@b,c@d', 'é@ü.example', 'a@b\nc'];
    for (const name of ['EmailAddress', 'OptionalEmailAddress']) {
      expectSame(schemas[name]!, (text) => accepts(() => readEmail('x', text)), texts);
    }
  });

  it('for tags, keys of annotations, names of saved searches and titles of access groups', () => {
    expectSame(schemas['Tag']!, (text) => accepts(() => readTags('x', [text])), [
      'é-1',
      'a'.repeat(50),
      'a'.repeat(51),
    ]);
    expectSame(schemas['AnnotationKey']!, (text) => accepts(() => readAnnotationKey('x', text)), ['', 'a', 'a:b']);
    expectSame(schemas['SavedSearchRequest']!.properties['name']!, isSearchName, ['', 'web-1', 'Web']);
    for (const name of ['AccessGroupTitle', 'AccessGroupRequest']) {
      expectSame(schemas[name]!.properties['title']!, (text) => cleanTitle(text) !== null, ['.', '!', 'é', '%a%']);
    }
  });

  it('for scripts', () => {
    const code = [
      '#!/bin/sh',
      '#! /bin/sh -e\r\nx',
      '#!bin/sh',
      '#!/',
      '#!/\t\n',
      '#!/bin/\u0007',
      'x\n#!/bin/sh',
      '\ufeff#!/bin/sh',
    ];
    expectSame(schemas['ScriptCode']!, (text) => parseScript(text) !== null, code);
    expectSame(schemas['ScriptUsername']!, isUsername, ['', 'root', '-a', 'a'.repeat(32), 'a'.repeat(33)]);
    const filename = schemas['ScriptAttachments']!.items.properties['filename']!;
    expectSame(filename, (text) => isAttachmentName(text) || ['.', '..'].includes(text), ['', 'a', 'a/b', 'é']);
  });

  it('for moments', () => {
    const days = ['2036-05-04', '2036-13-04', '2036-05-32', '2036-00-10'];
    const clocks = ['', 'T22:00', 't22:00:59.123456789z', 'T22:00:00,5+05:30', 'T24:00', 'T22:60', 'T22:00:60', 'T22'];
    const zones = ['', 'Z', '+14:00', '+1400', '+14', '+14:01', '-15:00', '+05:60', '+5'];
    const texts = days.flatMap((day) => clocks.flatMap((clock) => zones.map((zone) => day + clock + zone)));
    for (const name of ['Moment', 'DeliverAfter']) {
      expectSame(schemas[name]!, (text) => parseInstant(text) !== null, texts);
    }
    expectSame(schemas['UsgStartDate']!, (text) => parseInstant(text) !== null, texts);
  });
});

describe('enumerations of the document', () => {
  it('name the permissions of roles', () => {
    expect(schemas['GroupPermissions']!.items.enum).toEqual(GROUP_PERMISSIONS);
    expect(schemas['GlobalPermissions']!.items.enum).toEqual(GLOBAL_PERMISSIONS);
  });
});
