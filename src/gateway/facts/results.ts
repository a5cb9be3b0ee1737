import { MAX_INT4 } from '../../domain/common/integers.ts';
import type { BObject } from '../../protocol/bpickle.ts';
import type { Facts } from './facts.ts';
import { describeItem, type MessageFaults } from './faults.ts';
import { isLonger, MalformedMessage, toBoolean, toInt, toTextOrNull } from './fields.ts';
import { lenientInt, lenientText, readItems } from './lenient-fields.ts';
import { restartPackages } from './packages.ts';
import { resetProcesses } from './processes.ts';
import { resetUsers } from './users.ts';

const SUCCEEDED = 6;
const FAILED = 5;
const PACKAGES_SUCCEEDED = 1;
const CODES = [-MAX_INT4, MAX_INT4] as const;
const MAX_RESULT_TEXT = 200_000;
const MAX_REPORT_BYTES = 32 * 1024 * 1024;
const MAX_KEY_LENGTH = 1024;

/** @throws {MalformedMessage} for an invalid id or status; an invalid result code is null */
export function readOperationResult(message: BObject, facts: Facts, faults: MessageFaults): void {
  const operationId = readOperationId(message);
  const status = message['status'];
  if (status !== SUCCEEDED && status !== FAILED) throw new MalformedMessage('status must be 5 or 6');
  const text = readResultText(message, faults);
  const code = lenientInt(message['result-code'], CODES, { what: 'result-code', faults });
  facts.results.push({ operationId, ok: status === SUCCEEDED, code, text });
}

/** Reads `change-packages-result`, which has its own code and no status. */
export function readPackagesResult(message: BObject, facts: Facts, faults: MessageFaults): void {
  const operationId = readOperationId(message);
  const given = message['result-code'];
  if (given === undefined || given === null) throw new MalformedMessage('a result-code is missing');
  const code = lenientInt(given, CODES, { what: 'result-code', faults });
  const mustInstall = readIds(message, 'must-install', faults);
  const mustRemove = readIds(message, 'must-remove', faults);
  const text = readResultText(message, faults);
  facts.results.push({ operationId, ok: code === PACKAGES_SUCCEEDED, code, text });
  if (mustInstall.length + mustRemove.length > 0) facts.packageResults.push({ operationId, mustInstall, mustRemove });
}

/** Reads `fde-recovery-key`. The key is only stored encrypted. */
export function readRecoveryKey(message: BObject, facts: Facts, faults: MessageFaults): void {
  const operationId = readOperationId(message);
  const successful = toBoolean(message['successful'], 'successful');
  const given = toTextOrNull(message['recovery-key'], 'recovery-key', Number.POSITIVE_INFINITY);
  const key = given !== null && isLonger(given, MAX_KEY_LENGTH) ? null : given;
  if (key !== given) faults.skipped(`recovery-key is longer than ${MAX_KEY_LENGTH} characters`);
  const text = readResultText(message, faults);
  if (!successful || !key) {
    const explanation = successful ? 'The computer reported success without a key that can be kept.' : text;
    facts.results.push({ operationId, ok: false, code: null, text: redactKeys(explanation, given) });
    return;
  }
  facts.recoveryKeys.push({ operationId, key, resultIndex: facts.results.length });
  facts.results.push({ operationId, ok: true, code: null, text: redactKeys(text, key) });
}

/** Reads `usg-audit`, the report of a successful audit. */
export function readAuditReport(message: BObject, facts: Facts, faults: MessageFaults): void {
  const report = message['report'];
  const bytes = typeof report === 'string' ? Buffer.from(report) : report;
  if (!(bytes instanceof Uint8Array) || bytes.length > MAX_REPORT_BYTES) {
    throw new MalformedMessage('report must be a byte string');
  }
  const operationId = readOperationId(message);
  const runId = lenientText(message['run-id'], 256, { what: 'run-id', faults }) ?? '';
  facts.auditReports.push({ operationId, runId, report: bytes });
}

/** With an id a response, else the agent starts over. Drops deltas, which it reports again; snaps stay. */
export function readResynchronize(message: BObject, facts: Facts): void {
  if (message['operation-id'] !== undefined && message['operation-id'] !== null) {
    const operationId = readOperationId(message);
    const requests = facts.openResyncs.filter(({ id }) => id === operationId);
    if (requests.length === 0) facts.results.push({ operationId, ok: true, code: null, text: null });
    else resetScopes(facts, new Set(requests.flatMap(({ scopes }) => scopes)));
    return;
  }
  resetScopes(facts, new Set(['process', 'users', 'package']));
}

function resetScopes(facts: Facts, scopes: ReadonlySet<string>): void {
  if (scopes.has('process')) resetProcesses(facts);
  if (scopes.has('users')) resetUsers(facts);
  if (scopes.has('package')) restartPackages(facts);
}

function readOperationId(message: BObject): number {
  return toInt(message['operation-id'], 'operation-id', 0, Number.MAX_SAFE_INTEGER);
}

function readResultText(message: BObject, faults: MessageFaults): string | null {
  return lenientText(message['result-text'], MAX_RESULT_TEXT, { what: 'result-text', faults });
}

function readIds(message: BObject, key: string, faults: MessageFaults): number[] {
  return readItems(message[key], key, 100_000, faults, {
    name: (id) => describeItem('package', id),
    read: (id) => toInt(id, key, 0, MAX_INT4),
  });
}

/** Also redacts everything that looks like a key: the text may contain an older one. */
function redactKeys(text: string | null, key: string | null): string | null {
  if (!text) return text;
  return (key ? text.replaceAll(key, HIDDEN_KEY) : text).replaceAll(KEY_SHAPE, HIDDEN_KEY);
}

const HIDDEN_KEY = '[recovery key]';
const KEY_SHAPE = /\b\d{5}(?:[-\s]?\d{5}){7}\b/g;
