import type { Json } from '../../domain/agents/facts.ts';
import { MAX_INT4 } from '../../domain/common/integers.ts';
import type { ComputerReport } from '../../persistence/computers/computer.entity.ts';
import { type BObject, isDict } from '../../protocol/bpickle.ts';
import { MAX_TAGS } from '../../services/common/tag-fields.ts';
import type { Facts } from './facts.ts';
import { describeItem, type MessageFaults } from './faults.ts';
import { MalformedMessage, toNumberOrNull, toText } from './fields.ts';
import { isJsonObject, toJson } from './json.ts';
import { lenientBoolean, lenientInt, lenientText, readItems, readOrSkip, shorten } from './lenient-fields.ts';

const MAX_NAME = 1024;
const MAX_MACHINE_ID = 256;
const MAX_ANNOTATIONS = 10_000;
const MAX_ANNOTATION = 100_000;
const MAX_REPORT_ERROR = 100_000;
const MAX_PREFERENCES = 10_000;
const MAX_PREFERENCE = 1_000_000;
const CODES = [Number.MIN_SAFE_INTEGER, Number.MAX_SAFE_INTEGER] as const;
const MAX_TAG_LIST = 100_000;

/** Reads `computer-info`, which contains only changes. */
export function readComputerInfo(message: BObject, facts: Facts, faults: MessageFaults): void {
  const columns: ComputerReport = {};
  const hostname = lenientText(message['hostname'] ?? undefined, MAX_NAME, { what: 'the host name', faults });
  if (message['hostname'] === null) columns.hostname = '';
  else if (hostname !== null) columns.hostname = hostname;
  for (const [key, column] of [
    ['total-memory', 'total_memory'],
    ['total-swap', 'total_swap'],
  ] as const) {
    const size = lenientInt(message[key], [0, MAX_INT4], { what: key, faults });
    if (size !== null || message[key] === null) columns[column] = size;
  }
  const machineId = readMachineId(message, faults);
  if (machineId !== undefined) columns.machine_id = machineId;
  const annotations = readAnnotations(message, faults);
  faults.requireUsable(Object.keys(columns).length > 0 || annotations !== null);
  Object.assign(facts.computer, columns);
  if (annotations) facts.annotations = annotations;
}

/** Never truncated: it identifies the machine. */
function readMachineId(message: BObject, faults: MessageFaults): string | null | undefined {
  const value = message['machine-id'];
  if (value === undefined || value === null) return value;
  return readOrSkip(() => toText(value, 'the machine id', MAX_MACHINE_ID), faults) ?? undefined;
}

function readAnnotations(message: BObject, faults: MessageFaults): Record<string, string> | null {
  const given = message['annotations'];
  if (given === undefined || given === null) return null;
  if (!isDict(given)) {
    faults.skipped('annotations must be a dict');
    return null;
  }
  const entries = readItems(Object.entries(given), 'annotations', MAX_ANNOTATIONS, faults, {
    name: (entry) => describeItem('annotation', (entry as [string, BObject[string]])[0]),
    read: (entry, itemName): [string, string] => {
      const [key, value] = entry as [string, BObject[string]];
      const name = toText(key, 'the name of an annotation', MAX_NAME);
      const text = lenientText(value, MAX_ANNOTATION, { what: 'an annotation', faults, item: itemName });
      if (text === null) throw new MalformedMessage('an annotation must be text');
      // Agents read annotations from files, with the final newline.
      return [name, text.replace(/\n$/, '')];
    },
  });
  return entries.length === 0 && Object.keys(given).length > 0 ? null : Object.fromEntries(entries);
}

/** Fields that are not text are null. @throws {MalformedMessage} when nothing usable remains */
export function readDistribution(message: BObject, facts: Facts, faults: MessageFaults): void {
  const shown = (key: string) => lenientText(message[key], MAX_NAME, { what: key, faults });
  const release = shown('release');
  const info = {
    distributor: shown('distributor-id'),
    description: shown('description'),
    release,
    code_name: shown('code-name'),
  };
  faults.requireUsable(Object.values(info).some((value) => value !== null));
  facts.computer.distribution = release;
  facts.computer.distribution_info = info;
}

/** @throws {MalformedMessage} when all fields were omitted as invalid */
export function readCloudInstance(message: BObject, facts: Facts, faults: MessageFaults): void {
  const metadata: { [key: string]: Json } = {};
  for (const key of ['instance-id', 'instance-type', 'ami-id']) {
    const value = lenientText(message[key], MAX_NAME, { what: key, faults });
    if (value !== null) metadata[key] = value;
  }
  faults.requireUsable(Object.keys(metadata).length > 0);
  facts.computer.cloud_instance_metadata = metadata;
}

/** @throws {MalformedMessage} when the prompt is invalid */
export function readUpdateManager(message: BObject, facts: Facts, faults: MessageFaults): void {
  const prompt = lenientText(message['prompt'], 64, { what: 'prompt', faults });
  faults.requireUsable(prompt !== null);
  facts.computer.update_manager_prompt = prompt;
}

/** Reads `reboot-required-info`, which contains only changes. */
export function readRebootRequired(message: BObject, facts: Facts, faults: MessageFaults): void {
  const columns: ComputerReport = {};
  const flag = lenientBoolean(message['flag'], { what: 'flag', faults });
  if (flag !== null) columns.reboot_required = flag;
  const given = message['packages'];
  if (given !== undefined) {
    const packages = readItems(given, 'packages', 10_000, faults, {
      name: (item) => describeItem('package', item),
      read: (item, itemName) => {
        const name = lenientText(item, MAX_NAME, { what: 'the name of a package', faults, item: itemName });
        if (name === null) throw new MalformedMessage('the name of a package must be text');
        return name;
      },
    });
    const isEmpty = given === null || (Array.isArray(given) && given.length === 0);
    if (packages.length > 0 || isEmpty) columns.reboot_packages = packages.sort();
  }
  faults.requireUsable(Object.keys(columns).length > 0);
  Object.assign(facts.computer, columns);
}

/** Reads `computer-tags`, the tags configured on the machine itself. */
export function readTags(message: BObject, facts: Facts, faults: MessageFaults): void {
  const list = lenientText(message['tags'], MAX_TAG_LIST, { what: 'tags', faults });
  faults.requireUsable(list !== null);
  facts.tags = readTagList(list, faults);
}

const TAG = /^[\p{L}\p{N}_][\p{L}\p{M}\p{N}_-]*$/u;

/** Reads a comma-separated list without malformed tags and those beyond the limit. */
export function readTagList(list: string | null, faults: MessageFaults): string[] {
  const given = (list ?? '').split(',').map((tag) => tag.trim());
  const tags = [...new Set(given.filter((tag) => TAG.test(tag) && tag.length <= 255))].slice(0, MAX_TAGS);
  for (const tag of given) {
    if (tag !== '' && !tags.includes(tag))
      faults.skipped('a tag is malformed, or one too many', () => describeItem('tag', tag));
  }
  return tags;
}

/** Reads `snap-info`, the identity that the store gave the device. */
export function readSnapDevice(message: BObject, facts: Facts, faults: MessageFaults): void {
  const device: { [key: string]: Json } = {};
  for (const key of ['brand', 'model', 'serial']) {
    const value = lenientText(message[key], MAX_NAME, { what: key, faults });
    if (value !== null || message[key] === null) device[key] = value;
  }
  faults.requireUsable(Object.keys(device).length > 0);
  const earlier = facts.inventory.snap_device;
  facts.inventory.snap_device = { ...(isJsonObject(earlier) ? earlier : {}), ...device };
}

/** Null when the agent reports none. @throws {MalformedMessage} when no file is usable */
export function readAptPreferences(message: BObject, facts: Facts, faults: MessageFaults): void {
  const data = message['data'];
  if (data === undefined || data === null) {
    facts.inventory.apt_preferences = null;
    return;
  }
  if (!isDict(data)) throw new MalformedMessage('data must be a dict');
  const files = readItems(Object.entries(data), 'data', MAX_PREFERENCES, faults, {
    name: (entry) => describeItem('file', (entry as [string, BObject[string]])[0]),
    read: (entry, itemName): [string, Json] => {
      const [file, content] = entry as [string, BObject[string]];
      const name = toText(file, 'the name of a file', 4096);
      const place = { what: 'a file', faults, item: itemName };
      const isText = typeof content === 'string' || content instanceof Uint8Array;
      return [name, isText ? lenientText(content, MAX_PREFERENCE, place) : toJson(content)];
    },
  });
  faults.requireUsable(files.length > 0);
  facts.inventory.apt_preferences = Object.fromEntries(files);
}

/** Reads `package-reporter-result`; its time comes from the computer's clock. */
export function readPackageReport(message: BObject, facts: Facts, faults: MessageFaults): void {
  const given = message['code'];
  if (given === undefined || given === null) throw new MalformedMessage('a code is missing');
  const code = lenientInt(given, CODES, { what: 'code', faults });
  const err = lenientText(message['err'], 2 * MAX_REPORT_ERROR, { what: 'err', faults });
  faults.requireUsable(code !== null || err !== null);
  facts.inventory.package_report = {
    code,
    // Agents truncate it themselves and append a note, hence the higher limit above.
    err: shorten(err ?? '', MAX_REPORT_ERROR),
    report_timestamp: toNumberOrNull(message['report-timestamp']),
  };
}
