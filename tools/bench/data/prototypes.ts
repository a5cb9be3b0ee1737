import { enrol } from '../../../src/gateway/enrolment/enrolment.ts';
import { readRegistration } from '../../../src/gateway/enrolment/registration.ts';
import { PackageCatalogue } from '../../../src/gateway/facts/package-catalogue.ts';
import { readMessages } from '../../../src/gateway/facts/read-messages.ts';
import { type Reported, saveFacts } from '../../../src/gateway/facts/save-facts.ts';
import type { Database } from '../../../src/persistence/database/sql.ts';
import { loadConfig } from '../../../src/process/config.ts';
import { BFloat, type BObject, type BValue, decode, encode } from '../../../src/protocol/bpickle.ts';
import { factOf, factsInScopes } from '../../simulator/inventory/facts.ts';
import { Machine } from '../../simulator/inventory/machine.ts';
import { packageDelta, packageDescription, packageSets } from '../../simulator/inventory/package-sets.ts';
import { registrationOf } from '../../simulator/inventory/registration.ts';

/** A computer created by the gateway's own code, to be copied. */
export interface Prototype {
  id: number;
  /** Position in the simulated fleet; its role is at `index` modulo the pattern's length. */
  index: number;
  serial: string;
}

export interface PrototypeOptions {
  account: { id: number; name: string; registrationKey: string | null };
  seed: number;
  now: Date;
  count: number;
}

/** A first inventory and other facts that agents report once per process. */
const FACTS = [...factsInScopes(null), 'snaps', 'processor-info', 'cloud-instance-metadata'] as const;

/**
 * Enrols computers of the simulated fleet and saves their reports, by the gateway's code and without HTTP.
 * @param db - one transaction, so that ids depend on the order alone
 */
export async function makePrototypes(db: Database, options: PrototypeOptions): Promise<Prototype[]> {
  const { now } = options;
  const { activities: settings, scriptProfiles: limits, publicUrl } = loadConfig({}, 'stack');
  const runs = { settings, limits, publicUrl };
  const catalogue = new PackageCatalogue(db);
  const made: Prototype[] = [];
  const reports: Reported[] = [];
  for (let index = 0; index < options.count; index++) {
    const machine = new Machine({ seed: options.seed, index, epoch: Math.floor(now.getTime() / 1000) });
    const { blueprint } = machine;
    const registration = encodeAndDecode(
      registrationOf(blueprint, options.account.name, options.account.registrationKey),
    );
    const enrolment = await enrol({ db, runs }, readRegistration(registration), now, () => undefined);
    if (enrolment.kind !== 'enrolled') throw new Error(`the account takes no computers: ${enrolment.kind}`);
    const messages = FACTS.flatMap((type) => factOf(type, machine) ?? []);
    const packages = await packageMessages(machine, catalogue, options.account.id, now);
    const facts = readMessages([...messages, ...packages].map(encodeAndDecode), []);
    if (facts.rejected.length > 0) throw new Error(`rejected: ${JSON.stringify(facts.rejected[0])}`);
    reports.push({ context: { computerId: enrolment.computerId, now, encryptionKeys: [] }, facts });
    made.push({ id: enrolment.computerId, index, serial: blueprint.serial });
  }
  await saveFacts(db, reports);
  return made;
}

/** Stores the package descriptions and reports the sets by their new ids. */
async function packageMessages(
  machine: Machine,
  known: PackageCatalogue,
  accountId: number,
  now: Date,
): Promise<BObject[]> {
  const { catalogue } = machine.blueprint;
  if (!catalogue) return [];
  const description = { type: 'add-packages', 'request-id': 1, packages: catalogue.packages.map(packageDescription) };
  const ids: number[] = [];
  for (const request of readMessages([encodeAndDecode(description)], []).packageRequests) {
    ids.push(...(await known.findIds(request, accountId)).map((id) => id!));
  }
  const sets = packageSets(catalogue, { installed: machine.installed, held: machine.held, kernel: machine.kernel });
  const report = { type: 'package-reporter-result', code: 0, err: '', 'report-timestamp': new BFloat(+now / 1000) };
  return [report, packageDelta(null, sets, ids)!];
}

/** Encodes and decodes a message, as an exchange does. */
function encodeAndDecode(message: BValue): BObject {
  return decode(encode(message)) as BObject;
}
