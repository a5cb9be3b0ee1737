import { type BenchmarkRule, benchmarkRules, describeRule } from './usg-benchmark.ts';

export interface AuditFindings {
  release: string;
  hostname: string;
  profile: string;
  nowSeconds: number;
  results: ReadonlyArray<{ rule: BenchmarkRule; result: string }>;
}

const ID = 'xccdf_org.ssgproject.content';

/** Writes the XCCDF result of an audit: the benchmark with its rules, and the test result. */
export function renderAuditReport({ release, hostname, profile, nowSeconds, results }: AuditFindings): string {
  const rated = results.filter(({ result }) => result !== 'notapplicable');
  const score = (100 * rated.filter(({ result }) => result === 'pass').length) / rated.length;
  const time = new Date(nowSeconds * 1000).toISOString();
  return [
    '<?xml version="1.0" encoding="UTF-8"?>',
    `<Benchmark xmlns="http://checklists.nist.gov/xccdf/1.2" id="${ID}_benchmark_UBUNTU_${release.replace('.', '-')}" resolved="1">`,
    '<status date="2026-06-30">draft</status>',
    renderRules(results.length),
    `<TestResult id="xccdf_org.open-scap_testresult_${profile}" start-time="${time}" end-time="${time}" version="1">`,
    `<title>Audit with profile ${profile}</title>`,
    `<profile idref="${ID}_profile_${profile}"/>`,
    `<target>${hostname}</target>`,
    ...results.map(
      ({ rule, result }) =>
        `<rule-result idref="${ID}_rule_${rule.name}" severity="${rule.severity}" time="${time}" weight="1.000000"><result>${result}</result></rule-result>`,
    ),
    `<score system="urn:xccdf:scoring:default" maximum="100.000000">${score.toFixed(6)}</score>`,
    '</TestResult>',
    '</Benchmark>',
    '',
  ].join('\n');
}

const rendered = new Map<number, string>();

function renderRules(count: number): string {
  const cached = rendered.get(count);
  if (cached !== undefined) return cached;
  const text = benchmarkRules(count).map(renderRule).join('\n');
  rendered.set(count, text);
  return text;
}

function renderRule(rule: BenchmarkRule, place: number): string {
  const { title, description, subject, rationale, reference, ident } = describeRule(rule, place);
  return [
    `<Rule id="${ID}_rule_${rule.name}" selected="true" severity="${rule.severity}" weight="1.000000">`,
    `<title xml:lang="en-US">${title}</title>`,
    `<description xml:lang="en-US">${description} <code xmlns="http://www.w3.org/1999/xhtml">${subject}</code>.</description>`,
    `<reference href="https://benchmarks.example/ubuntu">${reference}</reference>`,
    `<rationale xml:lang="en-US">${rationale}</rationale>`,
    `<ident system="https://identifiers.example/cce">${ident}</ident>`,
    `<check system="http://oval.mitre.org/XMLSchema/oval-definitions-5"><check-content-ref href="oval.xml" name="oval:${rule.name}:def:1"/></check>`,
    '</Rule>',
  ].join('\n');
}
