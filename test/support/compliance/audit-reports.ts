import type { RuleResult } from '../../../src/domain/compliance/audit-report.ts';

const ID = 'xccdf_org.ssgproject.content';

/** A result file as the tools of the format write it, with a benchmark of as many rules as there are results. */
export function auditReport(results: readonly RuleResult[], edit: { rules?: string; before?: string } = {}): Buffer {
  const rules = results.map(
    (_, n) => `<Group id="${ID}_group_${n}"><title>Group ${n}</title>
      <Rule id="${ID}_rule_${n}" severity="${n % 2 === 0 ? 'high' : 'low'}" selected="true">
        <title>Rule ${n}</title>
        <description>Line one,<html:br xmlns:html="http://www.w3.org/1999/xhtml"/>line <html:code>two</html:code>.</description>
        <reference href="https://benchmarks.example/${n}">5.${n}</reference>
        <reference href="https://controls.example/${n}"/>
        <rationale>Because &amp; why</rationale>
        <ident system="https://ids.example">CCE-${n}</ident>
        <fix system="urn:xccdf:fix:script:sh"><![CDATA[echo "<title>not this</title>"]]></fix>
        <check system="oval"><check-content-ref name="${n}" href="x.xml"/></check>
      </Rule></Group>`,
  );
  const verdicts = results.map(
    (result, n) => `<rule-result idref="${ID}_rule_${n}" severity="${n % 2 === 0 ? 'high' : 'low'}" weight="1.0">
      <result>${result}</result><check system="oval"><check-export value-id="v" export-name="result"/></check></rule-result>`,
  );
  const text = `<?xml version="1.0" encoding="UTF-8"?>${edit.before ?? ''}
    <Benchmark xmlns="http://checklists.nist.gov/xccdf/1.2" id="b"><status>accepted</status>${edit.rules ?? rules.join('')}
    <TestResult id="t"><title>audit</title><target>web</target>${verdicts.join('')}<score>50</score></TestResult></Benchmark>`;
  return Buffer.from(text);
}
