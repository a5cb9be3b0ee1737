import { MAX_INT4 } from '../../domain/common/integers.ts';
import type { BObject } from '../../protocol/bpickle.ts';
import type { Facts } from './facts.ts';
import { called, type Notes } from './faults.ts';
import { isLonger, MalformedMessage, toBoolean, toInt, toTextOrNull } from './fields.ts';
import { restartPackages } from './packages.ts';
import { forgetProcesses } from './processes.ts';
import { readItems, shownInt, shownText } from './shown.ts';
import { forgetUsers } from './users.ts';

const SUCCEEDED = 6;
const FAILED = 5;
const PACKAGES_SUCCEEDED = 1;
const CODES = [-MAX_INT4, MAX_INT4] as const;
const MAX_RESULT_TEXT = 200_000;
const MAX_REPORT_BYTES = 32 * 1024 * 1024;
const MAX_KEY_LENGTH = 1024;

/** Reads `operation-result`. */
export function readOperationResult(message: BObject, facts: Facts, notes: Notes): void {
  const operationId = readOperationId(message);
  const status = message['status'];
  if (status !== SUCCEEDED && status !== FAILED) throw new MalformedMessage('status must be 5 or 6');
  const text = readResultText(message, notes);
  const code = shownInt(message['result-code'], CODES, { what: 'result-code', notes });
  facts.results.push({ operationId, ok: status === SUCCEEDED, code, text });
}

/** Reads `change-packages-result`, which has a code of its own and no status. */
export function readPackagesResult(message: BObject, facts: Facts, notes: Notes): void {
  const operationId = readOperationId(message);
  const given = message['result-code'];
  if (given === undefined || given === null) throw new MalformedMessage('a result-code is missing');
  // Whatever another code is, it is none of success.
  const code = shownInt(given, CODES, { what: 'result-code', notes });
  const mustInstall = readIds(message, 'must-install', notes);
  const mustRemove = readIds(message, 'must-remove', notes);
  const text = readResultText(message, notes);
  facts.results.push({ operationId, ok: code === PACKAGES_SUCCEEDED, code, text });
  if (mustInstall.length + mustRemove.length > 0) facts.packageResults.push({ operationId, mustInstall, mustRemove });
}

/** Reads the answer to `fde-recovery-key`. The key itself goes nowhere but into the encrypted table. */
export function readRecoveryKey(message: BObject, facts: Facts, notes: Notes): void {
  const operationId = readOperationId(message);
  const successful = toBoolean(message['successful'], 'successful');
  const given = toTextOrNull(message['recovery-key'], 'recovery-key', Number.POSITIVE_INFINITY);
  const key = given !== null && isLonger(given, MAX_KEY_LENGTH) ? null : given;
  if (key !== given) notes.skipped(`recovery-key is longer than ${MAX_KEY_LENGTH} characters`);
  const text = readResultText(message, notes);
  if (!successful || !key) {
    const excuse = successful ? 'The computer reported success without a key that can be kept.' : text;
    facts.results.push({ operationId, ok: false, code: null, text: withoutKey(excuse, given) });
    return;
  }
  facts.recoveryKeys.push({ operationId, key, place: facts.results.length });
  facts.results.push({ operationId, ok: true, code: null, text: withoutKey(text, key) });
}

/** Reads `usg-audit`: the report that follows a successful audit's result. */
export function readAuditReport(message: BObject, facts: Facts, notes: Notes): void {
  const report = message['report'];
  const bytes = typeof report === 'string' ? Buffer.from(report) : report;
  if (!(bytes instanceof Uint8Array) || bytes.length > MAX_REPORT_BYTES) {
    throw new MalformedMessage('report must be a byte string');
  }
  const operationId = readOperationId(message);
  const runId = shownText(message['run-id'], 256, { what: 'run-id', notes }) ?? '';
  facts.auditReports.push({ operationId, runId, report: bytes });
}

/**
 * Reads `resynchronize`: with an id the answer to a request, without one the agent's own decision to start over.
 *
 * @remarks What is reported by changes is void, as it is reported afresh; snaps and processors are not and stay.
 */
export function readResynchronize(message: BObject, facts: Facts): void {
  if (message['operation-id'] !== undefined && message['operation-id'] !== null) {
    const operationId = readOperationId(message);
    const own = facts.openResyncs.filter(({ id }) => id === operationId);
    if (own.length === 0) facts.results.push({ operationId, ok: true, code: null, text: null });
    else startOver(facts, new Set(own.flatMap(({ scopes }) => scopes)));
    return;
  }
  startOver(facts, new Set(['process', 'users', 'package']));
}

function startOver(facts: Facts, scopes: ReadonlySet<string>): void {
  if (scopes.has('process')) forgetProcesses(facts);
  if (scopes.has('users')) forgetUsers(facts);
  if (scopes.has('package')) restartPackages(facts);
}

function readOperationId(message: BObject): number {
  return toInt(message['operation-id'], 'operation-id', 0, Number.MAX_SAFE_INTEGER);
}

function readResultText(message: BObject, notes: Notes): string | null {
  return shownText(message['result-text'], MAX_RESULT_TEXT, { what: 'result-text', notes });
}

function readIds(message: BObject, key: string, notes: Notes): number[] {
  return readItems(
    message[key],
    100_000,
    { what: key, notes },
    {
      name: (id) => called('package', id),
      read: (id) => toInt(id, key, 0, MAX_INT4),
    },
  );
}

/** The key itself, and whatever else looks like one: an older key may be in the text too. */
function withoutKey(text: string | null, key: string | null): string | null {
  if (!text) return text;
  return (key ? text.replaceAll(key, HIDDEN_KEY) : text).replaceAll(KEY_SHAPE, HIDDEN_KEY);
}

const HIDDEN_KEY = '[recovery key]';
const KEY_SHAPE = /\b\d{5}(?:[-\s]?\d{5}){7}\b/g;
