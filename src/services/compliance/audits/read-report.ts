import { isUtf8 } from 'node:buffer';
import { StringDecoder } from 'node:string_decoder';
import { SaxesParser } from 'saxes';
import type { AuditReading } from '../../../domain/compliance/audit-report.ts';
import { BenchmarkCache, benchmarkDigest } from './benchmark-cache.ts';
import { type BenchmarkHead, InvalidReport, ReportContent } from './report-content.ts';

const MAX_BYTES = 32 * 1024 * 1024;
const CHUNK = 64 * 1024;
/** The end of the benchmark. */
const TEST_RESULT = /<(?:[A-Za-z_][\w.-]{0,50}:)?TestResult[\s>]/;
/** Declares entities or includes other documents; checked before the XML is parsed. */
const DECLARATION = /<!\s{0,100}(?:DOCTYPE|ENTITY|ELEMENT|ATTLIST|NOTATION)/i;

/**
 * Parses an audit's result file: results of selected rules in its last test result, with texts from its benchmark.
 * @param bytes - XCCDF results in UTF-8, alone or inside another document
 * @param known - previously parsed benchmarks, which are skipped in the report
 * @returns a reason instead of rules when the report is larger than 32 MiB, not well-formed, nested more than 100 deep,
 * has a document type, entities, more than 10,000 rules or 16 MiB of their texts, or no result of any rule
 * @remarks Streaming and linear in the size; nothing is fetched or expanded. Never throws.
 * @see docs/agent-protocol.md#compliance-audits
 */
export function readAuditReport(bytes: Uint8Array, known = new BenchmarkCache()): AuditReading {
  return catchInvalid(() => ({ rules: readContent(bytes, known).content.rules() }));
}

/** Returns the reason for an {@link InvalidReport} instead of throwing it. */
export function catchInvalid<T>(read: () => T): T | { reason: string } {
  try {
    return read();
  } catch (error) {
    if (error instanceof InvalidReport) return { reason: error.message };
    return { reason: `the report cannot be read: ${error instanceof Error ? error.message : 'unknown error'}` };
  }
}

/** As {@link readAuditReport}, with the digest of the benchmark. @throws {InvalidReport} */
export function readContent(bytes: Uint8Array, known: BenchmarkCache): { content: ReportContent; benchmark: string } {
  const report = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
  if (report.length > MAX_BYTES) throw new InvalidReport('the report is larger than 32 MiB');
  const text = report.toString('latin1');
  if (DECLARATION.test(text)) throw new InvalidReport('the report has a document type or entities');
  if (!isUtf8(report)) throw new InvalidReport('the report is not encoded as UTF-8');
  const start = text.search(TEST_RESULT);
  const head = report.subarray(0, Math.max(start, 0));
  const benchmark = benchmarkDigest(head);
  const before = head.length > 0 ? known.find(benchmark) : null;
  const content = new ReportContent(before ?? undefined);
  const parser = createParser();
  if (before) reopen(parser, before);
  attach(parser, content);
  if (!before) feed(parser, head);
  const fresh = before || head.length === 0 ? null : content.head();
  const end = text.indexOf('>', head.length) + 1;
  feed(parser, report.subarray(head.length, end));
  // A match in a comment, a quotation or an unfinished tag does not end the benchmark.
  if (fresh && content.isInTestResult) {
    known.add(benchmark, fresh);
    content.endBenchmark();
  }
  feed(parser, report.subarray(end));
  parser.close();
  return { content, benchmark };
}

type Parser = SaxesParser<{ xmlns: false; position: false }>;

/** Opens the elements of a known head in the parser, so that the rest of the document must close them. */
function reopen(parser: Parser, { open }: BenchmarkHead): void {
  parser.on('error', rejectMalformed);
  parser.write(open.map((name) => `<${name}>`).join(''));
}

function feed(parser: Parser, bytes: Buffer): void {
  const decoder = new StringDecoder('utf8');
  for (let at = 0; at < bytes.length; at += CHUNK) parser.write(decoder.write(bytes.subarray(at, at + CHUNK)));
}

function createParser(): Parser {
  return new SaxesParser<{ xmlns: false; position: false }>({ xmlns: false, position: false });
}

function rejectMalformed({ message }: Error): never {
  throw new InvalidReport(`the report is not well-formed XML: ${message.slice(0, 200)}`);
}

function attach(parser: Parser, content: ReportContent): void {
  parser.on('error', rejectMalformed);
  parser.on('doctype', () => {
    throw new InvalidReport('the report has a document type or entities');
  });
  parser.on('xmldecl', ({ encoding }) => {
    if (encoding && !/^(?:utf-8|us-ascii)$/i.test(encoding))
      throw new InvalidReport('the report is not encoded as UTF-8');
  });
  parser.on('opentag', ({ name, attributes }) => content.open(name, attributes));
  parser.on('closetag', () => content.close());
  parser.on('text', (text) => content.text(text));
  parser.on('cdata', (text) => content.text(text));
}
