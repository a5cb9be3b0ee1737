import { describe, expect, it } from 'vitest';
import { executableCode, parseScript } from '../../../../src/domain/scripts/script.ts';
import fc from '../../../support/common/random.ts';

/** The first line in one expression: slow for some texts, but plain. */
const FIRST_LINE = /^#![ \t]*(\/[^\n]{0,1000}?)[ \t]*\r?(?:\n|$)/;

function asWritten(text: string): ReturnType<typeof parseScript> {
  const match = FIRST_LINE.exec(text);
  const interpreter = match?.[1];
  if (!interpreter || /\p{Cc}/u.test(interpreter.replaceAll('\t', ' '))) return null;
  return { interpreter, code: text.slice(match[0].length) };
}

describe('parseScript', () => {
  it.each([
    ['#!/usr/bin/env python3 -u\r\nprint(1)', { interpreter: '/usr/bin/env python3 -u', code: 'print(1)' }],
    ['#! \t/bin/sh\t-e \t\r\n\ntrue', { interpreter: '/bin/sh\t-e', code: '\ntrue' }],
    ['#!/bin/true', { interpreter: '/bin/true', code: '' }],
    ['#!/bin/true \r', { interpreter: '/bin/true', code: '' }],
    ['#!/ ', { interpreter: '/', code: '' }],
    ['#!/bin/sh\r\r\n', null],
    ['#!/bin/sh\r \n', null],
    ['#!/bin/\u0007', null],
    ['#!\r/bin/sh', null],
    ['#! ', null],
    ['#!', null],
    ['#', null],
    ['', null],
    [' #!/bin/sh', null],
    ['#!bin/sh', null],
    ['#!\n/bin/sh', null],
    ['\ufeff\ufeff#!/bin/sh', null],
  ])('takes %j apart', (text, script) => {
    expect(parseScript(text)).toEqual(script);
    expect(asWritten(text)).toEqual(script);
  });

  it('drops a byte-order mark', () => {
    expect(parseScript('\ufeff#!/bin/sh\r\ntrue')).toEqual({ interpreter: '/bin/sh', code: 'true' });
  });

  it('takes 1000 characters after the slash, whatever blanks surround them', () => {
    for (const [length, taken] of [
      [1000, true],
      [1001, false],
    ] as const) {
      for (const blanks of ['', ' \t'.repeat(1000)]) {
        const text = `#!${blanks}/${'x'.repeat(length)}${blanks}\r\ncode`;
        expect(parseScript(text)).toEqual(taken ? { interpreter: `/${'x'.repeat(length)}`, code: 'code' } : null);
        expect(asWritten(text)).toEqual(parseScript(text));
      }
    }
  });

  it('reads any text as the expression does', () => {
    const parts = fc.constantFrom('/', ' ', '\t', '\r', '\n', 'a', '#!', 'é', '\u0007', '\u00a0', '\u2028');
    const texts = fc.array(parts, { maxLength: 10 }).map((list) => `#!${list.join('')}`);
    fc.assert(
      fc.property(texts, (text) => {
        expect(parseScript(text)).toEqual(asWritten(text));
      }),
      { numRuns: 5000 },
    );
  });

  it('takes time in proportion to the text', () => {
    const shapes: Array<(size: number) => string> = [
      (size) => `#!/${' '.repeat(size)}x`,
      (size) => `#!/${' \t'.repeat(size / 2)}\rx`,
      (size) => `#!${' '.repeat(size)}x`,
      (size) => `#!/${'\r'.repeat(size)}x`,
    ];
    for (const make of shapes) {
      expect(parseScript(make(999_990))).toBeNull();
      // One long text costs what ten short ones cost, where quadratic time is ten times as much.
      const [short, long] = [processorTime(make(100), 100_000), processorTime(make(1000), 10_000)];
      expect(long).toBeLessThan(3 * short + 20);
    }
  });
});

/** Milliseconds of processor time for reading a text a number of times. */
function processorTime(text: string, times: number): number {
  const start = process.threadCpuUsage();
  for (let time = 0; time < times; time++) parseScript(text);
  return process.threadCpuUsage(start).user / 1000;
}

describe('executableCode', () => {
  it.each([
    ['/bin/bash', 'a\r\nb\r\n', 'a\nb\n'],
    ['/usr/bin/env python3', 'a\r\n\r\nb', 'a\n\nb'],
    ['/bin/sh', 'printf "a\rb"\n', 'printf "a\rb"\n'],
    ['/mnt/c/Windows/System32/cmd.exe /c', 'a\r\nb\r\n', 'a\r\nb\r\n'],
    ['/usr/bin/env powershell.exe', 'a\r\n', 'a\r\n'],
  ])('gives %s the line ends it takes', (interpreter, code, sent) => {
    expect(executableCode({ interpreter, code })).toBe(sent);
  });
});
