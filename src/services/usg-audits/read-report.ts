import { isUtf8 } from 'node:buffer';
import { StringDecoder } from 'node:string_decoder';
import { SaxesParser } from 'saxes';
import {
  type AuditedRule,
  type AuditReading,
  RULE_RESULTS,
  RULE_SEVERITIES,
  type RuleResult,
  type RuleSeverity,
  textLength,
} from '../../domain/usg/audit-report.ts';
import { Capture } from './capture.ts';

const MAX_BYTES = 32 * 1024 * 1024;
const MAX_DEPTH = 100;
const MAX_RULES = 10_000;
const MAX_IDENTIFIERS = 200;
const MAX_ID_CHARS = 500;
/** Texts of all rules together, in UTF-16 units; several times those of the largest benchmarks. */
const MAX_TEXT_CHARS = 16 * 1024 * 1024;
const CHUNK = 64 * 1024;
/** Whatever declares entities or brings in other documents; looked for before anything reads the bytes as XML. */
const DECLARATION = /<!\s{0,100}(?:DOCTYPE|ENTITY|ELEMENT|ATTLIST|NOTATION)/i;

class Refused extends Error {}

interface Definition {
  severity: RuleSeverity;
  title: string;
  description: string;
  rationale: string;
  identifiers: string[];
}

interface Verdict {
  rule: string;
  /** Null: as the benchmark says. */
  severity: RuleSeverity | null;
  identifiers: string[];
  result: RuleResult | 'notselected' | null;
}

/**
 * Reads the result file of an audit: what its last test result says of each selected rule, with the texts that the
 * benchmark in the same file has of it.
 *
 * @param bytes - XCCDF results in UTF-8, alone or inside another document
 * @returns a reason instead of rules when it is larger than 32 MiB, not well-formed, nested more than 100 deep, has a
 * document type, entities, more than 10,000 rules or 16 MiB of their texts, or no result of any rule
 * @remarks Streaming and linear in the size; nothing is fetched or expanded. Never throws.
 * @see agent-protocol 9.6; perf-reliability B3
 */
export function readAuditReport(bytes: Uint8Array): AuditReading {
  try {
    const reader = new ReportReader();
    feed(bytes, reader);
    return { rules: reader.rules() };
  } catch (error) {
    if (error instanceof Refused) return { reason: error.message };
    return { reason: `the report cannot be read: ${error instanceof Error ? error.message : 'unknown error'}` };
  }
}

function feed(bytes: Uint8Array, reader: ReportReader): void {
  if (bytes.length > MAX_BYTES) throw new Refused('the report is larger than 32 MiB');
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
  if (DECLARATION.test(buffer.toString('latin1'))) throw new Refused('the report has a document type or entities');
  const parser = createParser(reader);
  if (!isUtf8(buffer)) throw new Refused('the report is not encoded as UTF-8');
  const decoder = new StringDecoder('utf8');
  for (let at = 0; at < buffer.length; at += CHUNK) parser.write(decoder.write(buffer.subarray(at, at + CHUNK)));
  parser.close();
}

function createParser(reader: ReportReader) {
  const parser = new SaxesParser<{ xmlns: false; position: false }>({ xmlns: false, position: false });
  parser.on('error', ({ message }) => {
    throw new Refused(`the report is not well-formed XML: ${message.slice(0, 200)}`);
  });
  parser.on('doctype', () => {
    throw new Refused('the report has a document type or entities');
  });
  parser.on('xmldecl', ({ encoding }) => {
    if (encoding && !/^(?:utf-8|us-ascii)$/i.test(encoding)) throw new Refused('the report is not encoded as UTF-8');
  });
  parser.on('opentag', ({ name, attributes }) => reader.open(local(name), attributes));
  parser.on('closetag', () => reader.close());
  parser.on('text', (text) => reader.text(text));
  parser.on('cdata', (text) => reader.text(text));
  return parser;
}

/** Element names are known by themselves: prefixes differ between tools and versions of the format. */
function local(name: string): string {
  return name.slice(name.indexOf(':') + 1);
}

type Attributes = Readonly<Record<string, string>>;

/** Collects rules and results from the events of a parser. */
class ReportReader {
  readonly #definitions = new Map<string, Definition>();
  #verdicts: Verdict[] = [];
  #depth = 0;
  #inTest = 0;
  #inItem = 0;
  #definition: Definition | null = null;
  #verdict: Verdict | null = null;
  #capture: Capture | null = null;

  open(name: string, attributes: Attributes): void {
    this.#depth += 1;
    if (this.#depth > MAX_DEPTH) throw new Refused(`the report is nested more than ${MAX_DEPTH} deep`);
    if (this.#capture) this.#capture.add(' ');
    else if (this.#inItem > 0) this.#openPart(name, attributes);
    else if (this.#inTest > 0) this.#openResult(name, attributes);
    else if (name === 'TestResult') {
      this.#inTest = this.#depth;
      this.#verdicts = [];
    } else if (name === 'Rule') this.#openRule(attributes);
  }

  close(): void {
    const depth = this.#depth;
    this.#depth -= 1;
    if (this.#capture) {
      if (this.#capture.depth !== depth) this.#capture.add(' ');
      else {
        this.#capture.end();
        this.#capture = null;
      }
    } else if (depth === this.#inItem) {
      if (this.#verdict) this.#verdicts.push(this.#verdict);
      this.#inItem = 0;
      this.#definition = null;
      this.#verdict = null;
    } else if (depth === this.#inTest) this.#inTest = 0;
  }

  text(text: string): void {
    this.#capture?.add(text);
  }

  rules(): AuditedRule[] {
    const selected = this.#verdicts.filter(({ result }) => result !== 'notselected');
    if (selected.length === 0) throw new Refused('the report has no result of any rule');
    const rules = selected.map((verdict) => this.#toRule(verdict));
    if (textLength(rules) > MAX_TEXT_CHARS) throw new Refused('the report has more than 16 MiB of texts of rules');
    return rules;
  }

  #toRule(verdict: Verdict): AuditedRule {
    const known = this.#definitions.get(verdict.rule);
    if (verdict.result === null) throw new Refused('the report has a rule without a known result');
    return {
      rule: verdict.rule,
      severity: verdict.severity ?? known?.severity ?? 'unknown',
      title: known?.title ?? '',
      identifiers: known ? known.identifiers : verdict.identifiers,
      description: known?.description ?? '',
      rationale: known?.rationale ?? '',
      result: verdict.result as RuleResult,
    };
  }

  #openRule(attributes: Attributes): void {
    if (this.#definitions.size >= MAX_RULES) throw new Refused(`the report has more than ${MAX_RULES} rules`);
    const severity = readSeverity(attributes['severity']) ?? 'unknown';
    this.#definition = { severity, title: '', description: '', rationale: '', identifiers: [] };
    this.#definitions.set(readId(attributes['id']), this.#definition);
    this.#inItem = this.#depth;
  }

  #openResult(name: string, attributes: Attributes): void {
    if (name !== 'rule-result') return;
    if (this.#verdicts.length >= MAX_RULES) throw new Refused(`the report has more than ${MAX_RULES} rules`);
    const severity = readSeverity(attributes['severity']);
    this.#verdict = { rule: readId(attributes['idref']), severity, identifiers: [], result: null };
    this.#inItem = this.#depth;
  }

  /** A part of a rule or of a result that says something; deeper ones belong to checks and fixes. */
  #openPart(name: string, attributes: Attributes): void {
    if (this.#depth !== this.#inItem + 1) return;
    const item = this.#definition ?? this.#verdict!;
    const take = (store: (text: string) => void) => {
      this.#capture = new Capture(this.#depth, store);
    };
    if (name === 'ident' || name === 'reference') {
      const address = attributes['href'] ?? '';
      take((text) => addIdentifier(item.identifiers, text || address));
    } else if (item === this.#verdict) {
      const verdict = item as Verdict;
      if (name === 'result') take((text) => setResult(verdict, text));
    } else if (name === 'title' || name === 'description' || name === 'rationale') {
      const definition = item as Definition;
      take((text) => {
        definition[name] ||= text;
      });
    }
  }
}

function setResult(verdict: Verdict, text: string): void {
  if (text === 'notselected' || Object.hasOwn(RULE_RESULTS, text)) verdict.result = text as RuleResult;
}

function addIdentifier(identifiers: string[], text: string): void {
  const short = text.slice(0, MAX_ID_CHARS);
  if (short !== '' && identifiers.length < MAX_IDENTIFIERS && !identifiers.includes(short)) identifiers.push(short);
}

function readId(value: string | undefined): string {
  if (!value) throw new Refused('the report has a rule without an id');
  if (value.length > MAX_ID_CHARS)
    throw new Refused(`the report has a rule id of more than ${MAX_ID_CHARS} characters`);
  return value;
}

function readSeverity(value: string | undefined): RuleSeverity | null {
  return RULE_SEVERITIES.find((severity) => severity === value) ?? null;
}
