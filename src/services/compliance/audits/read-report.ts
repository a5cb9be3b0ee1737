import { isUtf8 } from 'node:buffer';
import { createHash } from 'node:crypto';
import { StringDecoder } from 'node:string_decoder';
import { LRUCache } from 'lru-cache';
import { SaxesParser } from 'saxes';
import { type AuditReading, textLength } from '../../../domain/compliance/audit-report.ts';
import { type BenchmarkHead, InvalidReport, ReportContent } from './report-content.ts';

const MAX_BYTES = 32 * 1024 * 1024;
const CHUNK = 64 * 1024;
const MAX_BENCHMARKS = 8;
const MAX_CACHED_CHARS = 8 * 1024 * 1024;
const TEST_RESULT = /<(?:[A-Za-z_][\w.-]{0,50}:)?TestResult[\s>]/;
/** Declares entities or includes other documents; checked before the XML is parsed. */
const DECLARATION = /<!\s{0,100}(?:DOCTYPE|ENTITY|ELEMENT|ATTLIST|NOTATION)/i;

type BenchmarkCache = LRUCache<string, BenchmarkHead>;

/** Parsed benchmarks by digest. Most of a report is its benchmark, the same for all computers of a release. */
export const createBenchmarkCache = (): BenchmarkCache =>
  new LRUCache({
    max: MAX_BENCHMARKS,
    maxEntrySize: MAX_CACHED_CHARS,
    sizeCalculation: ({ definitions }) => textLength(definitions.values()) + 1,
  });

/** SHA-256 in base64. */
export function digestOf(bytes: Uint8Array | string): string {
  return createHash('sha256').update(bytes).digest('base64');
}

/** Linear in the size; never throws. Fetches and expands nothing. @see docs/agent-protocol.md#compliance-audits */
export function readAuditReport(bytes: Uint8Array, known = createBenchmarkCache()): AuditReading {
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
  const benchmark = digestOf(head);
  const before = head.length > 0 ? known.get(benchmark) : undefined;
  const content = new ReportContent(before);
  const parser: Parser = new SaxesParser({ xmlns: false, position: false });
  if (before) reopen(parser, before);
  attach(parser, content);
  if (!before) feed(parser, head);
  const fresh = before || head.length === 0 ? null : content.head();
  const end = text.indexOf('>', head.length) + 1;
  feed(parser, report.subarray(head.length, end));
  // A match in a comment, a quotation or an unfinished tag does not end the benchmark.
  if (fresh && content.isInTestResult) {
    known.set(benchmark, fresh);
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
