import type { Json } from '../../domain/agents/facts.ts';
import type { BObject } from '../../protocol/bpickle.ts';
import type { Facts } from './facts.ts';
import type { MessageFaults } from './faults.ts';
import { toText } from './fields.ts';
import { isJsonObject, parseJson } from './json.ts';

/** Stores the `output` of the report, `{}` without it. Text that is not JSON is kept for inspection. */
export function readCloudInit(message: BObject, facts: Facts, faults: MessageFaults): void {
  const report = readToolReport(message, facts, faults);
  if (report === undefined) return;
  const output = isJsonObject(report) ? report['output'] : null;
  facts.computer.cloud_init = isJsonObject(output) ? output : {};
}

/** Stores the report, null unless it is an object. Text that is not JSON is kept for inspection. */
export function readHotPatch(message: BObject, facts: Facts, faults: MessageFaults): void {
  const report = readToolReport(message, facts, faults);
  if (report !== undefined) facts.computer.hotpatch_info = objectOrNull(report);
}

/** Reads `ubuntu-pro-info`; an empty object means that the tool is absent. */
export function readProInfo(message: BObject, facts: Facts, faults: MessageFaults): void {
  const report = readToolReport(message, facts, faults);
  if (report === undefined) return;
  facts.computer.distro_pro_info = isJsonObject(report) && Object.keys(report).length > 0 ? report : null;
}

/** As {@link readHotPatch}. */
export function readProReboot(message: BObject, facts: Facts, faults: MessageFaults): void {
  const report = readToolReport(message, facts, faults);
  if (report !== undefined) facts.computer.distro_pro_reboot_required_info = objectOrNull(report);
}

function objectOrNull(report: Json): Json {
  return isJsonObject(report) ? report : null;
}

function readToolReport(message: BObject, facts: Facts, faults: MessageFaults): Json | undefined {
  const text = toText(message[faults.type], faults.type);
  const value = parseJson(text);
  if (value === undefined) {
    facts.unparsed[faults.type] = text;
    faults.rejected('it is not JSON');
  }
  return value;
}
