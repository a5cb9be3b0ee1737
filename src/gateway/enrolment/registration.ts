import { createHash } from 'node:crypto';
import type { Json } from '../../domain/agents/facts.ts';
import type { RegisteredInfo } from '../../persistence/computers/computer.entity.ts';
import type { BObject } from '../../protocol/bpickle.ts';
import { readTagList } from '../facts/computer.ts';
import { type Fault, MessageFaults } from '../facts/faults.ts';
import { MalformedMessage, toText, toTextOrNull } from '../facts/fields.ts';
import { isJsonObject, parseJson } from '../facts/json.ts';
import { lenientText, readOrSkip } from '../facts/lenient-fields.ts';

const MAX_NAME = 255;
const MAX_PRO_INFO = 1024 * 1024;

export interface Registration {
  accountName: string;
  password: string | null;
  title: string;
  hostname: string;
  tags: string[];
  accessGroup: string | null;
  info: RegisteredInfo;
  machineId: string | null;
  proInfo: Json;
  cloneSecureId: string | null;
  hostagentUid: string | null;
  /** Seconds, by the agent's clock; null from the setup tool. */
  madeAt: number | null;
  faults: readonly Fault[];
}

/** Truncates display text, omits invalid optional fields. @throws {MalformedMessage} for an invalid required field */
export function readRegistration(message: BObject): Registration {
  const faults = new MessageFaults('register');
  // Names must not be truncated: part of a name is another name.
  const optional = (key: string, max = MAX_NAME) => readOrSkip(() => toTextOrNull(message[key], key, max), faults);
  const shown = (key: string) => lenientText(message[key], MAX_NAME, { what: key, faults }) ?? '';
  const given = oneLine(toText(message['computer_title'], 'computer_title', Number.POSITIVE_INFINITY));
  const hostname = shown('hostname');
  return {
    accountName: toText(message['account_name'], 'account_name', MAX_NAME),
    password: toTextOrNull(message['registration_password'], 'registration_password', 1024),
    title: lenientText(given, MAX_NAME, { what: 'computer_title', faults }) || oneLine(hostname),
    hostname,
    tags: readTagList(optional('tags', 100_000), faults),
    accessGroup: optional('access_group'),
    info: {
      vm_info: shown('vm-info') || shown('vm_info'),
      container_info: shown('container-info') || shown('container_info'),
    },
    machineId: optional('machine_id') || null,
    proInfo: readProInfo(optional('ubuntu_pro_info', MAX_PRO_INFO), faults),
    cloneSecureId: optional('clone_secure_id') || null,
    hostagentUid: optional('hostagent_uid') || null,
    madeAt: Number.isSafeInteger(message['timestamp']) ? (message['timestamp'] as number) : null,
    faults: faults.all,
  };
}

function oneLine(text: string): string {
  return text.replace(/[\p{Cc}\p{Zl}\p{Zp}]+/gu, ' ').trim();
}

function readProInfo(text: string | null, faults: MessageFaults): Json {
  if (!text) return null;
  const info = tryJson(text);
  if (!isJsonObject(info)) faults.skipped('ubuntu_pro_info must be a JSON object');
  return isJsonObject(info) && Object.keys(info).length > 0 ? info : null;
}

function tryJson(text: string): Json | undefined {
  try {
    return parseJson(text);
  } catch (error) {
    if (error instanceof MalformedMessage) return undefined;
    throw error;
  }
}

/** WSL instances have the host agent uid of their Windows host. */
export function isWsl(registration: Registration): boolean {
  return registration.info.container_info === 'wsl';
}

/** Equal for repetitions and indistinguishable machines. @param ownMark - unique to this machine, if known */
export function registrationDigest(accountId: number, registration: Registration, ownMark: Buffer | null): Buffer {
  const { title, hostname, machineId, info, hostagentUid } = registration;
  const digest = createHash('sha256').update(
    JSON.stringify([accountId, title, hostname, machineId, info.container_info, hostagentUid]),
  );
  return (ownMark === null ? digest : digest.update(ownMark)).digest();
}
