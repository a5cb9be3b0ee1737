import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { BAD_INPUTS } from './names.ts';

const TESTS = join(import.meta.dirname, '..');
/** A title, of a test or of a table of tests, is a text at the start of an argument. */
const TITLE = /[([]\s*(['"`])((?:\\.|(?!\1)[^\\\n])+)\1/g;

function titles(): string[] {
  const files = readdirSync(TESTS, { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('.test.ts'));
  return files.flatMap((name) => {
    const text = readFileSync(join(TESTS, name), 'utf8');
    return [...text.matchAll(TITLE)].map(([, , title]) => title!);
  });
}

/** `A-b, C-d: does so` stands for both. */
function namesOf(title: string): string[] {
  const [names] = /^[A-Z]+(?:-[A-Za-z/]+)?(?:, [A-Z]+(?:-[A-Za-z/]+)?)*(?=$|[: ])/.exec(title) ?? [];
  return names?.split(', ') ?? [];
}

describe('the named bad inputs', () => {
  const named = new Set(titles().flatMap(namesOf));

  it('are found in titles', () => {
    expect(namesOf('JWT-nbf, JWT-skew: are rejected')).toEqual(['JWT-nbf', 'JWT-skew']);
    expect(namesOf('PROTO: is data')).toEqual(['PROTO']);
    expect(namesOf('is no name')).toEqual([]);
  });

  it.each(Object.entries(BAD_INPUTS))('%s has a test: %s', (name) => {
    expect(named).toContain(name);
  });
});
