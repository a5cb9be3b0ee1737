import {
  type AuditedRule,
  RULE_RESULTS,
  RULE_SEVERITIES,
  type RuleResult,
  type RuleSeverity,
  textLength,
} from '../../../domain/compliance/audit-report.ts';

const MAX_DEPTH = 100;
const MAX_RULES = 10_000;
const MAX_IDENTIFIERS = 200;
const MAX_ID_CHARS = 500;
/** Maximum size of all texts, in UTF-16 units; several times that of the largest benchmarks. */
const MAX_TEXT_CHARS = 16 * 1024 * 1024;

/** Rule texts are truncated to this many UTF-16 units. */
const MAX_CAPTURED_CHARS = 20_000;

/** The report is unusable for the reason in the message. */
export class InvalidReport extends Error {}

interface Definition {
  severity: RuleSeverity;
  title: string;
  description: string;
  rationale: string;
  identifiers: string[];
}

export interface BenchmarkHead {
  readonly open: readonly string[];
  readonly definitions: ReadonlyMap<string, Definition>;
}

interface Verdict {
  rule: string;
  severity: RuleSeverity | null;
  identifiers: string[];
  result: RuleResult | 'notselected' | null;
}

type Finding = Verdict & { result: RuleResult };

type Attributes = Readonly<Record<string, string>>;

class Capture {
  readonly depth: number;
  readonly #store: (text: string) => void;
  readonly #pieces: string[] = [];
  #room = MAX_CAPTURED_CHARS * 4;

  constructor(depth: number, store: (text: string) => void) {
    this.depth = depth;
    this.#store = store;
  }

  add(text: string): void {
    if (this.#room <= 0) return;
    this.#pieces.push(text.slice(0, this.#room));
    this.#room -= text.length;
  }

  end(): void {
    const line = this.#pieces.join('').replaceAll(/\s+/g, ' ').trim();
    this.#store(line.slice(0, MAX_CAPTURED_CHARS).toWellFormed());
  }
}

/** Collects rules and results from parser events. */
export class ReportContent {
  readonly #definitions: Map<string, Definition>;
  readonly #open: string[];
  #verdicts: Verdict[] = [];
  #isOfBenchmark: boolean;
  #inTest = 0;
  #inItem = 0;
  #definition: Definition | null = null;
  #verdict: Verdict | null = null;
  #capture: Capture | null = null;

  constructor(head?: BenchmarkHead) {
    this.#open = [...(head?.open ?? [])];
    this.#definitions = new Map(head?.definitions);
    this.#isOfBenchmark = head !== undefined;
  }

  get #depth(): number {
    return this.#open.length;
  }

  get isInTestResult(): boolean {
    return this.#inTest > 0;
  }

  /** What was parsed so far; null inside a rule or test result. */
  head(): BenchmarkHead | null {
    if (this.#inItem > 0 || this.#inTest > 0) return null;
    return { open: [...this.#open], definitions: new Map(this.#definitions) };
  }

  /** The rules so far are those of the benchmark; a later definition makes `selection` null. */
  endBenchmark(): void {
    this.#isOfBenchmark = true;
  }

  /** An element starts. @throws {InvalidReport} when it is nested too deep */
  open(written: string, attributes: Attributes): void {
    const name = local(written);
    this.#open.push(written);
    if (this.#depth > MAX_DEPTH) throw new InvalidReport(`the report is nested more than ${MAX_DEPTH} deep`);
    if (this.#capture) this.#capture.add(' ');
    else if (this.#inItem > 0) this.#openPart(name, attributes);
    else if (this.#inTest > 0) this.#openResult(name, attributes);
    else if (name === 'TestResult') {
      this.#inTest = this.#depth;
      this.#verdicts = [];
    } else if (name === 'Rule') this.#openRule(attributes);
  }

  /** The innermost open element ends. */
  close(): void {
    const depth = this.#depth;
    this.#open.pop();
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

  /** @throws {InvalidReport} without results, with one of an unknown kind, or when the texts are too long */
  rules(): AuditedRule[] {
    const rules = this.#findings().map((finding) => this.#toRule(finding));
    if (textLength(rules) > MAX_TEXT_CHARS)
      throw new InvalidReport('the report has more than 16 MiB of texts of rules');
    return rules;
  }

  /** In the order of {@link rules}. @throws {InvalidReport} as there */
  results(): RuleResult[] {
    return this.#findings().map(({ result }) => result);
  }

  /** Identifies the selected rules among those of the benchmark; null unless it defines all of them. */
  selection(): string | null {
    const findings = this.#findings();
    if (!this.#isOfBenchmark || !findings.every(({ rule }) => this.#definitions.has(rule))) return null;
    return findings.map(({ rule, severity }) => `${severity ?? ''} ${rule}`).join('\n');
  }

  #findings(): Finding[] {
    const findings = this.#verdicts.filter(({ result }) => result !== 'notselected');
    if (findings.length === 0) throw new InvalidReport('the report has no result of any rule');
    if (findings.some(({ result }) => result === null)) {
      throw new InvalidReport('the report has a rule without a known result');
    }
    return findings as Finding[];
  }

  #toRule(verdict: Finding): AuditedRule {
    const known = this.#definitions.get(verdict.rule);
    return {
      rule: verdict.rule,
      severity: verdict.severity ?? known?.severity ?? 'unknown',
      title: known?.title ?? '',
      identifiers: known ? known.identifiers : verdict.identifiers,
      description: known?.description ?? '',
      rationale: known?.rationale ?? '',
      result: verdict.result,
    };
  }

  #openRule(attributes: Attributes): void {
    if (this.#definitions.size >= MAX_RULES) throw new InvalidReport(`the report has more than ${MAX_RULES} rules`);
    const severity = readSeverity(attributes['severity']) ?? 'unknown';
    this.#isOfBenchmark = false;
    this.#definition = { severity, title: '', description: '', rationale: '', identifiers: [] };
    this.#definitions.set(readId(attributes['id']), this.#definition);
    this.#inItem = this.#depth;
  }

  #openResult(name: string, attributes: Attributes): void {
    if (name !== 'rule-result') return;
    if (this.#verdicts.length >= MAX_RULES) throw new InvalidReport(`the report has more than ${MAX_RULES} rules`);
    const severity = readSeverity(attributes['severity']);
    this.#verdict = { rule: readId(attributes['idref']), severity, identifiers: [], result: null };
    this.#inItem = this.#depth;
  }

  /** A direct child of a rule or result; deeper elements belong to checks and fixes. */
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

/** Removes the prefix, which differs between tools and versions of the format. */
function local(name: string): string {
  return name.slice(name.indexOf(':') + 1);
}

function setResult(verdict: Verdict, text: string): void {
  if (text === 'notselected' || Object.hasOwn(RULE_RESULTS, text)) verdict.result = text as RuleResult;
}

function addIdentifier(identifiers: string[], text: string): void {
  const short = text.slice(0, MAX_ID_CHARS).toWellFormed();
  if (short !== '' && identifiers.length < MAX_IDENTIFIERS && !identifiers.includes(short)) identifiers.push(short);
}

function readId(value: string | undefined): string {
  if (!value) throw new InvalidReport('the report has a rule without an id');
  if (value.length > MAX_ID_CHARS)
    throw new InvalidReport(`the report has a rule id of more than ${MAX_ID_CHARS} characters`);
  return value;
}

function readSeverity(value: string | undefined): RuleSeverity | null {
  return RULE_SEVERITIES.find((severity) => severity === value) ?? null;
}
