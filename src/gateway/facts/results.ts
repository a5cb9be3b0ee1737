import { MAX_INT4 } from '../../domain/integers.ts';
import type { BObject } from '../../protocol/bpickle.ts';
import type { Facts } from './facts.ts';
import { MalformedMessage, toBoolean, toInt, toList, toText, toTextOrNull } from './fields.ts';
import { restartPackages } from './packages.ts';
import { forgetProcesses } from './processes.ts';
import { forgetUsers } from './users.ts';

const SUCCEEDED = 6;
const FAILED = 5;
const PACKAGES_SUCCEEDED = 1;
const MAX_RESULT_TEXT = 200_000;
const MAX_REPORT_BYTES = 32 * 1024 * 1024;
const MAX_KEY_LENGTH = 1024;

/** Reads `operation-result`. */
export function readOperationResult(message: BObject, facts: Facts): void {
  const operationId = readOperationId(message);
  const status = message['status'];
  if (status !== SUCCEEDED && status !== FAILED) throw new MalformedMessage('status must be 5 or 6');
  const text = readResultText(message);
  facts.results.push({ operationId, ok: status === SUCCEEDED, code: readCode(message), text });
}

/** Reads `change-packages-result`, which has a code of its own and no status. */
export function readPackagesResult(message: BObject, facts: Facts): void {
  const operationId = readOperationId(message);
  const code = toInt(message['result-code'], 'result-code', -MAX_INT4, MAX_INT4);
  const mustInstall = readIds(message, 'must-install');
  const mustRemove = readIds(message, 'must-remove');
  const text = readResultText(message);
  facts.results.push({ operationId, ok: code === PACKAGES_SUCCEEDED, code, text });
  if (mustInstall.length + mustRemove.length > 0) facts.packageResults.push({ operationId, mustInstall, mustRemove });
}

/** Reads the answer to `fde-recovery-key`. The key itself goes nowhere but into the encrypted table. */
export function readRecoveryKey(message: BObject, facts: Facts): void {
  const operationId = readOperationId(message);
  const successful = toBoolean(message['successful'], 'successful');
  const key = toTextOrNull(message['recovery-key'], 'recovery-key', MAX_KEY_LENGTH);
  const text = readResultText(message);
  if (!successful || !key) {
    const excuse = successful ? 'The computer reported success without a key.' : text;
    facts.results.push({ operationId, ok: false, code: null, text: withoutKey(excuse, key) });
    return;
  }
  facts.recoveryKeys.push({ operationId, key, place: facts.results.length });
  facts.results.push({ operationId, ok: true, code: null, text: withoutKey(text, key) });
}

/** Reads `usg-audit`: the report that follows a successful audit's result. */
export function readAuditReport(message: BObject, facts: Facts): void {
  const report = message['report'];
  const bytes = typeof report === 'string' ? Buffer.from(report) : report;
  if (!(bytes instanceof Uint8Array) || bytes.length > MAX_REPORT_BYTES) {
    throw new MalformedMessage('report must be a byte string');
  }
  const runId = toTextOrNull(message['run-id'], 'run-id', 256) ?? '';
  facts.auditReports.push({ operationId: readOperationId(message), runId, report: bytes });
}

/**
 * Reads `resynchronize`: with an id the answer to a request, without one the agent's own decision to start over.
 *
 * @remarks Snaps and processors are not reported again and stay. @see agent-protocol 8
 */
export function readResynchronize(message: BObject, facts: Facts): void {
  if (message['operation-id'] !== undefined && message['operation-id'] !== null) {
    const operationId = readOperationId(message);
    if (operationId === facts.openResync) restartPackages(facts);
    else facts.results.push({ operationId, ok: true, code: null, text: null });
    return;
  }
  forgetProcesses(facts);
  forgetUsers(facts);
  restartPackages(facts);
}

function readOperationId(message: BObject): number {
  return toInt(message['operation-id'], 'operation-id', 0, Number.MAX_SAFE_INTEGER);
}

function readResultText(message: BObject): string | null {
  const value = message['result-text'];
  if (value === undefined || value === null) return null;
  const text = toText(value, 'result-text', Number.MAX_SAFE_INTEGER);
  return text.length > MAX_RESULT_TEXT ? text.slice(0, MAX_RESULT_TEXT).toWellFormed() : text;
}

function readCode(message: BObject): number | null {
  const code = message['result-code'];
  return typeof code === 'number' && Math.abs(code) <= MAX_INT4 ? code : null;
}

function readIds(message: BObject, key: string): number[] {
  return toList(message[key], key, 100_000).map((id) => toInt(id, key, 0, MAX_INT4));
}

/** The key itself, and whatever else looks like one: an older key may be in the text too. */
function withoutKey(text: string | null, key: string | null): string | null {
  if (!text) return text;
  return (key ? text.replaceAll(key, HIDDEN_KEY) : text).replaceAll(KEY_SHAPE, HIDDEN_KEY);
}

const HIDDEN_KEY = '[recovery key]';
const KEY_SHAPE = /\b\d{5}(?:[-\s]?\d{5}){7}\b/g;
