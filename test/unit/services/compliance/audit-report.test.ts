import { describe, expect, it } from 'vitest';
import { RULE_RESULTS } from '../../../../src/domain/compliance/audit-report.ts';
import { createBenchmarkCache, readAuditReport } from '../../../../src/services/compliance/audits/read-report.ts';
import { createReportReader } from '../../../../src/services/compliance/audits/report-reader.ts';
import { createBriefReader } from '../../../../src/services/compliance/audits/report-thread.ts';
import { ruleSetOf } from '../../../../src/services/compliance/audits/rule-set.ts';
import { auditReport } from '../../../support/compliance/usg.ts';
import { calibrate } from '../../../support/common/process.ts';

const read = (text: string | Buffer) => readAuditReport(Buffer.from(text));
const rulesOf = (text: string | Buffer) => {
  const reading = read(text);
  if ('reason' in reading) throw new Error(reading.reason);
  return reading.rules;
};
const reasonOf = (text: string | Buffer) => {
  const reading = read(text);
  return 'reason' in reading ? reading.reason : null;
};
const testResult = (results: string) =>
  `<TestResult>${results.replaceAll(/(\w+)=(\w+)/g, '<rule-result idref="$1"><result>$2</result></rule-result>')}</TestResult>`;

describe('readAuditReport', () => {
  it('reads rules with their texts, and nothing of checks and fixes', () => {
    expect(rulesOf(auditReport(['pass', 'fail']))).toEqual([
      {
        rule: 'xccdf_org.ssgproject.content_rule_0',
        severity: 'high',
        title: 'Rule 0',
        identifiers: ['5.0', 'https://controls.example/0', 'CCE-0'],
        description: 'Line one, line two .',
        rationale: 'Because & why',
        result: 'pass',
      },
      expect.objectContaining({ rule: 'xccdf_org.ssgproject.content_rule_1', severity: 'low', result: 'fail' }),
    ]);
  });

  it('reads results without a benchmark, with prefixes, inside another document', () => {
    const text = `<arf:c xmlns:arf="a" xmlns:x="b"><x:TestResult><x:rule-result idref="r" severity="medium">
      <x:ident system="s">CCE-1</x:ident><x:result> pass </x:result></x:rule-result></x:TestResult></arf:c>`;
    expect(rulesOf(text)).toMatchObject([
      { rule: 'r', severity: 'medium', identifiers: ['CCE-1'], title: '', description: '', result: 'pass' },
    ]);
  });

  it('takes the last test result, without rules that were not selected', () => {
    const text = `<B>${testResult('a=fail')}${testResult('a=pass b=notselected c=notapplicable')}</B>`;
    expect(rulesOf(text).map(({ rule, result }) => [rule, result])).toEqual([
      ['a', 'pass'],
      ['c', 'notapplicable'],
    ]);
  });

  it('reads the same when the benchmark is known, and holds the rest of the report to it', () => {
    const known = createBenchmarkCache();
    const reports = [auditReport(['pass', 'fail']), auditReport(['fail', 'error'])];
    for (const report of [...reports, ...reports]) {
      expect(readAuditReport(report, known)).toEqual(readAuditReport(report));
    }
    const text = String(reports[0]);
    for (const broken of [
      text.replace('</Benchmark>', '</Other>'),
      text.replace('</Benchmark>', ''),
      `${text}<more/>`,
      text.replace('<score>', '<score><!DOCTYPE x>'),
      text.replace('</TestResult>', '</TestResult></TestResult>'),
    ]) {
      const reading = readAuditReport(Buffer.from(broken), known);
      expect(reading).toEqual({ reason: expect.any(String) });
      expect(reading).toEqual(readAuditReport(Buffer.from(broken)));
    }
  });

  it.each([
    ['a comment', '<!-- <TestResult> -->'],
    ['CDATA', '<x><![CDATA[<TestResult>]]></x>'],
    ['an instruction', '<?x <TestResult> ?>'],
  ])('does not take %s for the end of the benchmark', (_, decoy) => {
    const known = createBenchmarkCache();
    const text = `<B>${decoy}<Rule id="a"><title>A</title></Rule>${testResult('a=pass')}</B>`;
    for (let times = 0; times < 2; times += 1) {
      expect(readAuditReport(Buffer.from(text), known)).toMatchObject({ rules: [{ title: 'A', result: 'pass' }] });
    }
  });

  it('cuts long texts and keeps them whole characters', () => {
    const text = `<B><Rule id="a"><title>${'x'.repeat(19_999)}😀😀</title></Rule>${testResult('a=pass')}</B>`;
    const [rule] = rulesOf(text);
    expect(rule!.title).toHaveLength(20_000);
    expect(rule!.title.isWellFormed()).toBe(true);
  });

  it('cuts long identifiers and keeps them whole characters', () => {
    const long = `${'x'.repeat(499)}😀`;
    const rule = `<Rule id="a"><ident>${long}</ident><reference href="y${long}">z${long}</reference></Rule>`;
    const { identifiers } = rulesOf(`<B>${rule}${testResult('a=pass')}</B>`)[0]!;
    expect(identifiers.length).toBeGreaterThan(1);
    for (const identifier of identifiers) expect(identifier.isWellFormed()).toBe(true);
  });

  it.each([
    ['no document', ''],
    ['no XML', 'usg: command not found'],
    ['unclosed', '<B><TestResult>'],
    ['mismatched', `<B>${testResult('a=pass')}</C>`],
    ['two roots', `${testResult('a=pass')}<B/>`],
    ['an unknown entity', `<B>&nbsp;${testResult('a=pass')}</B>`],
    ['a forbidden character', `<B>&#0;${testResult('a=pass')}</B>`],
    ['no result of any rule', '<B><TestResult/></B>'],
    ['only rules that were not selected', `<B>${testResult('a=notselected')}</B>`],
    ['an unknown result', `<B>${testResult('a=maybe')}</B>`],
    ['a rule without a result', '<TestResult><rule-result idref="a"/></TestResult>'],
    ['a rule without an id', '<TestResult><rule-result><result>pass</result></rule-result></TestResult>'],
    ['a long id', testResult(`${'a'.repeat(501)}=pass`)],
    ['depth', `${'<b>'.repeat(101)}${'</b>'.repeat(101)}`],
    [
      'much text',
      `<B>${[...Array(900).keys()].map((n) => `<Rule id="r${n}"><title>${'x'.repeat(20_000)}</title></Rule>`).join('')}
        <TestResult>${[...Array(900).keys()].map((n) => `<rule-result idref="r${n}"><result>pass</result></rule-result>`).join('')}</TestResult></B>`,
    ],
    ['many rules', testResult('a=pass '.repeat(10_001))],
    ['another encoding', `<?xml version="1.0" encoding="ISO-8859-1"?>${testResult('a=pass')}`],
    ['UTF-16', Buffer.from(`\ufeff${testResult('a=pass')}`, 'utf16le')],
    ['broken UTF-8', Buffer.concat([Buffer.from('<B>'), Buffer.from([0xff, 0xfe]), Buffer.from('</B>')])],
  ])('XML-wrong: gives a reason for %s', (_, text) => {
    expect(reasonOf(text)).toMatch(/^the report [^\n]{10,300}$/);
  });

  it('XML-wrong: rejects what is too large unread', () => {
    expect(reasonOf(Buffer.alloc(32 * 1024 * 1024 + 1, ' '))).toBe('the report is larger than 32 MiB');
  });
});

const ENTITIES = Array.from({ length: 10 }, (_, n) => `<!ENTITY e${n + 1} "${`&e${n};`.repeat(10)}">`).join('');

describe('hostile reports', () => {
  it.each([
    ['nested entities', `<!DOCTYPE B [<!ENTITY e0 "x">${ENTITIES}]><B>&e10;</B>`],
    ['quadratic blow-up', `<!DOCTYPE B [<!ENTITY a "${'a'.repeat(50_000)}">]><B>${'&a;'.repeat(50_000)}</B>`],
    ['several document types', `<!DOCTYPE B><!DOCTYPE B><B>${testResult('a=pass')}</B>`],
    ['in another form', `<!doctype B><B>${testResult('a=pass')}</B>`],
  ])('XML-bomb: rejects %s before anything is expanded', (_, text) => {
    const before = process.cpuUsage();
    expect(reasonOf(text)).toBe('the report has a document type or entities');
    const { user, system } = process.cpuUsage(before);
    // Processor time beside that of known work: a machine that stalls adds nothing, a slow one to both.
    expect((user + system) / 1000).toBeLessThan(10 * calibrate());
  });

  it('XML-bomb: a million numeric references are only text', () => {
    const text = `<B><Rule id="a"><title>${'&#65;'.repeat(1_000_000)}</title></Rule>${testResult('a=pass')}</B>`;
    expect(rulesOf(text)[0]!.title).toHaveLength(20_000);
  });

  it.each([
    ['a file', '<!DOCTYPE B [<!ENTITY x SYSTEM "file:///etc/passwd">]><B>&x;</B>'],
    ['an address', '<!DOCTYPE B SYSTEM "http://127.0.0.1:9/x.dtd"><B/>'],
    ['a parameter entity', '<!DOCTYPE B [<!ENTITY % p SYSTEM "http://127.0.0.1:9/x"> %p;]><B/>'],
  ])('XXE: rejects %s', (_, text) => {
    expect(reasonOf(text)).toBe('the report has a document type or entities');
  });

  it('reads in a thread, and gives up what takes too long', async () => {
    expect(await createReportReader()(auditReport(['pass']))).toMatchObject({ rules: [{ result: 'pass' }] });
    const slow = Buffer.from(`<B>${'<a/>'.repeat(6_000_000)}</B>`);
    const hasty = createReportReader(20);
    expect(await hasty(slow)).toEqual({ reason: 'the report takes too long to read' });
  });
});

describe('createBriefReader', () => {
  const setOf = (report: Buffer) => ruleSetOf(rulesOf(report)).digest.toString('hex');
  const lettersOf = (report: Buffer) =>
    rulesOf(report)
      .map(({ result }) => RULE_RESULTS[result])
      .join('');

  it('returns only results of a set that the caller has, and everything of any other', () => {
    const read = createBriefReader();
    const first = auditReport(['pass', 'fail']);
    const set = setOf(first);
    expect(read(first, [set])).toEqual(readAuditReport(first));
    const second = auditReport(['error', 'notapplicable']);
    expect(setOf(second)).toBe(set);
    expect(read(second, [])).toEqual(readAuditReport(second));
    expect(read(second, ['another', set])).toEqual({ set, results: lettersOf(second) });
    const rejected = Buffer.from(String(second).replace('</Benchmark>', '</Other>'));
    expect(read(rejected, [set])).toEqual(readAuditReport(rejected));
  });

  it.each([
    ['other severities', (text: string) => text.replace(/(<rule-result [^>]*severity=")[a-z]+/, '$1info')],
    ['fewer selected rules', (text: string) => text.replace('<result>pass<', '<result>notselected<')],
    ['another benchmark', (text: string) => text.replace('Rule 1', 'Rule One')],
    ['a rule defined after its results', (text: string) => text.replace('</Benchmark>', lateRule('late'))],
  ])('does not take a report with %s for one of the same set', (_, change) => {
    const read = createBriefReader();
    const plain = auditReport(['pass', 'fail']);
    const changed = Buffer.from(change(String(plain)));
    expect(String(changed)).not.toBe(String(plain));
    const sets = [setOf(plain), setOf(changed)];
    for (const report of [plain, changed, plain, changed]) {
      const reading = read(report, sets);
      if (!('set' in reading)) expect(reading).toEqual(readAuditReport(report));
      else expect(reading).toEqual({ set: setOf(report), results: lettersOf(report) });
    }
  });

  it('separates a benchmark from rules after what only looks like its end', () => {
    const read = createBriefReader();
    const report = (title: string) =>
      Buffer.from(`<B><!-- <TestResult> --><Rule id="a"><title>${title}</title></Rule>${testResult('a=pass')}</B>`);
    for (const title of ['A', 'B', 'A', 'B']) {
      const reading = read(report(title), [setOf(report('A')), setOf(report('B'))]);
      expect(reading).toMatchObject({ rules: [{ title }] });
    }
  });
});

const lateRule = (title: string) =>
  `<Rule id="xccdf_org.ssgproject.content_rule_0"><title>${title}</title></Rule></Benchmark>`;
