import { createHash } from 'node:crypto';
import type { BObject } from '../../protocol/bpickle.ts';
import { readTagList } from '../facts/computer.ts';
import { type Fault, Notes } from '../facts/faults.ts';
import { MalformedMessage, toText, toTextOrNull } from '../facts/fields.ts';
import { isJsonObject, type Json, parseJson } from '../facts/json.ts';
import { orSkipped, shownText } from '../facts/shown.ts';

const MAX_NAME = 255;
const MAX_PRO_INFO = 1024 * 1024;

/** What a computer says of itself when it enrols. @see docs/agent-protocol.md#registration-and-identity */
export interface Registration {
  accountName: string;
  password: string | null;
  title: string;
  hostname: string;
  tags: string[];
  accessGroup: string | null;
  vmInfo: string;
  containerInfo: string;
  machineId: string | null;
  proInfo: Json;
  /** The identity this one was copied from, as the agent was told. */
  cloneSecureId: string | null;
  /** Links a WSL instance with the Windows host it runs on. */
  hostagentUid: string | null;
  /** Seconds, by the agent's clock, when the message was made; null from the setup tool. */
  madeAt: number | null;
  /** What was cut or left out. */
  faults: readonly Fault[];
}

/**
 * Reads a `register` message. Of the fields that do not decide over the enrolment, text that is only shown is cut, and
 * what cannot be used is left out.
 *
 * @throws {MalformedMessage} when a field that decides over the enrolment is missing or of a wrong type
 */
export function readRegistration(message: BObject): Registration {
  const notes = new Notes('register');
  // Part of a name would be another name.
  const optional = (key: string, max = MAX_NAME) => orSkipped(() => toTextOrNull(message[key], key, max), notes);
  const shown = (key: string) => shownText(message[key], MAX_NAME, { what: key, notes }) ?? '';
  const given = oneLine(toText(message['computer_title'], 'computer_title', Number.POSITIVE_INFINITY));
  const hostname = shown('hostname');
  return {
    accountName: toText(message['account_name'], 'account_name', MAX_NAME),
    password: toTextOrNull(message['registration_password'], 'registration_password', 1024),
    title: shownText(given, MAX_NAME, { what: 'computer_title', notes }) || oneLine(hostname),
    hostname,
    tags: readTagList(optional('tags', 100_000), notes),
    accessGroup: optional('access_group'),
    vmInfo: shown('vm-info') || shown('vm_info'),
    containerInfo: shown('container-info') || shown('container_info'),
    machineId: optional('machine_id') || null,
    proInfo: readProInfo(optional('ubuntu_pro_info', MAX_PRO_INFO), notes),
    cloneSecureId: optional('clone_secure_id') || null,
    hostagentUid: optional('hostagent_uid') || null,
    madeAt: Number.isSafeInteger(message['timestamp']) ? (message['timestamp'] as number) : null,
    faults: notes.faults,
  };
}

/** Titles are one line, as those that people give. */
function oneLine(text: string): string {
  return text.replace(/[\p{Cc}\p{Zl}\p{Zp}]+/gu, ' ').trim();
}

function readProInfo(text: string | null, notes: Notes): Json {
  if (!text) return null;
  const info = tryJson(text);
  if (!isJsonObject(info)) notes.skipped('ubuntu_pro_info must be a JSON object');
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

/** Tells whether the registration is that of a WSL instance; its host has the same uid and is none itself. */
export function isWsl(registration: Registration): boolean {
  return registration.containerInfo === 'wsl';
}

/**
 * Equal for registrations that can only be told apart by what happens next: repeats, or twins.
 *
 * @param ownMark - what no other machine has; null when there is nothing
 */
export function registrationDigest(accountId: number, registration: Registration, ownMark: Buffer | null): Buffer {
  const { title, hostname, machineId, containerInfo, hostagentUid } = registration;
  const digest = createHash('sha256').update(
    JSON.stringify([accountId, title, hostname, machineId, containerInfo, hostagentUid]),
  );
  return (ownMark === null ? digest : digest.update(ownMark)).digest();
}
