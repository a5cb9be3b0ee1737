import type { BObject } from '../../protocol/bpickle.ts';
import type { Facts } from './facts.ts';
import type { Notes } from './faults.ts';
import { toText } from './fields.ts';
import { isJsonObject, type Json, parseJson } from './json.ts';

/** Reads `cloud-init`. */
export function readCloudInit(message: BObject, facts: Facts, notes: Notes): void {
  const report = readToolReport(message, facts, notes);
  if (report === undefined) return;
  const output = isJsonObject(report) ? report['output'] : null;
  facts.computer.cloud_init = isJsonObject(output) ? output : {};
}

/** Reads `livepatch`. */
export function readHotPatch(message: BObject, facts: Facts, notes: Notes): void {
  const report = readToolReport(message, facts, notes);
  if (report !== undefined) facts.computer.hotpatch_info = objectOrNull(report);
}

/** Reads `ubuntu-pro-info`; an empty object means that the tool is absent. */
export function readProInfo(message: BObject, facts: Facts, notes: Notes): void {
  const report = readToolReport(message, facts, notes);
  if (report === undefined) return;
  facts.computer.distro_pro_info = isJsonObject(report) && Object.keys(report).length > 0 ? report : null;
}

/** Reads `ubuntu-pro-reboot-required`. */
export function readProReboot(message: BObject, facts: Facts, notes: Notes): void {
  const report = readToolReport(message, facts, notes);
  if (report !== undefined) facts.computer.distro_pro_reboot_required_info = objectOrNull(report);
}

/** Readers of these reports look for their keys. */
function objectOrNull(report: Json): Json {
  return isJsonObject(report) ? report : null;
}

/** Tools print JSON, mostly: what is none is kept as it is, beside the parsed facts. The field is named as the type. */
function readToolReport(message: BObject, facts: Facts, notes: Notes): Json | undefined {
  const text = toText(message[notes.type], notes.type);
  const value = parseJson(text);
  if (value === undefined) {
    facts.unparsed[notes.type] = text;
    notes.refused('it is no JSON');
  }
  return value;
}
