import { describe, expect, it } from 'vitest';
import { DomainError } from '../../../../src/domain/common/errors.ts';
import { parseComputerQuery, usesDeprecated } from '../../../../src/domain/query/computer-query.ts';
import { parseQuery, type QueryLanguage } from '../../../../src/domain/query/parser.ts';
import { processorMs } from '../../../support/common/process.ts';
import fc from '../../../support/common/random.ts';

/** The clauses as text: `a|!b & c`. */
function shape(text: string): string {
  const language: QueryLanguage<string> = {
    keyword: (word) => word,
    selectors: new Map([['sel', (value) => `${value.text}<${value.query}>`]]),
  };
  return parseQuery(text, language)
    .clauses.map((factors) => factors.map(({ negated, criterion }) => (negated ? '!' : '') + criterion).join('|'))
    .join(' & ');
}

const criteria = (text: string) => parseComputerQuery(text).clauses.flatMap((f) => f.map(({ criterion }) => criterion));

function rejection(text: string): string {
  try {
    parseComputerQuery(text);
  } catch (error) {
    expect(error).toBeInstanceOf(DomainError);
    const { code, message, details } = error as DomainError;
    expect(code).toBe('InvalidQueryError');
    const position = Number(/at character (\d+):/.exec(message)![1]);
    expect(details).toEqual([
      { path: 'query.query', position, message: message.replace('The query is invalid at ', '') },
    ]);
    return details![0]!.message;
  }
  throw new Error(`${text.slice(0, 50)} was accepted`);
}

describe('parseQuery', () => {
  it.each([
    ['', ''],
    [' \t\n ', ''],
    ['web', 'web'],
    ['a b', 'a & b'],
    ['a AND b', 'a & b'],
    ['a OR b c', 'a|b & c'],
    ['a b OR c', 'a & b|c'],
    ['NOT a OR b', '!a|b'],
    ['NOT NOT a NOT b', 'a & !b'],
    ['a AND NOT b OR NOT NOT NOT c', 'a & !b|!c'],
    ['or not and', 'or & not & and'],
    ['"OR" "NOT" O"R"', 'OR & NOT & OR'],
    ['(a OR b)', '(a|b)'],
    ['"two words" o"n"e', 'two words & one'],
    ['"sel:a" "x:y"', 'sel:a & x:y'],
    ['""', ''],
    ['sel:a', 'a<a>'],
    ['sel:"two words"', 'two words<two words>'],
    ['sel:a:"b c":d', 'a:b c:d<a:"b c":d>'],
    ['sel: a b', 'a<a> & b'],
    ['sel: "OR" OR b', 'OR<OR>|b'],
    ['sel:"" b', '<> & b'],
    ['"se"l:a', 'a<a>'],
    ['sel: x:y', 'x:y<x:y>'],
    ['a\u00a0b', 'a\u00a0b'],
    ['sel:"a \\"b\\""', 'a "b"<a "b">'],
    ['"\\\\" c', '\\ & c'],
    ['"C:\\dir"', 'C:\\dir'],
    ['a\\ b', 'a\\ & b'],
    ['sel:"x\\"y" z', 'x"y<x"y> & z'],
  ])('reads %j', (text, wanted) => {
    expect(shape(text)).toBe(wanted);
  });

  it.each([
    ['a "b', 'character 3: expected a closing double quote for the one here'],
    ['東京 😀 "', 'character 6: expected a closing double quote for the one here'],
    ['OR a', 'character 1: expected a keyword or a selector before OR'],
    ['AND a', 'character 1: expected a keyword or a selector before AND'],
    ['a OR', 'character 5: expected a keyword or a selector after OR'],
    ['a AND ', 'character 7: expected a keyword or a selector after AND'],
    ['NOT', 'character 4: expected a keyword or a selector after NOT'],
    ['a OR OR b', 'character 6: expected a keyword or a selector before OR'],
    ['a AND AND b', 'character 7: expected a keyword or a selector before AND'],
    ['a AND OR b', 'character 7: expected a keyword or a selector before OR'],
    ['NOT OR b', 'character 5: expected a keyword or a selector before OR'],
    ['a tag:', 'character 3: expected a value after tag:'],
    ['tag: OR b', 'character 1: expected a value after tag:'],
    ['a\0', 'character 2: expected no U+0000'],
    ['"a\0"', 'character 3: expected no U+0000'],
  ])('rejects %j', (text, wanted) => {
    expect(rejection(text)).toBe(wanted);
  });

  it('never fails in another way, whatever the text', () => {
    const piece = fc.oneof(
      fc.constantFrom(
        '"',
        ':',
        ' ',
        'OR',
        ' OR ',
        'NOT ',
        ' AND ',
        'tag:',
        'id:',
        'profile:wsl:1',
        'x',
        '\\',
        '\0',
        '😀',
      ),
      fc.string(),
    );
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 30 }), (pieces) => {
        try {
          parseComputerQuery(pieces.join(''));
        } catch (error) {
          expect((error as DomainError).code).toBe('InvalidQueryError');
        }
      }),
      { numRuns: 2000 },
    );
  });

  it('QUERY-deep: rejects what is too long or has too many terms, at once', async () => {
    const texts = [
      'NOT '.repeat(100_000),
      `${'a OR '.repeat(100_000)}a`,
      'x'.repeat(1_000_000),
      'tag:a '.repeat(10_000),
      'é'.repeat(4097),
      'a '.repeat(201),
    ];
    expect(await processorMs(() => texts.forEach(rejection))).toBeLessThan(50 * texts.length);
    expect(rejection('a '.repeat(201))).toBe('character 401: expected not more than 200 terms');
    expect(rejection('é'.repeat(4097))).toBe('character 1: expected not more than 8192 bytes');
    expect(parseComputerQuery('a '.repeat(200)).clauses).toHaveLength(200);
    expect(parseComputerQuery(`${'NOT '.repeat(2047)}a`).clauses[0]![0]!.negated).toBe(true);
  });

  it('QUERY-redos: takes time in proportion to the text', () => {
    const shapes: Array<(size: number) => string> = [
      (size) => `${'a'.repeat(size)}!`,
      (size) => `"${'a"b"'.repeat(size / 4)}"`,
      (size) => ' '.repeat(size),
      (size) => `annotation:${':'.repeat(size)}`,
      (size) => `tag:${'"'.repeat(size)}`,
    ];
    for (const make of shapes) {
      for (const text of [make(50_000), make(1_000_000)]) expect(rejection(text)).toContain('8192 bytes');
      // Below the limit of length too: one long text costs what ten short ones cost, where quadratic time is ten times as much.
      const [short, long] = [processorTime(make(780), 2000), processorTime(make(7800), 200)];
      expect(long).toBeLessThan(3 * short + 20);
    }
  });
});

/** Milliseconds of processor time for reading a text a number of times. */
function processorTime(text: string, times: number): number {
  const start = process.threadCpuUsage();
  for (let time = 0; time < times; time++) {
    try {
      parseComputerQuery(text);
    } catch (error) {
      expect((error as DomainError).code).toBe('InvalidQueryError');
    }
  }
  return process.threadCpuUsage(start).user / 1000;
}

describe('parseComputerQuery', () => {
  it('reads every kind of value', () => {
    expect(
      criteria(
        'needs:license license-id:none license-id:7 license-id:x annotation:a annotation:a:b:c has-pro-management:YES ' +
          'profile:security:3:in-progress profile:usg:3 profile:wsl:4:noncompliant id:007 id:99999999999 instance-id:null',
      ),
    ).toEqual([
      { kind: 'license-type', type: 'unlicensed' },
      { kind: 'license-type', type: 'unlicensed' },
      { kind: 'license-id', id: 7 },
      { kind: 'license-id', id: 0 },
      { kind: 'annotation', key: 'a', part: null },
      { kind: 'annotation', key: 'a', part: 'b:c' },
      { kind: 'pro-management', enabled: true },
      { kind: 'profile', type: 'usg', id: 3, status: 'in-progress', deprecatedName: true },
      { kind: 'profile', type: 'usg', id: 3, status: null, deprecatedName: false },
      { kind: 'profile', type: 'wsl', id: 4, status: 'noncompliant', deprecatedName: false },
      { kind: 'id', id: 7 },
      { kind: 'id', id: 0 },
      { kind: 'cloud', field: 'instance-id', text: null },
    ]);
  });

  it('reports deprecated forms', () => {
    expect(usesDeprecated(parseComputerQuery('a OR NOT profile:security:1'))).toBe(true);
    expect(usesDeprecated(parseComputerQuery('a OR NOT profile:usg:1 "profile:security:1"'))).toBe(false);
  });

  it.each([
    ['id:abc', 'a non-negative integer after id:'],
    ['id:-1', 'a non-negative integer'],
    ['id:1.0', 'a non-negative integer'],
    ['id:1e3', 'a non-negative integer'],
    ['id:١٢٣', 'a non-negative integer'],
    ['id:""', 'a non-negative integer'],
    ['alert:nope', 'one of package-upgrades, security-upgrades'],
    ['alert:Computer-Offline', 'one of package-upgrades'],
    ['needs:nothing', 'one of reboot, license after needs:'],
    ['license-type:gold', 'one of unlicensed, pro, free_pro, legacy'],
    ['release-upgrade:no', 'one of available'],
    ['license-expires-within-days:1e99', 'a non-negative integer'],
    ['contract-expires-within-days:-1', 'a non-negative integer'],
    ['has-pro-management:maybe', 'one of true, 1, yes, on, false, 0, no, off'],
    ['has:nothing', 'one of upgrade-profile'],
    ['profile:nope:1', 'one of the profile types'],
    ['profile:usg', 'a profile type and id'],
    ['profile:usg:x', 'a non-negative integer'],
    ['profile:usg:1:good', 'one of the statuses pass, fail, in-progress'],
    ['profile:usg:1:', 'one of the statuses'],
    ['profile:wsl:1:pass', 'one of the statuses compliant, noncompliant'],
    ['profile:package:1:pass', 'no status for type package'],
    ['profile:usg:1:pass:x', 'one of the statuses'],
    ['nope:1', 'one of the selectors tag, distribution'],
    ['Tag:1', 'one of the selectors'],
    [':1', 'one of the selectors'],
    ['__proto__:1', 'one of the selectors'],
    ['constructor:1', 'one of the selectors'],
  ])('QUERY-badsel: rejects %s', (text, wanted) => {
    expect(rejection(`web ${text}`)).toMatch(/^character 5: expected /);
    expect(rejection(`web ${text}`)).toContain(wanted);
  });
});
